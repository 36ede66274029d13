"""Gathers what a process writes into one bounded text, line by line."""

import codecs
from typing import Literal

from redshank_node.tools.support.truncate import HeadAndTail

Stream = Literal["stdout", "stderr"]

_PREFIX: dict[Stream, str] = {"stdout": "", "stderr": "[stderr] "}
_LONG_LINE_CHARACTERS = 8192


class GatheredOutput:
    """Both streams of a process in the order they came, stderr's lines prefixed (T-21, F15, F43).

    Bytes that are no UTF-8 and NUL become U+FFFD; a character that is split over two pieces stays
    whole; a line is taken over when it ends, or in parts where it grows long.
    """

    def __init__(self, max_bytes: int) -> None:
        decoder = codecs.getincrementaldecoder("utf-8")
        self._decoders = {stream: decoder(errors="replace") for stream in _PREFIX}
        self._unfinished: dict[Stream, str] = dict.fromkeys(_PREFIX, "")
        self._within_line: Stream | None = None
        self._kept = HeadAndTail(max_bytes)
        self._max_bytes = max_bytes

    def feed(self, stream: Stream, data: bytes, *, last: bool = False) -> str:
        """Take bytes in; the text that is now complete, as watchers should see it.

        `last` ends the stream.
        """
        text = self._unfinished[stream] + self._decoders[stream].decode(data, last)
        end = text.rfind("\n") + 1
        if last or len(text) - end > _LONG_LINE_CHARACTERS:
            end = len(text)
        complete, self._unfinished[stream] = text[:end], text[end:]
        return self._take(stream, complete.replace("\x00", "\ufffd")) if complete else ""

    @property
    def total_bytes(self) -> int:
        """How much has come, kept or not."""
        return self._kept.total_bytes

    def overflows(self) -> bool:
        """Whether more has come than is kept."""
        return self._kept.total_bytes > self._max_bytes

    def text(self, reserve_bytes: int = 0) -> tuple[str, bool]:
        """All that came within `max_bytes` less the reserve, head and tail kept.

        Whether something was left out.
        """
        return self._kept.text(reserve_bytes)

    def _take(self, stream: Stream, text: str) -> str:
        prefix = _PREFIX[stream]
        if prefix:
            body = text[:-1].replace("\n", "\n" + prefix) + text[-1]
            text = body if self._within_line == stream else prefix + body
        if self._within_line not in (None, stream):
            text = "\n" + text
        self._within_line = None if text.endswith("\n") else stream
        self._kept.add(text)
        return text
