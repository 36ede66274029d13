"""Takes apart what a stdio server writes, within bounds."""

import json
import re
from collections.abc import Iterator
from typing import Any

import msgspec

LONGEST_LINE = 16 * 1024 * 1024
MOST_VALUES = 200_000
_LONGEST_ODD_LINE = 1024 * 1024
_HEAD = 4096
_ID = re.compile(rb'"id"\s*:\s*(?:(-?\d{1,18})|"([^"\\]{1,200})")')
_SURROGATE = re.compile("[\ud800-\udfff]")


class NotAMessage(Exception):
    """A line that cannot be taken. `why` names the limit or the fault; `answers`: the id of the
    request that it seems to answer, None where it shows none.
    """

    def __init__(self, why: str, answers: int | str | None = None) -> None:
        super().__init__(why)
        self.why = why
        self.answers = answers


class Lines:
    """Cuts bytes into lines as they come; of one that is too long only the head is kept."""

    def __init__(self, longest: int = LONGEST_LINE) -> None:
        self._longest = longest
        self._open = bytearray()
        self._too_long = False

    def feed(self, data: bytes) -> Iterator[bytes | NotAMessage]:
        """The lines that are complete now."""
        *ended, rest = data.split(b"\n")
        for line in ended:
            self._take(line)
            yield self._closed()
        self._take(rest)

    def _take(self, piece: bytes) -> None:
        if self._too_long:
            return
        if len(self._open) + len(piece) > self._longest:
            self._open += piece[:_HEAD]
            del self._open[_HEAD:]
            self._too_long = True
        else:
            self._open += piece

    def _closed(self) -> bytes | NotAMessage:
        line, too_long = bytes(self._open), self._too_long
        self._open, self._too_long = bytearray(), False
        if too_long:
            return NotAMessage(f"a line of more than {self._longest} bytes", _answered_id(line))
        return line


def values_in(text: bytes) -> int:
    """At least as many values as the JSON text has, without reading it."""
    return text.count(b",") + text.count(b"[") + text.count(b"{")


def messages_of(line: bytes) -> list[Any]:
    """The JSON values of a line, several where it is a batch; none in a blank line.

    Raises NotAMessage. Lone surrogates become U+FFFD: no store or encoder takes them.
    """
    line = line.strip()
    if not line:
        return []
    if line[:1] not in b"{[":
        raise NotAMessage("a line that is no JSON")
    if values_in(line) > MOST_VALUES:
        raise NotAMessage(f"more than {MOST_VALUES} values in one answer", _answered_id(line))
    try:
        value = msgspec.json.decode(line)
    except RecursionError:
        raise NotAMessage("JSON that is nested too deep", _answered_id(line)) from None
    except (msgspec.DecodeError, UnicodeDecodeError):
        value = _odd(line)
    return value if isinstance(value, list) else [value]


def _odd(line: bytes) -> Any:
    """What Python's own reader takes and msgspec does not, surrogates above all."""
    if len(line) > _LONGEST_ODD_LINE:
        raise NotAMessage("a long line that is no JSON", _answered_id(line))
    try:
        return _without_surrogates(json.loads(line))
    except RecursionError:
        raise NotAMessage("JSON that is nested too deep", _answered_id(line)) from None
    except ValueError:
        raise NotAMessage("a line that is no JSON", _answered_id(line)) from None


def _without_surrogates(value: Any) -> Any:
    if isinstance(value, str):
        return _SURROGATE.sub("\ufffd", value)
    if isinstance(value, list):
        return [_without_surrogates(item) for item in value]
    if isinstance(value, dict):
        return {_without_surrogates(key): _without_surrogates(item) for key, item in value.items()}
    return value


def _answered_id(line: bytes) -> int | str | None:
    found = _ID.search(line[:_HEAD])
    if found is None:
        return None
    number, text = found.groups()
    return int(number) if number else text.decode(errors="replace")
