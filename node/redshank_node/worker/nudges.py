"""Takes nudges from the queues while there is room for turns."""

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import Protocol

import redis.asyncio
from redis.exceptions import RedisError

from redshank_node.worker.jobs import checked_call
from redshank_node.worker.outage import Outage
from redshank_node.worker.stranded import StrandedNudges
from redshank_shared.domain.errors import Invalid
from redshank_shared.domain.ids import WorkstreamId
from redshank_shared.queue import keys
from redshank_shared.queue.connection import BLOCK_SECONDS, as_bytes

logger = logging.getLogger(__name__)

_WAIT_FOR_ROOM_SECONDS = 1.0

Advance = Callable[[WorkstreamId], Awaitable[None]]

# One step, so that a nudge sent meanwhile either comes before it (and the claim that follows sees
# its events) or after it (and finds no dedupe key). Under load the next nudge comes with the
# answer. KEYS: job hash, dedupe key, taken list, queue. ARGV: job id, whether there is room for one
# more.
_TAKE = """
local data = redis.call('HGET', KEYS[1], 'data')
redis.call('DEL', KEYS[1], KEYS[2])
redis.call('LREM', KEYS[3], 1, ARGV[1])
if ARGV[2] == '0' then return {data, false} end
return {data, redis.call('LMOVE', KEYS[4], KEYS[3], 'LEFT', 'RIGHT')}
"""


class Slots(Protocol):
    """Who holds the node's turns. A slot is taken when a turn starts and free again when it has
    ended.
    """

    def free(self) -> int:
        """How many more turns may start now."""
        ...

    async def wait_free(self) -> None:
        """Returns once a turn may start."""
        ...


class NudgeTaker:
    """Pops nudges only while a slot is free; each ends at its hand-over to `advance`.

    `advance` claims the workstream, starts its turn elsewhere and returns soon, in milliseconds.
    While it runs, one free slot counts as taken.
    """

    def __init__(
        self,
        client: redis.asyncio.Redis,
        blocking: redis.asyncio.Redis,
        queues: Sequence[str],
        slots: Slots,
        advance: Advance,
    ) -> None:
        self._redis = client
        self._blocking = blocking
        self._queues = [keys.queue_list(queue) for queue in queues]
        self._slots = slots
        self._advance = advance
        self._take = client.register_script(_TAKE)
        self._stranded = StrandedNudges(client)
        self._in_hand = 0
        self._hand_freed = asyncio.Event()

    async def run(self, stop: asyncio.Event) -> None:
        """Take until `stop` is set, then return within the block of 1 s; through every loss of
        Redis.
        """
        async with asyncio.TaskGroup() as group:
            for queue in self._queues:
                group.create_task(self._serve(queue, stop, group))

    async def _serve(self, queue: str, stop: asyncio.Event, group: asyncio.TaskGroup) -> None:
        outage = Outage(f"taking from {queue}")
        while not stop.is_set():
            try:
                await self._stranded.rescue(queue)
                outage.over()
                popped: bytes | None = None
                while popped is not None or not stop.is_set():
                    popped = await self._take_one(queue, popped, stop, group)
            except (RedisError, OSError) as error:
                await outage.pause(error, stop)
                # When one way to Redis is half open, those that stand idle are so too: each would
                # cost its own wait for an answer (F53).
                await self._redis.connection_pool.disconnect(inuse_connections=False)

    async def _take_one(
        self, queue: str, popped: bytes | None, stop: asyncio.Event, group: asyncio.TaskGroup
    ) -> bytes | None:
        """Take what was popped, or pop first; the id that was popped in the same step, if any."""
        if popped is None:
            popped = await self._pop(queue)
        if popped is None:
            return None
        job_id = popped.decode(errors="replace")
        # Another queue's loop may have taken the last slot while this one waited.
        if stop.is_set() or not self._has_room():
            await self._give_back(queue, job_id)
            return None
        self._in_hand += 1
        workstream_id = None
        try:
            workstream_id, popped = await self._taken(queue, job_id)
        finally:
            if workstream_id is None:
                self._put_down()
        if workstream_id is not None:
            group.create_task(self._hand_over(workstream_id))
        return popped

    async def _pop(self, queue: str) -> bytes | None:
        if not self._has_room():
            await self._wait_for_room()
            return None
        popped = await self._blocking.blmove(queue, keys.taken_list(queue), BLOCK_SECONDS)  # type: ignore[arg-type] # the stub says int; the server takes fractions
        return None if popped is None else as_bytes(popped)

    async def _taken(self, queue: str, job_id: str) -> tuple[WorkstreamId | None, bytes | None]:
        named = WorkstreamId(job_id.removeprefix(keys.nudge_job(WorkstreamId(""))))
        taken = keys.taken_list(queue)
        data, popped = await self._take(
            keys=[keys.job_hash(job_id), keys.nudged(named), taken, queue],
            args=[job_id, int(self._has_room())],
        )
        if data is None:
            return None, popped
        try:
            call = checked_call(data)
            if (call.function, call.subject_id) != ("advance", named):
                raise Invalid("a nudge asks for something else than its id says", field="function")
        except Invalid as refusal:
            logger.error("job %.80r refused and dropped: %s", job_id, refusal.detail)
            return None, popped
        return named, popped

    async def _hand_over(self, workstream_id: WorkstreamId) -> None:
        try:
            await self._advance(workstream_id)
        except Exception:  # noqa: BLE001 - the loop's edge: one workstream must not stop the others
            logger.exception("%s was not taken up; the reconciler nudges again", workstream_id)
        finally:
            self._put_down()

    def _put_down(self) -> None:
        self._in_hand -= 1
        self._hand_freed.set()

    async def _give_back(self, queue: str, job_id: str) -> None:
        async with self._redis.pipeline(transaction=True) as pipeline:
            pipeline.lrem(keys.taken_list(queue), 1, job_id)
            pipeline.lpush(queue, job_id)
            await pipeline.execute()

    def _has_room(self) -> bool:
        return self._slots.free() > self._in_hand

    async def _wait_for_room(self) -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_WAIT_FOR_ROOM_SECONDS):
                if self._in_hand:
                    self._hand_freed.clear()
                    await self._hand_freed.wait()
                else:
                    await self._slots.wait_free()
