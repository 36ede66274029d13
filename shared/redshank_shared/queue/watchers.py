"""Spreads what one connection hears to all who watch workstreams in this process."""

import asyncio
import contextlib
from collections import deque
from collections.abc import AsyncIterator
from typing import Final, Literal

from redshank_shared.domain.ids import WorkstreamId
from redshank_shared.queue import keys, live
from redshank_shared.queue.live import LiveEvents, LiveItem, LiveNotice, LiveText
from redshank_shared.queue.subscription import Begun, Heard, Subscription

MOST_ITEMS = 256
MOST_BYTES = 2 * 1024 * 1024

Gap = Literal["gap"]
GAP: Final[Gap] = "gap"


class Watcher:
    """One who watches one workstream, with a bounded store of what it has not taken yet.

    One that is too slow, or whose connection was lost, finds GAP in place of what it missed: read
    the log again.
    """

    def __init__(self) -> None:
        self._waiting: deque[tuple[LiveItem | Gap, int]] = deque()
        self._bytes = 0
        self._filled = asyncio.Event()

    async def next(self) -> LiveItem | Gap:
        """The next item, as soon as there is one."""
        while not self._waiting:
            self._filled.clear()
            await self._filled.wait()
        item, size = self._waiting.popleft()
        self._bytes -= size
        return item

    def __len__(self) -> int:
        return len(self._waiting)

    def offer(self, item: LiveItem, size: int) -> None:
        """Store an item of `size` bytes, or a gap in place of everything when there is no room
        (F60).
        """
        if len(self._waiting) >= MOST_ITEMS or self._bytes + size > MOST_BYTES:
            self.gap()
            return
        self._waiting.append((item, size))
        self._bytes += size
        self._filled.set()

    def gap(self) -> None:
        """Forget what waits: something is missing."""
        self._waiting.clear()
        self._waiting.append((GAP, 0))
        self._bytes = 0
        self._filled.set()


class Watchers:
    """All watchers of a process, over one pub/sub connection. `run` must run for as long as anyone
    watches.
    """

    def __init__(self, url: str) -> None:
        self._subscription = Subscription(url, keys.QUIET)
        self._by_channel: dict[str, set[Watcher]] = {}

    @property
    def connected(self) -> bool:
        """Whether live items can come right now; without Redis, only the log tells."""
        return self._subscription.connected

    async def run(self) -> None:
        """Hear and spread, without an end; through every loss of Redis (F54)."""
        async for message in self._subscription.messages():
            match message:
                case Heard(channel, data):
                    self._spread(channel, data)
                case Begun():
                    for watchers in self._by_channel.values():
                        for watcher in watchers:
                            watcher.gap()

    @contextlib.asynccontextmanager
    async def watch(self, ws: WorkstreamId) -> AsyncIterator[Watcher]:
        """Watch a workstream. What is published after the block is entered is heard, or a GAP says
        that it was not.

        Enters within 2 s even when Redis is away; then a GAP comes with its return.
        """
        channel = keys.live(ws)
        watcher = Watcher()
        self._by_channel.setdefault(channel, set()).add(watcher)
        try:
            await self._subscription.add(channel)
            yield watcher
        finally:
            watchers = self._by_channel[channel]
            watchers.discard(watcher)
            if not watchers:
                del self._by_channel[channel]
            await self._subscription.drop(channel)

    def _spread(self, channel: str, data: bytes) -> None:
        watchers = self._by_channel.get(channel)
        if not watchers:
            return
        item: LiveEvents | LiveNotice | LiveText | None = live.decode(data)
        if item is None:
            return
        for watcher in watchers:
            watcher.offer(item, len(data))
