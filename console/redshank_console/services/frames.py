"""Puts events, notices, text in progress into the form of a server-sent event."""

from collections import OrderedDict

import msgspec

from redshank_console.services.event_pages import Encoded
from redshank_shared.queue.live import LiveDelta, LiveEvents

PING = b"event: ping\ndata: {}\n\n"
_KIND = b'"kind":"'
_MOST_KEPT = 64


def event_frame(seq: int, kind: bytes, data: bytes) -> bytes:
    """A durable event."""
    return b"id: %d\nevent: %s\ndata: %s\n\n" % (seq, kind, data)


def encoded_frame(event: Encoded) -> bytes:
    """An event as the log gave it."""
    return event_frame(event.seq, event.kind.encode(), event.data)


def notice_frame(data: bytes) -> bytes:
    """Something without a number, under the kind that its JSON names."""
    return b"event: %s\ndata: %s\n\n" % (kind_in(data), data)


def delta_frame(delta: LiveDelta) -> bytes:
    """A piece of text in progress."""
    return delta_frame_of(msgspec.json.encode(delta))


def delta_frame_of(data: bytes) -> bytes:
    """The same from the bytes in which it came."""
    return b'event: delta\ndata: {"kind":"delta",%s\n\n' % data[1:]


def kind_in(data: bytes) -> bytes:
    """The kind that an encoded event names, without decoding it: it stands before free text."""
    begin = data.find(_KIND) + len(_KIND)
    if begin < len(_KIND):
        return b"message"
    return data[begin : data.find(b'"', begin)]


class FrameShop:
    """Frames of live events, made once for all who watch in this process."""

    def __init__(self) -> None:
        self._kept: OrderedDict[int, tuple[LiveEvents, list[bytes]]] = OrderedDict()

    def frames(self, item: LiveEvents) -> list[bytes]:
        """One frame an event, in order."""
        kept = self._kept.get(id(item))
        if kept is not None and kept[0] is item:
            return kept[1]
        frames = [
            event_frame(seq, kind_in(data), data)
            for seq, data in enumerate(item.frames, item.first_seq)
        ]
        self._kept[id(item)] = (item, frames)
        if len(self._kept) > _MOST_KEPT:
            self._kept.popitem(last=False)
        return frames
