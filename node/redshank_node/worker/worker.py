"""A node as RQ sees it: a worker that takes jobs in the node's own event loop."""

import asyncio
import contextlib
import os
import socket
from collections.abc import Sequence

import msgspec
from redis.exceptions import RedisError
from rq.job import Job
from rq.serializers import JSONSerializer
from rq.timeouts import TimerDeathPenalty
from rq.worker.base import BaseWorker, WorkerStatus

from redshank_node.worker.checked_job import CheckedJob
from redshank_node.worker.kept import Handlers, KeptJobs
from redshank_node.worker.nudges import Advance, NudgeTaker, Slots
from redshank_node.worker.outage import Outage
from redshank_node.worker.sweep import Sweep
from redshank_shared.queue import keys
from redshank_shared.queue.connection import connect, connect_blocking, connect_threaded
from redshank_shared.waiting import happened

_CONNECTION_TIMEOUT_SECONDS = 1


class Pace(msgspec.Struct, frozen=True):
    """How often a worker reports and clears up. `lease_seconds` (whole ones, for RQ) is how long a
    kept job is its node's without a beat.
    """

    lease_seconds: int = 15
    beat_seconds: float = 5.0
    sweep_seconds: float = 2.0
    registered_seconds: int = 60
    kept_at_once: int = 16


_USUAL_PACE = Pace()


class NodeWorker(BaseWorker):
    """Serves the shared queue of nudges and those of the names in `directed` (the node's own, its
    labels).

    Constructing it connects to nothing. `name` is one process start's own and never used again.
    """

    death_penalty_class = TimerDeathPenalty

    def __init__(
        self,
        name: str,
        url: str,
        *,
        directed: Sequence[str],
        slots: Slots,
        advance: Advance,
        kept: Handlers,
        pace: Pace = _USUAL_PACE,
    ) -> None:
        self.pace = pace
        self._url = url
        self._turn_queues = [
            *(keys.turns_queue(name) for name in directed),
            keys.turns_queue(),
        ]
        super().__init__(
            [*self._turn_queues, keys.KEPT],
            name=name,
            connection=connect_threaded(url),
            job_class=CheckedJob,
            serializer=JSONSerializer,
            worker_ttl=self.pace.registered_seconds,
            log_job_description=False,
            prepare_for_work=False,
        )
        self.hostname = socket.gethostname()
        self.pid = os.getpid()
        self._slots = slots
        self._advance = advance
        self._kept = kept

    async def run(self, stop: asyncio.Event) -> None:
        """Take work until `stop` is set, then no more, and return once kept jobs have ended or are
        given back.

        A Redis that is away is waited for; work goes on within 2 s after it is back.
        """
        client = connect(self._url)
        blocking = connect_blocking(self._url)
        kept_queue = self.queues[-1]
        nudges = NudgeTaker(client, blocking, self._turn_queues, self._slots, self._advance)
        kept = KeptJobs(self, blocking, kept_queue, self._kept, self.pace.kept_at_once)
        sweep = Sweep(client, kept_queue, self.queues, self.pace.sweep_seconds)
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(self._report(stop))
                group.create_task(sweep.run(stop))
                group.create_task(nudges.run(stop))
                if self._kept:
                    group.create_task(kept.run(stop))
        finally:
            await self._leave()
            await blocking.aclose()
            await client.aclose()

    @property
    def connection_timeout(self) -> int:
        """Seconds that RQ wants a socket to wait at least: no command here blocks, so none need
        wait long.
        """
        return _CONNECTION_TIMEOUT_SECONDS

    def get_heartbeat_ttl(self, job: Job, working_time: float = 0.0) -> int:
        """Seconds that a kept job stays this node's without another beat."""
        return self.pace.lease_seconds

    def procline(self, message: str) -> None:
        """The process is a whole node: its title does not change with a job."""

    async def _report(self, stop: asyncio.Event) -> None:
        outage = Outage("reporting to RQ")
        while not stop.is_set():
            try:
                await asyncio.to_thread(self._beat)
                outage.over()
            except (RedisError, OSError) as error:
                await outage.pause(error, stop)
            else:
                await happened(stop, self.pace.beat_seconds)

    def _beat(self) -> None:
        if not self.connection.hexists(self.key, "birth"):
            self._register()
        executions = list(self.executions.values())
        started_jobs = self.queues[-1].started_job_registry
        with self.connection.pipeline() as pipeline:
            self.heartbeat(self.pace.registered_seconds, pipeline)
            self.set_state(WorkerStatus.BUSY if executions else WorkerStatus.IDLE, pipeline)
            for execution in executions:
                execution.heartbeat(started_jobs, self.pace.lease_seconds, pipeline)
            pipeline.execute()

    def _register(self) -> None:
        """The counts of a kept job that ends make the key too: that is no other worker of this
        name, so what is not registered now is by the next beat.
        """
        self.connection.delete(self.key)
        with contextlib.suppress(ValueError):
            self.register_birth()  # type: ignore[no-untyped-call] # RQ types only in part

    async def _leave(self) -> None:
        try:
            await asyncio.to_thread(self.register_death)
        except (RedisError, OSError):
            self.log.info(
                "worker %s: Redis is away, its registration runs out by itself", self.name
            )
        finally:
            self.connection.close()
