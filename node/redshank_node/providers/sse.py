"""Splits the bytes of an event stream into its events."""

from typing import NamedTuple

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class Event(NamedTuple):
    """One event: its name ("" when the server gave none), its data lines joined by line feeds."""

    name: str
    data: bytes


class EventSplitter:
    """Takes bytes as they arrive, cut anywhere; gives each event once its blank line is there.

    Lines may end in LF, CRLF or CR. `held` is how many bytes wait for their event's end.
    """

    def __init__(self) -> None:
        self.held = 0
        self._pieces: list[bytes] = []
        self._begun = False

    def feed(self, piece: bytes) -> list[Event]:
        """The events that this piece completes, in order."""
        self._pieces.append(piece)
        self.held += len(piece)
        if b"\n" not in piece and b"\r" not in piece:
            return []
        return self._split(self._taken(), last=False)

    def close(self) -> list[Event]:
        """The event that the stream's end completes: servers forget the last blank line."""
        return self._split(self._taken() + b"\n\n", last=True)

    def _taken(self) -> bytes:
        """What is held, without the mark that may stand before the first line."""
        waiting = b"".join(self._pieces)
        self._pieces = []
        self.held = 0
        if not self._begun:
            self._begun = len(waiting) >= len(_BYTE_ORDER_MARK)
            waiting = waiting.removeprefix(_BYTE_ORDER_MARK)
        return waiting

    def _split(self, waiting: bytes, *, last: bool) -> list[Event]:
        carriage = b""
        if b"\r" in waiting:
            if waiting.endswith(b"\r") and not last:
                waiting, carriage = waiting[:-1], b"\r"
            waiting = waiting.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        blocks = waiting.split(b"\n\n")
        rest = blocks.pop() + carriage
        if rest:
            self._pieces.append(rest)
            self.held = len(rest)
        events = (_parsed(block) for block in blocks)
        return [event for event in events if event is not None]


def _parsed(block: bytes) -> Event | None:
    if block.startswith(b"data: ") and b"\n" not in block:
        return Event("", block[6:])
    name = ""
    data: list[bytes] = []
    for line in block.split(b"\n"):
        field, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if field == b"data":
            data.append(value)
        elif field == b"event":
            name = value.decode("utf-8", "replace")
        elif field == b"error":
            # Older llama.cpp servers send errors in a field of that name instead of an event.
            name = "error"
            data.append(value)
    return Event(name, b"\n".join(data)) if data else None
