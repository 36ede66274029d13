"""Shows the kept jobs that were given up."""

import asyncio

import msgspec
import redis
from rq.job import Job
from rq.registry import FailedJobRegistry
from rq.serializers import JSONSerializer

from redshank_shared.queue import keys
from redshank_shared.queue.connection import redis_errors_as_unavailable

_MOST_SHOWN = 1000


class DeadLetter(msgspec.Struct, frozen=True):
    """A job that is not run again by itself; `Dispatch.hand_over(…, force=True)` hands it over
    anew.
    """

    function: str
    subject_id: str
    reason: str


class DeadLetters:
    """Reads what RQ gave up, over a client for threads (`connect_threaded`)."""

    def __init__(self, client: redis.Redis) -> None:
        self._redis = client

    async def newest(self) -> list[DeadLetter]:
        """The jobs given up, newest first, 1,000 at most; raises Unavailable."""
        with redis_errors_as_unavailable():
            return await asyncio.to_thread(self._read)

    def _read(self) -> list[DeadLetter]:
        registry = FailedJobRegistry(keys.KEPT, connection=self._redis, serializer=JSONSerializer)
        job_ids = registry.get_job_ids(0, _MOST_SHOWN - 1, desc=True)
        jobs = Job.fetch_many(job_ids, connection=self._redis, serializer=JSONSerializer)
        return [_letter(job) for job in jobs if job is not None]


def _letter(job: Job) -> DeadLetter:
    function, _, subject_id = job.id.partition("-")
    result = job.latest_result()
    recorded = (result.exc_string if result else None) or "no reason was recorded"
    if "AbandonedJobError" in recorded:
        recorded = (
            "every node that ran it died or lost its lease while it ran; "
            "look at the logs of these nodes, mend the cause, then hand it over again"
        )
    return DeadLetter(function, subject_id, recorded)
