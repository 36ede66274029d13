"""Reads the frames of an event stream from the lines of its body."""

from collections.abc import Iterable, Iterator

import msgspec

from redshank_shared.domain.events import Recorded, decode


class Streamed(msgspec.Struct, frozen=True):
    """A piece of an answer or of a call's output in progress; `offset` in characters."""

    text: str = ""
    channel: str = "text"
    call_id: str = ""
    step: int = 0
    offset: int = 0


class Notice(msgspec.Struct, frozen=True):
    """A frame without a place in the log: `gap`, `ping`, `turn` or one of a newer console."""

    kind: str


Frame = Recorded | Streamed | Notice


def frames(lines: Iterable[str]) -> Iterator[Frame]:
    """The frames that these lines make, in order; a frame cut off at the end is dropped."""
    kind, number, data = "", "", []
    for line in lines:
        if line:
            name, _, value = line.partition(":")
            value = value.removeprefix(" ")
            if name == "event":
                kind = value
            elif name == "id":
                number = value
            elif name == "data":
                data.append(value)
            continue
        if kind or data:
            yield _frame(kind, number, "\n".join(data))
        kind, number, data = "", "", []


def recorded_from(data: bytes) -> Recorded:
    """The fact in its place that a stream's `data`, or an item of a page, holds."""
    place = msgspec.json.decode(data, type=_Place)
    return Recorded(place.seq, place.at, decode(place.kind, data.decode()))


def _frame(kind: str, number: str, data: str) -> Frame:
    if number:
        return recorded_from(data.encode())
    if kind == "delta":
        return msgspec.json.decode(data, type=Streamed)
    return Notice(kind)


class _Place(msgspec.Struct, frozen=True):
    seq: int
    at: str
    kind: str
