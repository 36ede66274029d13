"""A node's worker against a real Valkey."""

import asyncio
import collections
import contextlib
import json
import os
import pickle
import sys
import time
import zlib
from collections.abc import AsyncIterator, Callable, Mapping

import pytest
import redis.asyncio
from rq.job import Job, JobStatus
from rq.serializers import JSONSerializer
from rq.worker import Worker

from redshank_node.worker.kept import Handler
from redshank_node.worker.worker import NodeWorker, Pace
from redshank_shared.domain.ids import WorkstreamId
from redshank_shared.queue import keys
from redshank_shared.queue.connection import connect, connect_threaded
from redshank_shared.queue.dead_letters import DeadLetters
from redshank_shared.queue.dispatch import Dispatch
from tests.bench.figures import figure
from tests.fakes.stalling_proxy import StallingProxy
from tests.fakes.valkey import Valkey

WS = WorkstreamId("ws_0000000000000000000000")
OTHER = WorkstreamId("ws_0000000000000000000001")
RUN = "run_0000000000000000000000"
SECONDS = 30.0
QUICK = Pace(lease_seconds=2, beat_seconds=0.3, sweep_seconds=0.3)
# Kept alive by many beats within a lease, though the machine is busy.
STEADY = Pace(lease_seconds=6, beat_seconds=0.2, sweep_seconds=0.3)


class Turns:
    """A holder of turns: counts slots, keeps what it advanced until the test ends it."""

    def __init__(self, slots: int = 100, *, keep: bool = False) -> None:
        self.advanced: list[WorkstreamId] = []
        self.told = asyncio.Condition()
        self._free = slots
        self._keep = keep
        self._freed = asyncio.Event()
        self.most_at_once = 0
        self._running = 0

    def free(self) -> int:
        return self._free

    async def wait_free(self) -> None:
        while self._free <= 0:
            self._freed.clear()
            await self._freed.wait()

    async def advance(self, workstream_id: WorkstreamId) -> None:
        # Given up once before the slot is taken, as a claim in the database does.
        await asyncio.sleep(0)
        self.advanced.append(workstream_id)
        if self._keep:
            self._free -= 1
            self._running += 1
            self.most_at_once = max(self.most_at_once, self._running)
        async with self.told:
            self.told.notify_all()

    def end_one(self) -> None:
        self._free += 1
        self._running -= 1
        self._freed.set()

    async def wait_for(self, count: int) -> None:
        async with asyncio.timeout(SECONDS), self.told:
            await self.told.wait_for(lambda: len(self.advanced) >= count)


@contextlib.asynccontextmanager
async def node(
    url: str,
    turns: Turns,
    *,
    name: str = "node-1",
    directed: tuple[str, ...] = (),
    kept: Mapping[keys.KeptFunction, Handler] | None = None,
    pace: Pace = QUICK,
) -> AsyncIterator[NodeWorker]:
    worker = NodeWorker(
        name,
        url,
        directed=directed,
        slots=turns,
        advance=turns.advance,
        kept=kept or {},
        pace=pace,
    )
    stop = asyncio.Event()
    async with asyncio.TaskGroup() as group:
        group.create_task(worker.run(stop))
        try:
            yield worker
        finally:
            stop.set()


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(SECONDS):
        while not condition():
            await asyncio.sleep(0.01)


@pytest.fixture
def dispatch(redis_client: redis.asyncio.Redis) -> Dispatch:
    return Dispatch(redis_client)


async def test_a_nudge_reaches_a_node_and_leaves_nothing_behind(
    dispatch: Dispatch, valkey: Valkey, redis_client: redis.asyncio.Redis
) -> None:
    turns = Turns()
    async with node(valkey.url, turns):
        await dispatch.nudge(WS)
        await turns.wait_for(1)
        assert turns.advanced == [WS]
        assert not await redis_client.exists(
            keys.nudged(WS),
            keys.job_hash(keys.nudge_job(WS)),
            "rq:queue:turns",
            "rq:queue:turns:intermediate",
        )


async def test_a_node_takes_from_its_own_queue_and_the_shared_one_but_no_others(
    dispatch: Dispatch, valkey: Valkey, redis_client: redis.asyncio.Redis
) -> None:
    turns = Turns()
    async with node(valkey.url, turns, directed=("node-1", "gpu")):
        await dispatch.nudge(WS, directed_to="another")
        await dispatch.nudge(OTHER, directed_to="gpu")
        await turns.wait_for(1)
        third = WorkstreamId("ws_0000000000000000000002")
        await dispatch.nudge(third)
        await turns.wait_for(2)
        assert turns.advanced == [OTHER, third]
        assert await redis_client.llen("rq:queue:turns.another") == 1


async def test_a_nudge_waits_in_the_queue_while_no_slot_is_free(
    dispatch: Dispatch, valkey: Valkey, redis_client: redis.asyncio.Redis
) -> None:
    turns = Turns(slots=2, keep=True)
    async with node(valkey.url, turns, directed=("node-1",)):
        for number in range(10):
            directed_to = "node-1" if number % 2 else ""
            await dispatch.nudge(WorkstreamId(f"ws_{number:022d}"), directed_to=directed_to)
        for ended in range(8):
            await turns.wait_for(ended + 2)
            turns.end_one()
        await turns.wait_for(10)
        assert turns.most_at_once == 2
        assert sorted(turns.advanced) == [f"ws_{number:022d}" for number in range(10)]


async def test_deduping_never_loses_an_append(dispatch: Dispatch, valkey: Valkey) -> None:
    appended: collections.Counter[WorkstreamId] = collections.Counter()
    claimed: collections.Counter[WorkstreamId] = collections.Counter()
    seen = asyncio.Event()

    class Claims(Turns):
        async def advance(self, workstream_id: WorkstreamId) -> None:
            await asyncio.sleep(0)
            claimed[workstream_id] = appended[workstream_id]
            if claimed == appended:
                seen.set()

    async def append(person: int) -> None:
        for number in range(150):
            ws = WorkstreamId(f"ws_{(number * 7 + person) % 4:022d}")
            appended[ws] += 1
            await dispatch.nudge(ws)
            if number % 3 == person % 3:
                await asyncio.sleep(0)

    turns = Claims()
    async with node(valkey.url, turns), node(valkey.url, turns, name="node-2"):
        await asyncio.gather(*(append(person) for person in range(6)))
        async with asyncio.timeout(SECONDS):
            while claimed != appended:
                seen.clear()
                await seen.wait()
    assert sum(claimed.values()) == 900


@pytest.mark.fault("F54")
async def test_after_flushall_in_mid_queue_what_the_database_knows_is_handed_out_again(
    dispatch: Dispatch, valkey: Valkey, redis_client: redis.asyncio.Redis
) -> None:
    pending = {WorkstreamId(f"ws_{number:022d}") for number in range(40)}

    class Claims(Turns):
        async def advance(self, workstream_id: WorkstreamId) -> None:
            if workstream_id in pending:
                pending.discard(workstream_id)
                await super().advance(workstream_id)

    turns = Claims()
    for ws in sorted(pending):
        await dispatch.nudge(ws)
    async with node(valkey.url, turns):
        await turns.wait_for(3)
        await redis_client.flushall()
        while pending:
            for ws in sorted(pending):
                await dispatch.nudge(ws, force=True)
            await asyncio.sleep(0.05)
        with valkey.client() as client:
            await until(lambda: len(Worker.all(connection=client)) == 1)
    assert len(turns.advanced) == len(set(turns.advanced)) == 40


@pytest.mark.fault("F54")
async def test_a_node_goes_on_within_two_seconds_after_redis_is_back(own_valkey: Valkey) -> None:
    client = connect(own_valkey.url)
    dispatch = Dispatch(client)
    turns = Turns()
    async with node(own_valkey.url, turns):
        await dispatch.nudge(WS)
        await turns.wait_for(1)
        own_valkey.kill()
        await asyncio.sleep(1.5)  # long enough for the waits between attempts to have grown
        own_valkey.start()
        back = time.monotonic()
        await dispatch.nudge(OTHER)
        await turns.wait_for(2)
        figure("a node goes on after Redis is back", time.monotonic() - back, 2, "s")
    await client.aclose()


async def test_a_node_starts_without_redis_and_takes_work_once_it_is_there(
    own_valkey: Valkey,
) -> None:
    own_valkey.kill()
    turns = Turns()
    client = connect(own_valkey.url)
    async with node(own_valkey.url, turns):
        await asyncio.sleep(0.3)  # a first attempt has failed
        own_valkey.start()
        await Dispatch(client).nudge(WS)
        await turns.wait_for(1)
    await client.aclose()


@pytest.mark.fault("F53")
async def test_a_node_takes_up_work_within_five_seconds_after_redis_hung(
    own_valkey: Valkey,
) -> None:
    client = connect(own_valkey.url)
    turns = Turns()
    async with node(own_valkey.url, turns):
        await Dispatch(client).nudge(WS)
        await turns.wait_for(1)
        own_valkey.freeze()
        await asyncio.sleep(4)  # longer than any of the node's waits for an answer
        own_valkey.thaw()
        thawed = time.monotonic()
        await Dispatch(client).nudge(OTHER, force=True)
        await turns.wait_for(2)
        figure("a node goes on after Redis hung", time.monotonic() - thawed, 5, "s")
    await client.aclose()


@pytest.mark.fault("F53")
async def test_a_half_open_blocking_pop_delays_work_by_less_than_five_seconds(
    own_valkey: Valkey,
) -> None:
    client = connect(own_valkey.url)
    turns = Turns()
    async with (
        StallingProxy(own_valkey.port) as proxy,
        node(f"redis://127.0.0.1:{proxy.port}/0", turns),
    ):
        await Dispatch(client).nudge(WS)
        await turns.wait_for(1)
        proxy.stall()
        begun = time.monotonic()
        await Dispatch(client).nudge(OTHER)
        await turns.wait_for(2)
        figure("work behind a half-open pop", time.monotonic() - begun, 5, "s")
    await client.aclose()


@pytest.mark.fault("F54")
async def test_a_nudge_that_a_dead_node_had_popped_goes_back_to_the_queue(
    dispatch: Dispatch, valkey: Valkey, redis_client: redis.asyncio.Redis
) -> None:
    await dispatch.nudge(WS, directed_to="gone")
    await redis_client.lmove("rq:queue:turns.gone", "rq:queue:turns.gone:intermediate")
    turns = Turns()
    async with node(valkey.url, turns):
        async with asyncio.timeout(SECONDS):
            while await redis_client.llen("rq:queue:turns.gone") != 1:
                await asyncio.sleep(0.02)
        assert await redis_client.llen("rq:queue:turns.gone:intermediate") == 0


async def test_an_advance_that_fails_does_not_stop_the_node(
    dispatch: Dispatch, valkey: Valkey, caplog: pytest.LogCaptureFixture
) -> None:
    class Failing(Turns):
        async def advance(self, workstream_id: WorkstreamId) -> None:
            await super().advance(workstream_id)
            if workstream_id == WS:
                raise RuntimeError("the database is away")

    turns = Failing()
    async with node(valkey.url, turns):
        await dispatch.nudge(WS)
        await dispatch.nudge(OTHER)
        await turns.wait_for(2)
    assert f"{WS} was not taken up" in caplog.text


async def test_a_stopped_node_takes_nothing_more_and_is_gone_within_two_seconds(
    dispatch: Dispatch, valkey: Valkey, redis_client: redis.asyncio.Redis
) -> None:
    turns = Turns()
    async with node(valkey.url, turns):
        await dispatch.nudge(WS)
        await turns.wait_for(1)
        stopping = time.monotonic()
    figure("a stopped node is gone", time.monotonic() - stopping, 2, "s")
    await dispatch.nudge(OTHER)
    assert turns.advanced == [WS]
    assert await redis_client.llen("rq:queue:turns") == 1


def payload(*parts: object) -> bytes:
    return zlib.compress(json.dumps(parts).encode())


class Explosive:
    def __reduce__(self) -> tuple[object, ...]:
        return os._exit, (17,)


ADVANCE = keys.ADVANCE
TAMPERED = {
    "a pickle": zlib.compress(pickle.dumps((ADVANCE, None, (Explosive(),), {}))),
    "a bare pickle": pickle.dumps(Explosive()),
    "another function": payload("os._exit", None, [WS], {}),
    "a function that exists here": payload(
        "redshank_node.worker.jobs.checked_call", None, [WS], {}
    ),
    "an instance": payload(ADVANCE, "x", [WS], {}),
    "no argument": payload(ADVANCE, None, [], {}),
    "two arguments": payload(ADVANCE, None, [WS, WS], {}),
    "a named argument": payload(ADVANCE, None, [WS], {"force": "yes"}),
    "a number": payload(ADVANCE, None, [7], {}),
    "a path as id": payload(ADVANCE, None, ["ws_../../etc/passwd"], {}),
    "another id than the job's": payload(ADVANCE, None, [OTHER], {}),
    "another job's function": payload(keys.KEPT_FUNCTIONS["fire"], None, [WS], {}),
    "a bomb": zlib.compress(b"[" * 50_000_000),
    "nothing": b"",
}


@pytest.mark.fault("F70")
@pytest.mark.parametrize("data", TAMPERED.values(), ids=TAMPERED.keys())
async def test_a_tampered_nudge_is_refused_and_dropped(
    data: bytes,
    dispatch: Dispatch,
    valkey: Valkey,
    redis_client: redis.asyncio.Redis,
    caplog: pytest.LogCaptureFixture,
) -> None:
    job_id = keys.nudge_job(WS)
    await redis_client.hset(keys.job_hash(job_id), "data", data)
    await redis_client.rpush("rq:queue:turns", job_id)
    turns = Turns()
    async with node(valkey.url, turns):
        await dispatch.nudge(OTHER)
        await turns.wait_for(1)
    assert turns.advanced == [OTHER]
    assert "refused and dropped" in caplog.text
    assert not await redis_client.exists(keys.job_hash(job_id), "rq:queue:turns:intermediate")


async def test_a_kept_job_runs_and_leaves_nothing_behind(
    dispatch: Dispatch, valkey: Valkey, redis_client: redis.asyncio.Redis
) -> None:
    fired: list[str] = []

    async def fire(run_id: str) -> None:
        fired.append(run_id)

    async with node(valkey.url, Turns(), kept={"fire": fire}):
        assert await dispatch.hand_over("fire", RUN) == "handed"
        await until(lambda: bool(fired))
        async with asyncio.timeout(SECONDS):
            while await redis_client.exists(keys.job_hash(f"fire-{RUN}")):
                await asyncio.sleep(0.01)
        assert not await redis_client.exists("rq:queue:jobs", "rq:queue:jobs:intermediate")
        assert await redis_client.zcard("rq:wip:jobs") == 0
    assert fired == [RUN]


async def test_a_kept_job_that_runs_longer_than_its_lease_is_not_run_beside_itself(
    dispatch: Dispatch, valkey: Valkey
) -> None:
    fired: list[str] = []
    finish = asyncio.Event()

    async def fire(run_id: str) -> None:
        fired.append(run_id)
        await finish.wait()

    async with (
        node(valkey.url, Turns(), kept={"fire": fire}, pace=STEADY),
        node(valkey.url, Turns(), name="node-2", kept={"fire": fire}, pace=STEADY),
    ):
        await dispatch.hand_over("fire", RUN)
        await until(lambda: fired == [RUN])
        assert await dispatch.hand_over("fire", RUN) == "already"
        # What must not happen has its time to happen.
        await asyncio.sleep(STEADY.lease_seconds + 2)
        assert fired == [RUN]
        finish.set()


@pytest.mark.fault("F58")
async def test_a_job_whose_record_another_node_took_away_does_not_end_its_node(
    dispatch: Dispatch,
    valkey: Valkey,
    redis_client: redis.asyncio.Redis,
    caplog: pytest.LogCaptureFixture,
) -> None:
    fired: list[str] = []
    finish = asyncio.Event()

    async def fire(run_id: str) -> None:
        fired.append(run_id)
        await finish.wait()

    after = "run_0000000000000000000001"
    async with node(valkey.url, Turns(), kept={"fire": fire}):
        await dispatch.hand_over("fire", RUN)
        await until(lambda: fired == [RUN])
        (record,) = await redis_client.keys("rq:execution:*")
        await redis_client.delete(record)
        finish.set()
        await until(lambda: "was not recorded" in caplog.text)
        await dispatch.hand_over("fire", after)
        await until(lambda: after in fired)


async def test_a_kept_job_that_fails_three_times_is_a_dead_letter_until_an_operator_asks(
    dispatch: Dispatch, valkey: Valkey
) -> None:
    attempts: list[str] = []
    mended = asyncio.Event()

    async def poll(schedule_id: str) -> None:
        attempts.append(schedule_id)
        if not mended.is_set():
            raise RuntimeError("the command is not there")

    client = connect_threaded(valkey.url)
    letters = DeadLetters(client)
    async with node(valkey.url, Turns(), kept={"poll": poll}):
        await dispatch.hand_over("poll", RUN)
        async with asyncio.timeout(SECONDS):
            while not (dead := await letters.newest()):
                await asyncio.sleep(0.02)
        assert len(attempts) == 3
        assert (dead[0].function, dead[0].subject_id) == ("poll", RUN)
        assert "the command is not there" in dead[0].reason
        assert await dispatch.hand_over("poll", RUN) == "dead"
        assert len(attempts) == 3
        mended.set()
        assert await dispatch.hand_over("poll", RUN, force=True) == "handed"
        await until(lambda: len(attempts) == 4)
        assert await letters.newest() == []
    client.close()


async def test_a_stopped_node_gives_a_running_kept_job_back_without_counting_a_death(
    dispatch: Dispatch, valkey: Valkey, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("redshank_node.worker.kept._GRACE_SECONDS", 0.1)
    begun = asyncio.Event()

    async def fire(run_id: str) -> None:
        begun.set()
        await asyncio.Event().wait()

    async with node(valkey.url, Turns(), kept={"fire": fire}):
        await dispatch.hand_over("fire", RUN)
        async with asyncio.timeout(SECONDS):
            await begun.wait()
    with valkey.client() as client:
        job = Job.fetch(f"fire-{RUN}", connection=client, serializer=JSONSerializer)
        assert (job.get_status(), job.retries_left) == (JobStatus.QUEUED, 2)
        assert client.lrange("rq:queue:jobs", 0, -1) == [f"fire-{RUN}".encode()]
        assert client.zcard("rq:wip:jobs") == 0


POISONED_NODE = """
import asyncio, os, signal, sys
from redshank_node.worker.worker import NodeWorker, Pace

class Turns:
    def free(self): return 1
    async def wait_free(self): pass
    async def advance(self, ws): pass

async def poison(run_id):
    os.kill(os.getpid(), signal.SIGKILL)

async def main():
    turns = Turns()
    pace = Pace(lease_seconds=1, beat_seconds=0.3, sweep_seconds=0.3)
    worker = NodeWorker(sys.argv[2], sys.argv[1], directed=(), slots=turns,
                        advance=turns.advance, kept={"fire": poison}, pace=pace)
    await worker.run(asyncio.Event())

asyncio.run(main())
"""


@pytest.mark.fault("F58")
async def test_a_job_that_kills_three_nodes_is_a_dead_letter_and_the_others_live_on(
    dispatch: Dispatch, valkey: Valkey
) -> None:
    turns = Turns()
    client = connect_threaded(valkey.url)
    letters = DeadLetters(client)
    await dispatch.hand_over("fire", RUN)
    async with node(valkey.url, turns, name="survivor"):
        for death in range(3):
            await poisoned(valkey.url, f"victim-{death}")
        async with asyncio.timeout(SECONDS):
            while not (dead := await letters.newest()):
                await asyncio.sleep(0.05)
        assert (dead[0].function, dead[0].subject_id) == ("fire", RUN)
        assert "died or lost its lease" in dead[0].reason
        assert await dispatch.hand_over("fire", RUN) == "dead"
        await dispatch.nudge(WS)
        await turns.wait_for(1)
        assert await dispatch.hand_over("fire", RUN, force=True) == "handed"
    client.close()


async def poisoned(url: str, name: str) -> None:
    """A node that takes a job, dies of it."""
    arguments = [sys.executable, "-c", POISONED_NODE, url, name]
    path = os.pathsep.join(entry for entry in sys.path if entry)
    victim = await asyncio.create_subprocess_exec(*arguments, env={"PYTHONPATH": path})
    async with asyncio.timeout(SECONDS):
        assert await victim.wait() == -9


@pytest.mark.fault("F29", "F58")
async def test_a_job_whose_node_died_is_ended_once_by_another_which_lives_on(
    dispatch: Dispatch, valkey: Valkey, redis_client: redis.asyncio.Redis
) -> None:
    fired: list[str] = []

    left: list[bytes] = []

    async def fire(run_id: str) -> None:
        fired.append(run_id)
        # What the dead node had left of its run has gone when this one ends.
        while await redis_client.exists(*left):
            await asyncio.sleep(0.01)

    after = "run_0000000000000000000001"
    await dispatch.hand_over("fire", RUN)
    await poisoned(valkey.url, "victim")
    left += await redis_client.keys("rq:execution:*")
    assert left
    async with node(valkey.url, Turns(), kept={"fire": fire}):
        await until(lambda: fired == [RUN])
        async with asyncio.timeout(SECONDS):
            while await redis_client.exists(keys.job_hash(f"fire-{RUN}")):
                await asyncio.sleep(0.01)
        await dispatch.hand_over("fire", after)
        await until(lambda: fired == [RUN, after])


@pytest.mark.fault("F70")
@pytest.mark.parametrize(
    "extra",
    [
        {"success_callback_name": "os.abort"},
        {"failure_callback_name": "os.abort"},
        {"webhooks": '[{"url":"http://127.0.0.1:9/","job_status":"finished"}]'},
        {"data": payload("os.abort", None, [RUN], {})},
        {"data": pickle.dumps(Explosive())},
        {"timeout": "never"},
        {"status": "unheard of"},
    ],
    ids=lambda extra: next(iter(extra)),
)
async def test_a_tampered_kept_job_is_refused_when_taken_and_when_its_node_died(
    extra: dict[str, str | bytes],
    dispatch: Dispatch,
    valkey: Valkey,
    redis_client: redis.asyncio.Redis,
) -> None:
    fired: list[str] = []

    async def fire(run_id: str) -> None:
        fired.append(run_id)

    good, abandoned = "run_0000000000000000000001", "run_0000000000000000000002"
    await dispatch.hand_over("fire", RUN)
    await redis_client.hset(keys.job_hash(f"fire-{RUN}"), mapping=extra)
    await dispatch.hand_over("fire", abandoned)
    await redis_client.lrem("rq:queue:jobs", 1, f"fire-{abandoned}")
    await redis_client.hset(
        keys.job_hash(f"fire-{abandoned}"), mapping={"status": "started", **extra}
    )
    await redis_client.zadd("rq:wip:jobs", {f"fire-{abandoned}:execution": 1})
    await dispatch.hand_over("fire", good)
    async with node(valkey.url, Turns(), kept={"fire": fire}):
        await until(lambda: bool(fired))
        async with asyncio.timeout(SECONDS):
            while await redis_client.zcard("rq:wip:jobs"):
                await asyncio.sleep(0.02)
    assert fired == [good]
    assert not await redis_client.exists(keys.job_hash(f"fire-{RUN}"), "rq:queue:jobs")


async def test_rq_sees_the_node_as_a_worker_until_it_leaves(valkey: Valkey) -> None:
    with valkey.client() as client:

        def workers() -> list[str]:
            return [worker.name for worker in Worker.all(connection=client)]

        async with node(valkey.url, Turns(), directed=("gpu",)):
            await until(lambda: workers() == ["node-1"])
            (seen,) = Worker.all(connection=client)
            assert seen.queue_names() == ["turns.gpu", "turns", "jobs"]
            assert seen.pid == os.getpid()
        assert workers() == []


async def test_a_node_registers_although_a_jobs_count_stands_under_its_name(valkey: Valkey) -> None:
    with valkey.client() as client:
        client.hset("rq:worker:node-1", "failed_job_count", "1")
        async with node(valkey.url, Turns()):
            await until(lambda: [w.name for w in Worker.all(connection=client)] == ["node-1"])


def test_making_a_worker_connects_to_nothing() -> None:
    turns = object()
    NodeWorker(
        "node-1",
        "redis://127.0.0.1:1/0",
        directed=(),
        slots=turns,  # type: ignore[arg-type] # never asked
        advance=None,  # type: ignore[arg-type] # never called
        kept={},
    )
