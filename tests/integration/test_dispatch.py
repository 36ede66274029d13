"""Handing work over through a real Valkey."""

import asyncio
import time
from datetime import UTC, datetime, timedelta

import pytest
import redis.asyncio
from rq.job import Job, JobStatus
from rq.queue import Queue
from rq.serializers import JSONSerializer
from rq.utils import utcformat

from redshank_shared.domain.errors import Misconfigured, Unavailable
from redshank_shared.domain.ids import WorkstreamId
from redshank_shared.queue import keys
from redshank_shared.queue.connection import connect, refuse_eviction
from redshank_shared.queue.dispatch import DEDUPE_MS, Dispatch
from tests.bench.figures import figure
from tests.fakes.valkey import Valkey

WS = WorkstreamId("ws_0000000000000000000000")
OTHER = WorkstreamId("ws_0000000000000000000001")
RUN = "run_0000000000000000000000"


@pytest.fixture
def dispatch(redis_client: redis.asyncio.Redis) -> Dispatch:
    return Dispatch(redis_client)


async def test_a_nudge_is_a_job_that_rq_itself_can_read(dispatch: Dispatch, valkey: Valkey) -> None:
    assert await dispatch.nudge(WS)
    with valkey.client() as client:
        queue = Queue(keys.TURNS, connection=client, serializer=JSONSerializer)
        (job,) = queue.jobs
        assert Queue.all(connection=client) == [queue]
        assert job == Job.fetch(f"advance-{WS}", connection=client, serializer=JSONSerializer)
        assert job.get_status() == JobStatus.QUEUED
        assert (job.func_name, job.args, job.kwargs) == (
            "redshank_node.worker.jobs.advance",
            [WS],
            {},
        )
        assert job.result_ttl == 0
        assert job.origin == "turns"


async def test_a_second_nudge_within_two_seconds_is_not_added(
    dispatch: Dispatch, redis_client: redis.asyncio.Redis
) -> None:
    assert await dispatch.nudge(WS)
    assert not await dispatch.nudge(WS)
    assert await dispatch.nudge(OTHER)
    assert await redis_client.llen("rq:queue:turns") == 2
    assert 0 < await redis_client.pttl(f"redshank:nudged:{WS}") <= DEDUPE_MS == 2000


async def test_a_nudge_is_added_again_once_a_node_has_taken_the_first(
    dispatch: Dispatch, redis_client: redis.asyncio.Redis
) -> None:
    await dispatch.nudge(WS)
    await redis_client.lpop("rq:queue:turns")
    await redis_client.delete(keys.nudged(WS), keys.job_hash(keys.nudge_job(WS)))
    assert await dispatch.nudge(WS)
    assert await redis_client.llen("rq:queue:turns") == 1


async def test_a_nudge_that_waits_longer_than_the_window_is_not_joined_by_another(
    dispatch: Dispatch, redis_client: redis.asyncio.Redis
) -> None:
    await dispatch.nudge(WS)
    await redis_client.delete(keys.nudged(WS))
    assert not await dispatch.nudge(WS)
    assert await redis_client.llen("rq:queue:turns") == 1


async def test_a_forced_nudge_repairs_but_never_piles_up(
    dispatch: Dispatch, redis_client: redis.asyncio.Redis
) -> None:
    await dispatch.nudge(WS)
    for _ in range(20):
        assert not await dispatch.nudge(WS, force=True)
    assert await redis_client.llen("rq:queue:turns") == 1
    await redis_client.lpop("rq:queue:turns")
    assert await dispatch.nudge(WS, force=True)
    assert await redis_client.llen("rq:queue:turns") == 1


async def test_a_directed_nudge_goes_to_the_queue_of_its_node(
    dispatch: Dispatch, redis_client: redis.asyncio.Redis
) -> None:
    await dispatch.nudge(WS, directed_to="gpu")
    assert await redis_client.lrange("rq:queue:turns.gpu", 0, -1) == [f"advance-{WS}".encode()]
    assert await redis_client.llen("rq:queue:turns") == 0


@pytest.mark.fault("F54")
async def test_nudges_work_after_redis_forgot_everything_even_its_scripts(
    dispatch: Dispatch, redis_client: redis.asyncio.Redis
) -> None:
    await dispatch.nudge(WS)
    await redis_client.flushall()
    await redis_client.script_flush()
    assert await dispatch.nudge(WS)
    assert await redis_client.llen("rq:queue:turns") == 1


async def test_the_depth_counts_all_our_queues_and_the_age_of_the_oldest_hand_over(
    dispatch: Dispatch, redis_client: redis.asyncio.Redis
) -> None:
    assert (await dispatch.depth()).depth == 0
    await dispatch.nudge(WS)
    await dispatch.nudge(OTHER, directed_to="gpu")
    await dispatch.hand_over("fire", RUN)
    await redis_client.sadd("rq:queues", "rq:queue:foreign")
    await redis_client.rpush("rq:queue:foreign", "job")
    a_minute_ago = utcformat(datetime.now(UTC) - timedelta(seconds=60))  # noqa: TID251 - the test's own clock
    await redis_client.hset(keys.job_hash(keys.nudge_job(OTHER)), "enqueued_at", a_minute_ago)
    measured = await dispatch.depth()
    assert measured.depth == 3
    assert 59 < measured.oldest_seconds < 65


async def test_a_row_handed_over_twice_waits_once(
    dispatch: Dispatch, redis_client: redis.asyncio.Redis, valkey: Valkey
) -> None:
    assert await dispatch.hand_over("fire", RUN) == "handed"
    assert await dispatch.hand_over("fire", RUN) == "already"
    assert await dispatch.hand_over("deliver", RUN) == "handed"
    assert await redis_client.lrange("rq:queue:jobs", 0, -1) == [
        f"fire-{RUN}".encode(),
        f"deliver-{RUN}".encode(),
    ]
    with valkey.client() as client:
        job = Job.fetch(f"fire-{RUN}", connection=client, serializer=JSONSerializer)
    assert (job.func_name, job.args) == ("redshank_node.worker.jobs.fire", [RUN])
    assert job.retries_left == 2


async def test_a_row_whose_job_vanished_from_the_queue_is_handed_over_again(
    dispatch: Dispatch, redis_client: redis.asyncio.Redis
) -> None:
    await dispatch.hand_over("fire", RUN)
    await redis_client.delete("rq:queue:jobs")
    assert await dispatch.hand_over("fire", RUN) == "handed"


@pytest.mark.fault("F54")
async def test_a_redis_that_is_gone_raises_within_two_seconds_and_says_the_mend(
    own_valkey: Valkey,
) -> None:
    client = connect(own_valkey.url)
    dispatch = Dispatch(client)
    await dispatch.nudge(WS)
    own_valkey.kill()
    begun = time.monotonic()
    with pytest.raises(Unavailable, match="start it or mend redis.url"):
        await dispatch.nudge(OTHER)
    figure("a Redis that is gone is told", time.monotonic() - begun, 2, "s")
    own_valkey.start()
    assert await dispatch.nudge(OTHER)
    await client.aclose()


@pytest.mark.fault("F53")
async def test_a_redis_that_hangs_raises_within_two_seconds(own_valkey: Valkey) -> None:
    client = connect(own_valkey.url)
    dispatch = Dispatch(client)
    await dispatch.nudge(WS)
    own_valkey.freeze()
    begun = time.monotonic()
    with pytest.raises(Unavailable):
        await dispatch.nudge(OTHER)
    figure("a Redis that hangs is told", time.monotonic() - begun, 2, "s")
    own_valkey.thaw()
    await client.aclose()


async def test_more_calls_at_once_than_connections_all_get_their_turn(
    dispatch: Dispatch, redis_client: redis.asyncio.Redis
) -> None:
    ids = [WorkstreamId(f"ws_{number:022d}") for number in range(300)]
    added = await asyncio.gather(*(dispatch.nudge(ws) for ws in ids))
    assert all(added)
    assert await redis_client.llen("rq:queue:turns") == 300


@pytest.mark.fault("F55")
@pytest.mark.parametrize("policy", ["allkeys-lru", "volatile-ttl"])
async def test_an_evicting_redis_is_refused_with_the_mend(own_valkey: Valkey, policy: str) -> None:
    client = connect(own_valkey.url)
    await refuse_eviction(client)
    await client.config_set("maxmemory-policy", policy)
    with pytest.raises(Misconfigured, match=f"{policy}.*set `maxmemory-policy noeviction`"):
        await refuse_eviction(client)
    await client.aclose()
