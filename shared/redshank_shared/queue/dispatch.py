"""Hands work over to the nodes through RQ: ids only; losing or doubling one is harmless."""

from datetime import UTC, datetime
from typing import Literal, cast

import msgspec
import redis.asyncio
from rq.job import Job, JobStatus, Retry
from rq.serializers import JSONSerializer

from redshank_shared.clock import now_utc
from redshank_shared.domain.ids import WorkstreamId
from redshank_shared.queue import keys
from redshank_shared.queue.connection import as_bytes, redis_errors_as_unavailable

DEDUPE_MS = 2000
NUDGE_TTL_SECONDS = 3600
KEPT_TIMEOUT_SECONDS = 180
# The first run and two more: a job that took its node along three times is a dead letter (F58).
KEPT_RETRIES = 2

HandOver = Literal["handed", "already", "dead"]

# KEYS: dedupe key, job hash, queue, set of queues. ARGV: forced, dedupe ms, ttl s, job id, fields
# of the hash. A hash that is still there with its id in the queue is a nudge that waits: one more
# would only pile up.
_NUDGE = """
if not redis.call('SET', KEYS[1], '1', 'NX', 'PX', ARGV[2]) and ARGV[1] == '0' then return 0 end
if redis.call('EXISTS', KEYS[2]) == 1 then
  if redis.call('LPOS', KEYS[3], ARGV[4]) then return 0 end
else
  redis.call('HSET', KEYS[2], unpack(ARGV, 5))
end
redis.call('EXPIRE', KEYS[2], ARGV[3])
redis.call('SADD', KEYS[4], KEYS[3])
redis.call('RPUSH', KEYS[3], ARGV[4])
return 1
"""

# KEYS: job hash, queue, set of queues, failed jobs. ARGV: forced, job id, fields of the hash.
_HAND_OVER = """
local status = redis.call('HGET', KEYS[1], 'status')
if status and ARGV[1] == '0' then
  if status == 'failed' then return 'dead' end
  if status == 'started' or redis.call('LPOS', KEYS[2], ARGV[2]) then return 'already' end
end
redis.call('DEL', KEYS[1])
redis.call('ZREM', KEYS[4], ARGV[2])
redis.call('LREM', KEYS[2], 1, ARGV[2])
redis.call('HSET', KEYS[1], unpack(ARGV, 3))
redis.call('SADD', KEYS[3], KEYS[2])
redis.call('RPUSH', KEYS[2], ARGV[2])
return 'handed'
"""


class QueueDepth(msgspec.Struct, frozen=True):
    """How many hand-overs wait in all queues, and for how long the oldest of them."""

    depth: int
    oldest_seconds: float


class Dispatch:
    """Where work is handed over. Every method raises Unavailable when Redis does not answer, and
    nothing else.

    A caller that has committed logs that and goes on: the reconciler hands over again what nobody
    took.
    """

    def __init__(self, client: redis.asyncio.Redis) -> None:
        self._redis = client
        self._nudge = client.register_script(_NUDGE)
        self._hand_over = client.register_script(_HAND_OVER)

    async def nudge(
        self, workstream_id: WorkstreamId, *, directed_to: str = "", force: bool = False
    ) -> bool:
        """Say that a workstream may have work; True if a nudge was added to the queue.

        Not added while one waits that was sent within the last 2 s: a node forgets that one before
        it claims, so what was committed before this call is seen by that claim. `force` (the
        reconciler) nudges in spite of that, but never beside one that still stands in the queue.
        `directed_to` names the node or label whose own queue gets it.
        """
        job_id = keys.nudge_job(workstream_id)
        queue = keys.turns_queue(directed_to)
        job = Job.create(
            keys.ADVANCE,
            args=[workstream_id],
            id=job_id,
            origin=queue,
            status=JobStatus.QUEUED,
            description=job_id,
            result_ttl=0,
            ttl=NUDGE_TTL_SECONDS,
            timeout=KEPT_TIMEOUT_SECONDS,
            connection=_never_asked(self._redis),
            serializer=JSONSerializer,
        )
        with redis_errors_as_unavailable():
            added = await self._nudge(
                keys=[
                    keys.nudged(workstream_id),
                    keys.job_hash(job_id),
                    keys.queue_list(queue),
                    keys.QUEUES,
                ],
                args=[int(force), DEDUPE_MS, NUDGE_TTL_SECONDS, job_id, *_fields(job)],
            )
        return bool(added)

    async def hand_over(
        self, function: keys.KeptFunction, subject_id: str, *, force: bool = False
    ) -> HandOver:
        """Hand a row over to a kept job: one that RQ tracks, runs again and gives up on after the
        third death.

        "already": it waits or runs. "dead": it was given up; `force` (an operator) hands it over
        anew.
        """
        job_id = keys.kept_job(function, subject_id)
        job = Job.create(
            keys.KEPT_FUNCTIONS[function],
            args=[subject_id],
            id=job_id,
            origin=keys.KEPT,
            status=JobStatus.QUEUED,
            description=job_id,
            result_ttl=0,
            timeout=KEPT_TIMEOUT_SECONDS,
            retry=Retry(max=KEPT_RETRIES),
            connection=_never_asked(self._redis),
            serializer=JSONSerializer,
        )
        with redis_errors_as_unavailable():
            answer = await self._hand_over(
                keys=[
                    keys.job_hash(job_id),
                    keys.queue_list(keys.KEPT),
                    keys.QUEUES,
                    keys.FAILED_KEPT,
                ],
                args=[int(force), job_id, *_fields(job)],
            )
        return cast(HandOver, answer.decode())

    async def depth(self) -> QueueDepth:
        """What waits in all queues together: a load figure, not read in one transaction."""
        with redis_errors_as_unavailable():
            names = [as_bytes(name).decode() for name in await self._redis.smembers(keys.QUEUES)]
            queues = [name for name in names if keys.is_ours(name)]
            async with self._redis.pipeline(transaction=False) as pipeline:
                pipeline.time()
                for queue in queues:
                    pipeline.llen(queue)
                    pipeline.lindex(queue, 0)
                (seconds, _), *answers = await pipeline.execute()
            first = [job_id.decode() for job_id in answers[1::2] if job_id is not None]
            async with self._redis.pipeline(transaction=False) as pipeline:
                for job_id in first:
                    pipeline.hget(keys.job_hash(job_id), "enqueued_at")
                stamps = await pipeline.execute() if first else []
        moments = [_moment(stamp) for stamp in stamps if stamp]
        oldest = max((seconds - moment for moment in moments), default=0.0)
        return QueueDepth(depth=sum(answers[0::2]), oldest_seconds=max(0.0, oldest))


def _never_asked(client: redis.asyncio.Redis) -> redis.Redis:
    """RQ wants a connection to make a job, but does not use it until it saves one."""
    return cast(redis.Redis, client)


def _fields(job: Job) -> list[str | bytes | int]:
    job.enqueued_at = now_utc()
    # RQ reads an empty field and a missing one alike.
    filled = [field for field in job.to_dict().items() if field[1] != ""]
    return [part for field in filled for part in field]


def _moment(stamp: bytes) -> float:
    return datetime.fromisoformat(stamp.decode()).replace(tzinfo=UTC).timestamp()
