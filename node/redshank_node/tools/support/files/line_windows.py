"""Takes a window of numbered lines out of an open text file, however large it is (T-22)."""

import io
import threading
from collections.abc import Iterable, Iterator
from typing import BinaryIO

import msgspec

from redshank_node.tools.support import truncate
from redshank_node.tools.support.files import textfiles

_BLOCK_BYTES = 1 << 20
_LINE_CHARACTERS = 16384
_LINE_BYTES = 4 * _LINE_CHARACTERS
_GOES_ON = " [... the line goes on ...]"
_NOTICE_BYTES = 200
# In these encodings a line ends with the one byte of a line feed, so that lines can be counted
# without decoding them.
_COUNTED = ("utf-8", "latin-1")


class PastTheEnd(Exception):
    """The window begins behind the last line. `lines`: how many there are."""

    def __init__(self, lines: int) -> None:
        super().__init__(lines)
        self.lines = lines


class Window(msgspec.Struct, frozen=True):
    """Numbered lines; `following` is the number of the next one, 0 where there is none; `full`
    says that no more had room.
    """

    lines: list[str]
    following: int = 0
    full: bool = False


def window(
    file: BinaryIO,
    encoding: textfiles.Encoding,
    offset: int,
    limit: int | None,
    max_bytes: int,
    stop: threading.Event,
) -> Window:
    """The lines from `offset` (counted from 1) on as `number<TAB>text`, within `max_bytes` less
    the room for a notice. Raises PastTheEnd. Ends early when `stop` is set.
    """
    file.seek(len(encoding.bom))
    if encoding.codec in _COUNTED:
        if offset > 1:
            _skip(file, offset - 1, stop)
        lines = _counted_lines(file, encoding.codec, stop)
        return _taken(lines, offset, offset, limit, max_bytes)
    text = io.TextIOWrapper(file, encoding.codec, errors="replace", newline="\n")
    try:
        return _taken(_lines(text, stop), 1, offset, limit, max_bytes)
    finally:
        text.detach()


def numbered(lines: Iterable[str], first: int = 1) -> Iterator[str]:
    """Each line behind its number and a tab."""
    return (f"{number:>6}\t{_shown(line)}" for number, line in enumerate(lines, first))


def _skip(file: BinaryIO, lines: int, stop: threading.Event) -> None:
    """Go behind so many line ends."""
    begin, left, last = file.tell(), lines, b"\n"
    while (block := file.read(_BLOCK_BYTES)) and not stop.is_set():
        count = block.count(b"\n")
        if count >= left:
            begin += _behind(block, left)
            file.seek(begin)
            if not file.read(1):
                raise PastTheEnd(lines)
            file.seek(begin)
            return
        left, begin, last = left - count, begin + len(block), block[-1:]
    raise PastTheEnd(lines - left + (last != b"\n"))


def _behind(block: bytes, line_ends: int) -> int:
    """The place behind the line end of this number, found by halves."""
    low, high = 0, len(block)
    while high - low > 1:
        middle = (low + high) // 2
        count = block.count(b"\n", low, middle)
        if count >= line_ends:
            high = middle
        else:
            low, line_ends = middle, line_ends - count
    return high


def _counted_lines(file: BinaryIO, codec: str, stop: threading.Event) -> Iterator[str]:
    """Each line without its end; of a very long one only the beginning, with a mark."""
    errors = "surrogateescape" if codec == "utf-8" else "strict"
    while (data := file.readline(_LINE_BYTES)) and not stop.is_set():
        ends = data.endswith(b"\n")
        goes_on = not ends and _pass_over_line(file, stop)
        line = (data[:-1].removesuffix(b"\r") if ends else data).decode(codec, errors)
        goes_on = goes_on or len(line) > _LINE_CHARACTERS
        yield _shown(line[:_LINE_CHARACTERS]) + (_GOES_ON if goes_on else "")


def _pass_over_line(file: BinaryIO, stop: threading.Event) -> bool:
    """Go behind the end of the line; whether anything stood before it."""
    begin = file.tell()
    at = begin
    while (block := file.read(_BLOCK_BYTES)) and not stop.is_set():
        end = block.find(b"\n")
        if end >= 0:
            file.seek(at + end + 1)
            return at + end > begin
        at += len(block)
    return at > begin


def _lines(text: io.TextIOWrapper, stop: threading.Event) -> Iterator[str]:
    """The same of an encoding in which bytes do not show where a line ends."""
    while line := text.readline(_LINE_CHARACTERS):
        if stop.is_set():
            return
        if line.endswith("\n"):
            yield _shown(line[:-1].removesuffix("\r"))
            continue
        rest = text.readline(_LINE_CHARACTERS)
        mark = _GOES_ON if rest not in ("", "\n") else ""
        while rest and not rest.endswith("\n") and not stop.is_set():
            rest = text.readline(_LINE_CHARACTERS)
        yield _shown(line) + mark


def _shown(line: str) -> str:
    """Bytes that are no UTF-8 are shown as the Latin-1 that they must be (F33)."""
    line = line.replace("\x00", "\ufffd")
    try:
        line.encode()
    except UnicodeEncodeError:
        return line.encode(errors="surrogateescape").decode("latin-1")
    return line


def _taken(
    lines: Iterator[str], first: int, offset: int, limit: int | None, max_bytes: int
) -> Window:
    room = max(max_bytes - _NOTICE_BYTES, 0)
    shown: list[str] = []
    number = first - 1
    for number, line in enumerate(lines, first):
        if number < offset:
            continue
        if limit is not None and len(shown) >= limit:
            return Window(shown, number)
        entry = f"{number:>6}\t{line}"
        room -= len(entry.encode()) + 1
        if room < 0 and shown:
            return Window(shown, number, full=True)
        shown.append(truncate.head_of(entry, max_bytes) if room < 0 else entry)
    if not shown:
        raise PastTheEnd(number)
    return Window(shown)
