"""Keeps what a command writes stream by stream, as bytes, beside the text for watchers."""

from redshank_node.tools.support.commands.output import GatheredOutput, Stream

MOST_KEPT_BYTES = 8 * 1024 * 1024


class SeparateStreams(GatheredOutput):
    """The beginning of each stream, at most 8 MiB, with how long it was in all (C-14)."""

    def __init__(self, max_bytes: int) -> None:
        super().__init__(max_bytes)
        self._kept_bytes: dict[Stream, bytearray] = {"stdout": bytearray(), "stderr": bytearray()}
        self._lengths: dict[Stream, int] = {"stdout": 0, "stderr": 0}

    def feed(self, stream: Stream, data: bytes, *, last: bool = False) -> str:
        """Take bytes in; the text that is now complete, as watchers should see it."""
        self._lengths[stream] += len(data)
        kept = self._kept_bytes[stream]
        kept += data[: MOST_KEPT_BYTES - len(kept)]
        return super().feed(stream, data, last=last)

    def length(self, stream: Stream) -> int:
        """How many bytes came."""
        return self._lengths[stream]

    def kept(self, stream: Stream) -> bytes:
        """The first bytes that came."""
        return bytes(self._kept_bytes[stream])
