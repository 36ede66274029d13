"""Sends a feed of events as text/event-stream."""

import asyncio
import logging
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Protocol

from fastapi import Response
from starlette.types import Receive, Scope, Send

from redshank_console.api.door import principal_of
from redshank_console.services.gauges import Gauges
from redshank_console.services.standing import Standing, Watched
from redshank_shared.domain.errors import Unavailable

logger = logging.getLogger(__name__)

# The last word of a stream whose watcher may no longer what they might when it began (F72).
ENDED = (
    b'event: end\ndata: {"kind":"end","code":"access_changed","detail":"your token, your role or '
    b'your session was changed or revoked; sign in again"}\n\n'
)


class Feed(Protocol):
    """Frames for one watcher."""

    def frames(self) -> AsyncGenerator[bytes]:
        """Whole frames, until `end` or the console's stop."""
        ...

    def end(self) -> None:
        """Let `frames` come to its end soon."""
        ...

    async def close(self) -> None:
        """Let go of what the feed holds."""
        ...


class EventStream(Response):
    """Goes on until the watcher leaves, loses a right, or the console stops. The feed is closed in
    any case.
    """

    media_type = "text/event-stream"

    def __init__(self, feed: Feed, gauges: Gauges, standing: Standing) -> None:
        super().__init__(headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"})
        del self.headers["content-length"]
        self._feed = feed
        self._gauges = gauges
        self._standing = standing

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send what the feed says as soon as it says it."""
        self._gauges.stream_opened()
        try:
            with self._standing.watched(principal_of(scope), self._feed.end) as watched:
                async with asyncio.TaskGroup() as group:
                    leaving = group.create_task(self._until_left(receive))
                    await self._tell(send, watched)
                    leaving.cancel()
        finally:
            self._gauges.stream_closed()
            await self._feed.close()

    async def _tell(self, send: Send, watched: Watched) -> None:
        await send(
            {"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers}
        )
        try:
            async with aclosing(self._feed.frames()) as frames:
                async for chunk in frames:
                    await send({"type": "http.response.body", "body": chunk, "more_body": True})
        except Unavailable as error:
            # The watcher comes back with its last number and is told the rest.
            logger.warning("a stream was ended: %s", error.detail)
        last = ENDED if watched.lost else b""
        await send({"type": "http.response.body", "body": last, "more_body": False})

    async def _until_left(self, receive: Receive) -> None:
        while (await receive())["type"] != "http.disconnect":
            pass
        self._feed.end()
