"""Runs kept jobs: RQ tracks them, runs them again after a death, gives up after the third."""

import asyncio
import logging
import sys
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import redis.asyncio
from redis.exceptions import RedisError
from rq.exceptions import NoSuchJobError
from rq.executions import Execution
from rq.job import Job, JobStatus
from rq.queue import Queue
from rq.worker.base import BaseWorker

from redshank_node.worker.outage import Outage
from redshank_shared.queue import keys
from redshank_shared.queue.connection import BLOCK_SECONDS, as_bytes
from redshank_shared.queue.keys import KeptFunction

logger = logging.getLogger(__name__)

_GRACE_SECONDS = 10.0

Handler = Callable[[str], Awaitable[None]]
Handlers = Mapping[KeptFunction, Handler]


class KeptJobs:
    """At most `most_at_once` kept jobs of a node at a time.

    A handler gets the row's id and must bear being called twice for it. RQ's bookkeeping runs in
    threads.
    """

    def __init__(
        self,
        worker: BaseWorker,
        blocking: redis.asyncio.Redis,
        queue: Queue,
        handlers: Handlers,
        most_at_once: int,
    ) -> None:
        self._worker = worker
        self._blocking = blocking
        self._queue = queue
        self._handlers: dict[str, Handler] = {
            keys.KEPT_FUNCTIONS[function]: handler for function, handler in handlers.items()
        }
        self._room = asyncio.Semaphore(most_at_once)
        self._running: set[asyncio.Task[None]] = set()

    async def run(self, stop: asyncio.Event) -> None:
        """Take and run until `stop` is set; then what runs has 10 s, and what is left is given
        back.
        """
        outage = Outage(f"taking from {self._queue.key}")
        async with asyncio.TaskGroup() as group:
            while not stop.is_set():
                try:
                    await self._take_one(group)
                    outage.over()
                except (RedisError, OSError) as error:
                    await outage.pause(error, stop)
                except Exception as error:  # noqa: BLE001 - the loop's edge: one job must not stop the others
                    logger.exception("a kept job could not be begun; it stays for the sweep")
                    await outage.pause(error, stop)
            if self._running:
                await asyncio.wait(self._running, timeout=_GRACE_SECONDS)
            for task in self._running:
                task.cancel()

    async def _take_one(self, group: asyncio.TaskGroup) -> None:
        await self._room.acquire()
        handed = False
        try:
            source = self._queue.key
            popped = await self._blocking.blmove(source, keys.taken_list(source), BLOCK_SECONDS)  # type: ignore[arg-type] # the stub says int; the server takes fractions
            if popped is None:
                return
            job_id = as_bytes(popped).decode(errors="replace")
            begun = await asyncio.to_thread(self._begin, job_id)
            if begun is not None:
                task = group.create_task(self._run(*begun))
                self._running.add(task)
                task.add_done_callback(self._ended)
                handed = True
        finally:
            if not handed:
                self._room.release()

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._running.discard(task)
        self._room.release()

    def _begin(self, job_id: str) -> tuple[Job, Execution] | None:
        """The job with its execution registered; None where there is nothing to run any more."""
        connection = self._queue.connection
        taken = keys.taken_list(self._queue.key)
        try:
            job = self._worker.job_class.fetch(job_id, connection, self._queue.serializer)
        except NoSuchJobError:
            connection.delete(keys.job_hash(job_id))
            connection.lrem(taken, 1, job_id)
            return None
        if job.get_status(refresh=False) == JobStatus.STARTED:
            connection.lrem(taken, 1, job_id)
            return None
        # Where a node died with it, RQ would look for what it left for a minute, in vain: it could
        # not record this run's end.
        connection.delete(job.execution_registry.key)
        execution = self._worker.prepare_execution(job)
        self._worker.prepare_job_execution(job, True)
        return job, execution

    async def _run(self, job: Job, execution: Execution) -> None:
        try:
            async with asyncio.timeout(job.timeout):
                await self._call(job)
        except asyncio.CancelledError:
            await self._record(self._give_back, job, execution)
            raise
        except Exception:  # noqa: BLE001 - the job's edge: RQ records whatever it raised, then runs it again
            failure = self._worker._finalize_failure
            await self._record(failure, job, self._queue, execution, sys.exc_info())
        else:
            await self._record(self._worker._finalize_success, job, self._queue, execution, None)

    async def _call(self, job: Job) -> None:
        handler = self._handlers.get(job.func_name or "")
        if handler is None:
            raise LookupError(f"this node has no handler for {job.func_name}")
        await handler(job.args[0])

    async def _record(self, bookkeeping: Callable[..., None], job: Job, *rest: Any) -> None:
        try:
            await asyncio.to_thread(bookkeeping, job, *rest)
        except (RedisError, OSError) as error:
            logger.warning(
                "the end of %s was not recorded (%s); its lease runs out and it is run again",
                job.id,
                error,
            )
        except Exception:  # noqa: BLE001 - the job's edge: RQ raises what it likes where another node took the job over
            logger.exception(
                "the end of %s was not recorded; where nobody else did, it is run again", job.id
            )

    def _give_back(self, job: Job, execution: Execution) -> None:
        """To the front of the queue, without counting as a death."""
        with self._queue.connection.pipeline() as pipeline:
            self._worker.cleanup_execution(job, pipeline, execution)
            job.set_status(JobStatus.QUEUED, pipeline)
            self._queue.push_job_id(job.id, pipeline, at_front=True)
            pipeline.execute()
