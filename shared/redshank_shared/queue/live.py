"""The form of what is said on a workstream's live channel.

A first byte tells durable events from the rest, so that nobody decodes JSON to route a message.
"""

import struct
from collections.abc import Sequence
from typing import Literal

import msgspec

_HEAD = struct.Struct(">cQI")
_EVENTS, _NOTICE, _TEXT = b"E", b"N", b"T"


class LiveDelta(msgspec.Struct, frozen=True):
    """A piece of text in progress: an answer's text or reasoning, or a call's output.

    `offset` counts the characters that came before it on the same channel, call and step.
    """

    channel: Literal["text", "reasoning", "output"]
    call_id: str
    step: int
    offset: int
    text: str


class TaskOutput(msgspec.Struct, frozen=True, tag_field="kind", tag="task.output"):
    """What a background command writes. `offset` counts the characters shown before it; `state` is
    the task's, another than in_progress with the last piece.
    """

    task_id: str
    state: str
    offset: int
    text: str


class LiveEvents(msgspec.Struct, frozen=True):
    """Durable events as their publisher encoded them; the last one has the number `version`."""

    version: int
    frames: tuple[bytes, ...]

    @property
    def first_seq(self) -> int:
        """The number of the first frame."""
        return self.version - len(self.frames) + 1


class LiveNotice(msgspec.Struct, frozen=True):
    """Something to show and forget, as its publisher encoded it."""

    frame: bytes


class LiveText(msgspec.Struct, frozen=True):
    """A delta, with the JSON bytes in which it came."""

    delta: LiveDelta
    data: bytes


LiveItem = LiveEvents | LiveNotice | LiveText

_delta_encoder = msgspec.json.Encoder()
_delta_decoder = msgspec.json.Decoder(LiveDelta)


def encode_events(version: int, frames: Sequence[bytes]) -> bytes:
    """Consecutive events that end at `version`."""
    count = len(frames)
    lengths = struct.pack(f">{count}I", *map(len, frames))
    return b"".join((_HEAD.pack(_EVENTS, version, count), lengths, *frames))


def encode_notice(frame: bytes) -> bytes:
    """An ephemeral frame."""
    return _NOTICE + frame


def encode_task_output(output: TaskOutput) -> bytes:
    """A background command's output as an ephemeral frame, its kind first."""
    return _delta_encoder.encode(output)


def encode_delta(delta: LiveDelta) -> bytes:
    """The delta's JSON, as kept for late watchers."""
    return _delta_encoder.encode(delta)


def encode_text(delta_json: bytes) -> bytes:
    """A delta for the channel, from its JSON."""
    return _TEXT + delta_json


def decode(message: bytes) -> LiveItem | None:
    """What `encode_…` made; None for a form that this version does not know or that is damaged."""
    tag = message[:1]
    try:
        if tag == _EVENTS:
            return _decode_events(message)
        if tag == _TEXT:
            return LiveText(_delta_decoder.decode(message[1:]), message[1:])
    except (struct.error, msgspec.DecodeError):
        return None
    return LiveNotice(message[1:]) if tag == _NOTICE else None


def _decode_events(message: bytes) -> LiveEvents:
    _, version, count = _HEAD.unpack_from(message)
    lengths = struct.unpack_from(f">{count}I", message, _HEAD.size)
    frames = []
    position = _HEAD.size + 4 * count
    for length in lengths:
        frames.append(message[position : position + length])
        position += length
    return LiveEvents(version, tuple(frames))


def joined(pieces: Sequence[bytes]) -> list[LiveDelta]:
    """Kept deltas as one piece for each channel, call and step, in the order they began."""
    begun: dict[tuple[str, str, int], tuple[int, list[str]]] = {}
    for piece in pieces:
        delta = _delta_decoder.decode(piece)
        key = (delta.channel, delta.call_id, delta.step)
        begun.setdefault(key, (delta.offset, []))[1].append(delta.text)
    return [
        LiveDelta(channel=channel, call_id=call_id, step=step, offset=offset, text="".join(texts))  # type: ignore[arg-type] # the key's str came from a LiveDelta
        for (channel, call_id, step), (offset, texts) in begun.items()
    ]


class ShownText:
    """What one watcher has been shown of the text in progress, so that kept text and live text do
    not overlap.
    """

    def __init__(self) -> None:
        self._shown: dict[tuple[str, str, int], int] = {}

    def fresh(self, delta: LiveDelta) -> LiveDelta | None:
        """The part of a delta that was not shown yet, None if all of it was. What it answers counts
        as shown.
        """
        key = (delta.channel, delta.call_id, delta.step)
        end = delta.offset + len(delta.text)
        shown = self._shown.get(key, 0)
        if end <= shown:
            return None
        self._shown[key] = end
        if shown <= delta.offset:
            return delta
        return msgspec.structs.replace(delta, offset=shown, text=delta.text[shown - delta.offset :])

    def forget(self) -> None:
        """A step has ended: its text is in the log now."""
        self._shown.clear()
