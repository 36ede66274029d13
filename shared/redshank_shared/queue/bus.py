"""Announces what was committed to whoever watches."""

from collections.abc import Sequence

import msgspec
import redis.asyncio

from redshank_shared.domain.ids import WorkstreamId
from redshank_shared.queue import keys, live
from redshank_shared.queue.connection import as_bytes, redis_errors_as_unavailable
from redshank_shared.queue.live import LiveDelta

PARTIAL_SECONDS = 600
PARTIAL_PIECES = 4096


class Appended(msgspec.Struct, frozen=True):
    """A workstream's log has grown to `version`. `by`: the node that wrote it, empty where a person
    or console did.

    `scheduled`: something may be due earlier than before; `mcp`: no log has grown, but what people
    say of MCP servers is another.
    """

    ws: WorkstreamId
    version: int
    by: str
    scheduled: bool = False
    mcp: bool = False


_encoder = msgspec.json.Encoder()


class Bus:
    """The publishing side. Every method raises Unavailable when Redis does not answer, and nothing
    else.

    What is lost on the bus is lost to the eye only: watchers read the log again after a gap.
    """

    def __init__(self, client: redis.asyncio.Redis) -> None:
        self._redis = client

    async def publish_events(
        self,
        ws: WorkstreamId,
        version: int,
        frames: Sequence[bytes],
        by: str,
        *,
        calls_still_run: bool = False,
        scheduled: bool = False,
    ) -> None:
        """Announce events that were committed; the last has the number `version`, a frame each.

        Where a node wrote them (`by`), its step is in the log now, so the kept text in progress
        goes, unless other calls of the step still add to it.
        """
        async with self._redis.pipeline(transaction=False) as pipeline:
            pipeline.publish(keys.live(ws), live.encode_events(version, frames))
            pipeline.publish(keys.APPENDED, _encoder.encode(Appended(ws, version, by, scheduled)))
            if by and not calls_still_run:
                pipeline.delete(keys.partial(ws))
            with redis_errors_as_unavailable():
                await pipeline.execute()

    async def publish_due(self, ws: WorkstreamId) -> None:
        """Announce that something of this workstream may be due earlier than before, though its log
        did not grow.
        """
        with redis_errors_as_unavailable():
            await self._redis.publish(keys.APPENDED, _encoder.encode(Appended(ws, 0, "", True)))

    async def publish_mcp(self) -> None:
        """Announce that an MCP server was added, removed, ordered to refresh or reconnect."""
        said = Appended(WorkstreamId(""), 0, "", mcp=True)
        with redis_errors_as_unavailable():
            await self._redis.publish(keys.APPENDED, _encoder.encode(said))

    async def publish_delta(self, ws: WorkstreamId, delta: LiveDelta) -> None:
        """Show a piece of text in progress, and keep it for who comes to watch later.

        The last 4,096 pieces of a step are kept, at most 10 minutes after the latest.
        """
        data = live.encode_delta(delta)
        kept = keys.partial(ws)
        async with self._redis.pipeline(transaction=False) as pipeline:
            pipeline.rpush(kept, data)
            pipeline.ltrim(kept, -PARTIAL_PIECES, -1)
            pipeline.expire(kept, PARTIAL_SECONDS)
            pipeline.publish(keys.live(ws), live.encode_text(data))
            with redis_errors_as_unavailable():
                await pipeline.execute()

    async def publish_notice(self, ws: WorkstreamId, frame: bytes) -> None:
        """Show an ephemeral frame to who watches now."""
        with redis_errors_as_unavailable():
            await self._redis.publish(keys.live(ws), live.encode_notice(frame))

    async def partial(self, ws: WorkstreamId) -> list[LiveDelta]:
        """The text so far of the step in progress, one piece for each channel, call and step.

        To miss nothing: watch first, read the log, read this, then take from the watcher;
        `ShownText` drops what came both ways.
        """
        with redis_errors_as_unavailable():
            pieces = await self._redis.lrange(keys.partial(ws), 0, -1)
        return live.joined([as_bytes(piece) for piece in pieces])
