"""Follows one workstream for one watcher: the log first, then what happens, without a gap."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack

from redshank_console.services.event_pages import PAGE_EVENTS, Encoded, EventPages
from redshank_console.services.frames import (
    PING,
    FrameShop,
    delta_frame,
    delta_frame_of,
    encoded_frame,
    notice_frame,
)
from redshank_console.services.text_in_progress import TextInProgress
from redshank_shared.domain.errors import Unavailable
from redshank_shared.domain.ids import WorkstreamId
from redshank_shared.queue.bus import Bus
from redshank_shared.queue.live import LiveEvents, LiveItem, LiveNotice, LiveText
from redshank_shared.queue.watchers import GAP, Gap, Watcher, Watchers

PING_SECONDS = 15.0
WITHOUT_REDIS_SECONDS = 2.0
_ANSWER = b"\nevent: message.assistant\n"


class EventFeeds:
    """All feeds of this process. A feed holds neither a thread nor a database connection (F31)."""

    def __init__(self, pages: EventPages, watchers: Watchers, bus: Bus) -> None:
        self._pages = pages
        self._watchers = watchers
        self._bus = bus
        self._shop = FrameShop()
        self._open: set[Watcher] = set()
        self._closing = False

    async def open(self, workstream_id: WorkstreamId, after: int, field: str) -> "EventFeed":
        """A feed of all events with seq > `after`; NotFound, Invalid (`field`) for a bad cursor."""
        stack = AsyncExitStack()
        try:
            watcher = await stack.enter_async_context(self._watchers.watch(workstream_id))
            page = await self._pages.checked_after(workstream_id, after, field)
        except BaseException:
            await stack.aclose()
            raise
        self._open.add(watcher)
        stack.callback(self._open.discard, watcher)
        return EventFeed(self, workstream_id, watcher, after, page, stack)

    def close(self) -> None:
        """End every feed now, and those that open from now on."""
        self._closing = True
        for watcher in self._open:
            watcher.gap()

    @property
    def closing(self) -> bool:
        """Whether feeds end."""
        return self._closing

    @property
    def shop(self) -> FrameShop:
        """Where live events become frames."""
        return self._shop

    @property
    def patience_seconds(self) -> float:
        """How long silence is believed: while Redis is away, the log is asked again and again."""
        return PING_SECONDS if self._watchers.connected else WITHOUT_REDIS_SECONDS

    async def read(self, workstream_id: WorkstreamId, after: int) -> list[Encoded]:
        """The next page of the log."""
        return await self._pages.after(workstream_id, after)

    async def text_so_far(self, workstream_id: WorkstreamId) -> list[LiveText]:
        """The text of the step in progress; nothing while Redis does not answer."""
        try:
            deltas = await self._bus.partial(workstream_id)
        except Unavailable:
            return []
        return [LiveText(delta, b"") for delta in deltas]


class EventFeed:
    """One watcher's view: every durable event once, in order, whatever is lost on the way (F38)."""

    def __init__(  # noqa: PLR0913 - what `open` has prepared, handed over once
        self,
        feeds: EventFeeds,
        workstream_id: WorkstreamId,
        watcher: Watcher,
        after: int,
        page: list[Encoded],
        stack: AsyncExitStack,
    ) -> None:
        self._feeds = feeds
        self._workstream_id = workstream_id
        self._watcher = watcher
        self._last = after
        self._page = page
        self._stack = stack
        self._text = TextInProgress()
        self._ended = False

    def end(self) -> None:
        """Let `frames` come to its end soon."""
        self._ended = True
        self._watcher.gap()

    async def close(self) -> None:
        """Stop watching."""
        await self._stack.aclose()

    async def frames(self) -> AsyncGenerator[bytes]:
        """Bytes to send, each one or more whole frames, until the feeds close."""
        if self._page:
            yield self._told(self._page)
        async for chunk in self._caught_up(len(self._page) == PAGE_EVENTS):
            yield chunk
        self._page = []
        while not self._over:
            items = await self._next_items()
            if self._over:
                return
            if not items:
                yield PING
            async for chunk in self._answers(items):
                yield chunk

    @property
    def _over(self) -> bool:
        return self._ended or self._feeds.closing

    async def _next_items(self) -> list[LiveItem | Gap]:
        """What has come, at least one item; nothing after a silence."""
        try:
            async with asyncio.timeout(self._feeds.patience_seconds):
                items = [await self._watcher.next()]
        except TimeoutError:
            return []
        while len(self._watcher):
            items.append(await self._watcher.next())
        return items

    async def _answers(self, items: list[LiveItem | Gap]) -> AsyncGenerator[bytes]:
        # After a silence too: whoever appended may have died before it could announce.
        if not items or GAP in items:
            async for chunk in self._caught_up(True):
                yield chunk
        ready: list[bytes] = []
        for item in items:
            if isinstance(item, LiveEvents) and item.first_seq > self._last + 1:
                if ready:
                    yield b"".join(ready)
                    ready = []
                async for chunk in self._caught_up(True):
                    yield chunk
            ready.extend(self._frames_of(item))
        if ready:
            yield b"".join(ready)

    async def _caught_up(self, log_too: bool) -> AsyncGenerator[bytes]:
        """Everything of the log that was not told yet, then the text in progress."""
        while log_too and not self._over:
            page = await self._feeds.read(self._workstream_id, self._last)
            if page:
                yield self._told(page)
            log_too = len(page) == PAGE_EVENTS
        ready: list[bytes] = []
        for item in await self._feeds.text_so_far(self._workstream_id):
            ready.extend(self._frames_of(item))
        if ready:
            yield b"".join(ready)

    def _told(self, page: list[Encoded]) -> bytes:
        self._last = page[-1].seq
        for event in page:
            if event.kind == "message.assistant":
                self._text.answered(event.seq)
        return b"".join(map(encoded_frame, page))

    def _frames_of(self, item: LiveItem | Gap) -> list[bytes]:
        match item:
            case LiveEvents():
                return self._events(item)
            case LiveText():
                return self._piece(item)
            case LiveNotice():
                return [notice_frame(item.frame)]
            case _:
                return []

    def _events(self, item: LiveEvents) -> list[bytes]:
        known = self._last - item.first_seq + 1
        if item.version <= self._last or known < 0:
            return []
        frames = self._feeds.shop.frames(item)[known:]
        for seq, frame in enumerate(frames, self._last + 1):
            if _ANSWER in frame[:64]:
                self._text.answered(seq)
        self._last = item.version
        return frames

    def _piece(self, item: LiveText) -> list[bytes]:
        fresh = self._text.fresh(item.delta)
        if fresh is None:
            return []
        if fresh is item.delta and item.data:
            return [delta_frame_of(item.data)]
        return [delta_frame(fresh)]
