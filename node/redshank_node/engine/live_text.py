"""Shows text in progress to watchers, a few times a second at most."""

import asyncio
import logging
from typing import Literal

from redshank_shared.domain.errors import Unavailable
from redshank_shared.domain.ids import WorkstreamId
from redshank_shared.queue.bus import Bus
from redshank_shared.queue.live import LiveDelta

logger = logging.getLogger(__name__)

# What comes within this time of the first unshown piece goes out with it, or never, when its step
# has ended by then.
_GATHER_SECONDS = 0.04

Channel = Literal["text", "reasoning", "output"]


class LiveText:
    """The text of a turn's step in progress. To be shown and forgotten: the log holds it all."""

    def __init__(self, bus: Bus, workstream_id: WorkstreamId) -> None:
        self._bus = bus
        self._workstream_id = workstream_id
        self._step = 0
        self._shown: dict[tuple[Channel, str], int] = {}
        self._unshown: dict[tuple[Channel, str], list[str]] = {}
        self._came = asyncio.Event()

    def begin(self, step: int) -> None:
        """A step begins behind this sequence number: what was in progress before it is over."""
        self._step = step
        self._shown.clear()
        self._unshown.clear()

    def end(self) -> None:
        """The step has ended: what was not shown is in the log in a moment."""
        self._unshown.clear()

    def add(self, channel: Channel, text: str, call_id: str = "") -> None:
        """A piece came. Returns at once; `run` shows it."""
        if text:
            self._unshown.setdefault((channel, call_id), []).append(text)
            self._came.set()

    async def run(self) -> None:
        """Show what comes, until cancelled."""
        while True:
            await self._came.wait()
            await asyncio.sleep(_GATHER_SECONDS)
            self._came.clear()
            await self._show()

    async def _show(self) -> None:
        unshown, self._unshown = self._unshown, {}
        for (channel, call_id), pieces in unshown.items():
            text = "".join(pieces)
            offset = self._shown.get((channel, call_id), 0)
            self._shown[channel, call_id] = offset + len(text)
            delta = LiveDelta(channel, call_id, self._step, offset, text)
            try:
                await self._bus.publish_delta(self._workstream_id, delta)
            except Unavailable as error:
                logger.debug("text in progress was not shown: %s", error.detail)
