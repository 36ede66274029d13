"""A watch that is pushed: kept, judged once and in order as a poll would be, bounded, ended."""

import hashlib
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from redshank_node.dueclock.firing import Firing, Polling
from redshank_shared import clock
from redshank_shared.domain.cadence import Interval
from redshank_shared.domain.commands import ChangeSchedule, CreateSchedule
from redshank_shared.domain.due_events import WatchSpec
from redshank_shared.domain.errors import Conflict, NotFound, TooMany
from redshank_shared.domain.events import MessagePosted
from redshank_shared.domain.ids import WorkstreamId
from redshank_shared.metrics import Metrics
from redshank_shared.stores.database import Database
from redshank_shared.stores.schedules import Run, Schedules
from redshank_shared.stores.tables import schedule_runs, watch_pushes, watch_tokens
from redshank_shared.stores.watch_pushes import WatchPushes, WatchToken
from tests.fakes.valkey import Valkey
from tests.integration.engine_world import World, fresh_id, now

SECRET = hashlib.sha256(b"the secret").hexdigest()


@pytest.fixture
async def world(database: Database, valkey: Valkey) -> AsyncIterator[World]:
    made = World(database, valkey.url)
    yield made
    await made.redis.aclose()


@pytest.fixture
def pushes(world: World) -> WatchPushes:
    return WatchPushes(world.database)


@pytest.fixture
def schedules(world: World) -> Schedules:
    return Schedules(world.database)


@pytest.fixture
def firing(world: World, pushes: WatchPushes, schedules: Schedules, tmp_path: Path) -> Firing:
    polling = Polling(tmp_path, lambda text: text.replace("hunter2", "***"))
    return Firing(
        world.database,
        schedules,
        pushes,
        world.commands,
        Metrics(),
        polling,
        "marsh-1",
        clock.now_utc,
    )


async def made(world: World, stop_on: str = "", max_polls: int = 100) -> tuple[WorkstreamId, str]:
    """A workstream with a watch that is not due for an hour, with the right to push it."""
    workstream, schedule_id = await world.create("hello"), fresh_id("sch")
    spec = WatchSpec("touch polled", stop_on, max_polls)
    cadence = Interval(3600, clock.now_ms() / 1000)
    command = CreateSchedule(schedule_id, "tide", cadence, "", "ines", watch=spec)
    await world.do(workstream, command)
    WatchPushes(world.database).put_token(WatchToken(SECRET, schedule_id, workstream, now()))
    return workstream, schedule_id


def pushed(pushes: WatchPushes, output: str) -> str:
    run_id = fresh_id("run")
    pushes.accept(SECRET, run_id, output)
    return run_id


def said(world: World, workstream: WorkstreamId) -> list[str]:
    return [
        fact.text
        for fact in world.facts(workstream)
        if isinstance(fact, MessagePosted) and fact.source == "watch"
    ]


async def judged(pushes: WatchPushes, firing: Firing) -> list[Run]:
    taken = pushes.take()
    for run in taken:
        await firing.push(run.run_id)
    return taken


@pytest.mark.req("B-10", "T-50")
async def test_a_push_fires_when_the_condition_holds_once_then_the_watch_is_over(
    world: World, pushes: WatchPushes, schedules: Schedules, firing: Firing, tmp_path: Path
) -> None:
    workstream, schedule_id = await made(world, 'data["level"] > 3 and exit_code == 0')
    for level, told in ((2, 0), (4, 1)):
        pushed(pushes, f'{{"level": {level}}}')
        await judged(pushes, firing)
        assert len(said(world, workstream)) == told
    (text,) = said(world, workstream)
    assert text.startswith("Watch tide fired")
    assert "pushed from outside" in text
    assert '{"level": 4}' in text
    row = schedules.get(schedule_id)
    assert row is not None
    assert (row.state, row.runs) == ("completed", 2)
    assert [(run.kind, run.state) for run in schedules.runs_of(schedule_id)] == [
        ("push", "done"),
        ("push", "done"),
    ]
    assert not (tmp_path / "polled").exists()
    with pytest.raises(NotFound):
        pushed(pushes, "more")


@pytest.mark.req("B-10")
async def test_without_a_condition_a_push_fires_when_it_differs_from_the_last(
    world: World, pushes: WatchPushes, firing: Firing
) -> None:
    workstream, _ = await made(world)
    for output, told in (("low", 0), ("low", 0), ("high", 1)):
        pushed(pushes, output)
        await judged(pushes, firing)
        assert len(said(world, workstream)) == told


@pytest.mark.req("B-10")
async def test_pushes_are_judged_one_after_the_other_in_the_order_in_which_they_came(
    world: World, pushes: WatchPushes, schedules: Schedules, firing: Firing
) -> None:
    workstream, schedule_id = await made(world, "prev_output == 'one' and output == 'two'")
    runs = [pushed(pushes, output) for output in ("zero", "one", "two")]
    (first,) = pushes.take()
    assert pushes.take() == []
    await firing.push(first.run_id)
    taken = [first.run_id]
    while found := await judged(pushes, firing):
        taken += [run.run_id for run in found]
    assert taken == runs
    assert len(said(world, workstream)) == 1
    assert {run.state for run in schedules.runs_of(schedule_id)} == {"done"}


@pytest.mark.req("B-10")
@pytest.mark.fault("F41")
async def test_a_push_handed_over_twice_speaks_once(
    world: World, pushes: WatchPushes, firing: Firing
) -> None:
    workstream, _ = await made(world, "True")
    pushed(pushes, "now")
    (run,) = pushes.take()
    await firing.push(run.run_id)
    await firing.push(run.run_id)
    assert len(said(world, workstream)) == 1


@pytest.mark.req("B-10")
@pytest.mark.fault("F29")
async def test_a_push_whose_node_died_is_handed_over_again(
    world: World, pushes: WatchPushes, schedules: Schedules, firing: Firing
) -> None:
    workstream, _ = await made(world, "True")
    pushed(pushes, "now")
    (run,) = pushes.take()
    assert [each.run_id for each in schedules.not_taken_up(-1.0)] == [run.run_id]
    await firing.push(run.run_id)
    assert len(said(world, workstream)) == 1


@pytest.mark.fault("F41")
async def test_a_push_that_was_judged_but_not_put_away_is_not_judged_again(
    world: World, pushes: WatchPushes, schedules: Schedules, firing: Firing
) -> None:
    workstream, schedule_id = await made(world, "output == 'x'")
    run_id = pushed(pushes, "y")
    (run,) = pushes.take()
    schedules.end_run(run.run_id, "done", "pushed", last_output="y")
    assert pushes.take() == []
    assert pushes.output(run_id) is None
    assert len(schedules.runs_of(schedule_id)) == 1
    assert said(world, workstream) == []


@pytest.mark.req("T-52")
async def test_a_push_counts_as_a_poll_so_that_the_watch_gives_up_after_its_last(
    world: World, pushes: WatchPushes, firing: Firing
) -> None:
    workstream, _ = await made(world, "False", max_polls=2)
    for _ in range(2):
        pushed(pushes, "no")
        await judged(pushes, firing)
    (text,) = said(world, workstream)
    assert "ended after 2 polls" in text


@pytest.mark.req("B-10")
async def test_above_sixty_a_minute_a_push_is_refused_with_the_time_to_wait(
    world: World, pushes: WatchPushes
) -> None:
    await made(world, "False")
    for _ in range(60):
        pushed(pushes, "x")
    with pytest.raises(TooMany) as refusal:
        pushed(pushes, "x")
    assert 1 <= refusal.value.retry_after_seconds <= 60
    with world.database.begin() as connection:
        assert len(connection.execute(watch_pushes.select()).all()) == 60
        # Time passes: the minute is over.
        connection.execute(watch_tokens.update().values(window_at=watch_tokens.c.window_at - 60.0))
    pushed(pushes, "x")


@pytest.mark.req("B-10")
async def test_a_paused_watch_takes_no_push_until_it_goes_on(
    world: World, pushes: WatchPushes
) -> None:
    workstream, schedule_id = await made(world)
    await world.do(workstream, ChangeSchedule(schedule_id, "pause", "ines"))
    with pytest.raises(Conflict, match="paused"):
        pushed(pushes, "x")
    await world.do(workstream, ChangeSchedule(schedule_id, "resume", "ines"))
    pushed(pushes, "x")


@pytest.mark.req("B-10")
async def test_a_new_token_ends_the_one_before_and_the_watch_s_end_ends_it_too(
    world: World, pushes: WatchPushes
) -> None:
    workstream, schedule_id = await made(world)
    other = hashlib.sha256(b"another").hexdigest()
    pushes.put_token(WatchToken(other, schedule_id, workstream, now()))
    with pytest.raises(NotFound):
        pushed(pushes, "x")
    pushes.accept(other, fresh_id("run"), "x")
    await world.do(workstream, ChangeSchedule(schedule_id, "cancel", "ines"))
    with pytest.raises(NotFound):
        pushes.accept(other, fresh_id("run"), "x")
    with world.database.begin() as connection:
        assert connection.execute(watch_tokens.select()).all() == []


async def test_what_was_pushed_before_the_watch_ended_is_put_away_unsaid(
    world: World, pushes: WatchPushes, schedules: Schedules, firing: Firing
) -> None:
    workstream, schedule_id = await made(world, "True")
    pushed(pushes, "x")
    await world.do(workstream, ChangeSchedule(schedule_id, "cancel", "ines"))
    await judged(pushes, firing)
    assert said(world, workstream) == []
    assert [run.state for run in schedules.runs_of(schedule_id)] == ["skipped"]
    assert pushes.take() == []


@pytest.mark.req("K-91")
async def test_the_last_fifty_runs_of_a_watch_are_kept_however_often_it_is_pushed(
    world: World, pushes: WatchPushes, schedules: Schedules, firing: Firing
) -> None:
    _, schedule_id = await made(world, "False")
    for number in range(55):
        pushed(pushes, f"{number}")
        await judged(pushes, firing)
    with world.database.read() as connection:
        kept = connection.execute(
            schedule_runs.select().where(schedule_runs.c.schedule_id == schedule_id)
        ).all()
    assert len(kept) == 50
    row = schedules.get(schedule_id)
    assert row is not None
    assert (row.runs, row.last_output) == (55, "54")


@pytest.mark.fault("F43")
async def test_what_was_pushed_is_redacted_and_whole_whatever_its_characters(
    world: World, pushes: WatchPushes, firing: Firing
) -> None:
    workstream, _ = await made(world, "True")
    pushed(pushes, "pass hunter2\0 é")
    await judged(pushes, firing)
    (text,) = said(world, workstream)
    assert "pass ***\N{REPLACEMENT CHARACTER} é" in text
