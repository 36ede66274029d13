"""Follows the cluster for one watcher: everything first, then what changes."""

from collections.abc import AsyncGenerator
from contextlib import aclosing

from redshank_console.collector.follower import GAP, Follower
from redshank_console.services.frames import PING
from redshank_console.services.overview import Overview

OVERVIEW_SECONDS = 1.0
PING_SECONDS = 15.0


class ClusterFeeds:
    """All feeds of this process, which end with it."""

    def __init__(self, overview: Overview) -> None:
        self._overview = overview
        self._open: set[Follower] = set()
        self._closing = False

    def close(self) -> None:
        """End every feed now, and those that open from now on."""
        self._closing = True
        for follower in self._open:
            follower.gap()

    def open(self) -> "ClusterFeed":
        """A feed; iterate its frames, then close it."""
        return ClusterFeed(self, self._overview)

    @property
    def closing(self) -> bool:
        """Whether feeds end."""
        return self._closing

    def opened(self, follower: Follower) -> None:
        """A feed listens."""
        self._open.add(follower)

    def closed(self, follower: Follower) -> None:
        """A feed has gone."""
        self._open.discard(follower)


class ClusterFeed:
    """`snapshot`, then `node.joined`, `node.changed`, `node.lost`, `node.left` with the whole node,
    `overview` with the whole overview at most once a second. `snapshot` again after a gap.
    """

    def __init__(self, feeds: ClusterFeeds, overview: Overview) -> None:
        self._feeds = feeds
        self._overview = overview
        self._follower: Follower | None = None
        self._ended = False

    def end(self) -> None:
        """Let `frames` come to its end soon."""
        self._ended = True
        if self._follower is not None:
            self._follower.gap()

    async def close(self) -> None:
        """Nothing is held but while `frames` goes on."""
        self._ended = True

    async def frames(self) -> AsyncGenerator[bytes]:
        """Bytes to send, each one or more whole frames, until the feeds close."""
        with self._overview.census.follow() as follower:
            self._follower = follower
            self._feeds.opened(follower)
            try:
                async with aclosing(self._told(follower)) as told:
                    async for ready in told:
                        yield ready
            finally:
                self._feeds.closed(follower)

    async def _told(self, follower: Follower) -> AsyncGenerator[bytes]:
        yield _frame("snapshot", await self._overview.snapshot())
        told = await self._overview_json()
        silent_seconds = 0.0
        while not self._over:
            taken = await follower.take(OVERVIEW_SECONDS)
            if self._over:
                return
            ready = [_frame(each.kind, each.data) for each in taken if each != GAP]
            if GAP in taken:
                ready = [_frame("snapshot", await self._overview.snapshot())]
            overview = await self._overview_json()
            if overview != told:
                told = overview
                ready.append(_frame("overview", overview))
            silent_seconds = 0.0 if ready else silent_seconds + OVERVIEW_SECONDS
            if silent_seconds >= PING_SECONDS:
                silent_seconds = 0.0
                ready.append(PING)
            if ready:
                yield b"".join(ready)

    @property
    def _over(self) -> bool:
        return self._ended or self._feeds.closing

    async def _overview_json(self) -> bytes:
        return (await self._overview.figures()).model_dump_json().encode()


def _frame(kind: str, data: bytes) -> bytes:
    return b"event: %s\ndata: %s\n\n" % (kind.encode(), data)
