"""Clears up after nodes that died, on one node at a time."""

import asyncio
import logging
from collections.abc import Sequence

import redis.asyncio
from redis.exceptions import RedisError
from rq import worker_registration
from rq.queue import Queue

from redshank_node.worker.outage import Outage
from redshank_node.worker.stranded import StrandedNudges
from redshank_shared.queue import keys
from redshank_shared.queue.connection import as_bytes
from redshank_shared.waiting import happened

logger = logging.getLogger(__name__)


class Sweep:
    """Every `interval_seconds`: nudges that strand between queue and node go back; kept jobs whose
    lease ran out are run again or given up; dead workers leave RQ's registries.

    RQ's own maintenance does this every 10 minutes under a lock of 15, which a dead node would
    keep.
    """

    def __init__(
        self,
        client: redis.asyncio.Redis,
        kept_queue: Queue,
        queues: Sequence[Queue],
        interval_seconds: float,
    ) -> None:
        self._redis = client
        self._stranded = StrandedNudges(client)
        self._kept_queue = kept_queue
        self._queues = queues
        self._interval_seconds = interval_seconds
        self._seen_before: set[str] = set()

    async def run(self, stop: asyncio.Event) -> None:
        """Sweep until `stop` is set; through every loss of Redis."""
        outage = Outage("the sweep")
        while not stop.is_set():
            try:
                await self._sweep()
                outage.over()
                await happened(stop, self._interval_seconds)
            except (RedisError, OSError) as error:
                await outage.pause(error, stop)
            except Exception:  # noqa: BLE001 - the loop's edge: what RQ cannot clear up must not end the node
                logger.exception("this sweep was not finished; the next one tries again")
                await happened(stop, self._interval_seconds)

    async def _sweep(self) -> None:
        lock_ms = int(self._interval_seconds * 750)
        if not await self._redis.set(keys.SWEEP_LOCK, "1", nx=True, px=lock_ms):
            return
        for name in await self._redis.smembers(keys.QUEUES):
            queue_list_key = as_bytes(name).decode()
            if keys.is_for_turns(queue_list_key):
                moved = await self._stranded.rescue(queue_list_key)
                if moved:
                    logger.info("%d stranded nudges went back to %s", moved, queue_list_key)
        await asyncio.to_thread(self._sweep_kept)

    def _sweep_kept(self) -> None:
        self._kept_queue.started_job_registry.cleanup()
        self._put_back_stranded_jobs()
        for queue in self._queues:
            worker_registration.clean_worker_registry(queue)

    def _put_back_stranded_jobs(self) -> None:
        """A living node begins what it popped in milliseconds: what two sweeps see is stranded."""
        connection = self._kept_queue.connection
        taken = keys.taken_list(self._kept_queue.key)
        seen = {
            as_bytes(job_id).decode(errors="replace") for job_id in connection.lrange(taken, 0, -1)
        }
        for job_id in seen & self._seen_before:
            with connection.pipeline() as pipeline:
                pipeline.lrem(taken, 1, job_id)
                pipeline.lpush(self._kept_queue.key, job_id)
                pipeline.execute()
        self._seen_before = seen - self._seen_before
