"""What is due is taken once, said once: the store, the clock's step, the handlers of runs."""

import asyncio
import threading
from collections.abc import AsyncIterator
from pathlib import Path

import msgspec
import pytest

from redshank_node.dueclock.firing import Firing, Polling
from redshank_shared import clock
from redshank_shared.domain.cadence import Interval, Once
from redshank_shared.domain.commands import (
    ChangeSchedule,
    CloseWorkstream,
    CreateSchedule,
    PostMessage,
)
from redshank_shared.domain.due_events import (
    ScheduleChanged,
    ScheduleFired,
    WatchSpec,
)
from redshank_shared.domain.errors import Conflict, Invalid, NotFound
from redshank_shared.domain.events import MessagePosted
from redshank_shared.domain.ids import WorkstreamId
from redshank_shared.metrics import Metrics
from redshank_shared.stores.database import Database
from redshank_shared.stores.schedules import Run, Schedules
from redshank_shared.stores.tables import schedules as schedules_table
from redshank_shared.stores.watch_pushes import WatchPushes
from redshank_shared.vault.redaction import Redactor
from tests.fakes.valkey import Valkey
from tests.integration.due_world import make_due, take
from tests.integration.engine_world import World, fresh_id

CANARY = "canary-in-a-poll"


def seconds() -> float:
    return clock.now_ms() / 1000


@pytest.fixture
async def world(database: Database, valkey: Valkey) -> AsyncIterator[World]:
    made = World(database, valkey.url)
    yield made
    await made.redis.aclose()


@pytest.fixture
def schedules(world: World) -> Schedules:
    return Schedules(world.database)


@pytest.fixture
def firing(world: World, schedules: Schedules, tmp_path: Path) -> Firing:
    metrics = Metrics()
    return Firing(
        world.database,
        schedules,
        WatchPushes(world.database),
        world.commands,
        metrics,
        Polling(tmp_path, Redactor([CANARY]).of_output),
        "marsh-1",
        clock.now_utc,
    )


async def made(world: World, name: str = "later", **more: object) -> tuple[WorkstreamId, str]:
    """A workstream with one schedule, due at once unless said otherwise."""
    workstream = await world.create("hello")
    schedule_id = await scheduled(world, workstream, name, **more)
    return workstream, schedule_id


async def scheduled(world: World, workstream: WorkstreamId, name: str, **more: object) -> str:
    schedule_id = fresh_id("sch")
    fields = {"cadence": Once(seconds() - 1), "message": f"{name} is due", **more}
    await world.do(workstream, CreateSchedule(schedule_id, name, by="ines", **fields))  # type: ignore[arg-type] # fields of the command
    return schedule_id


def watch(command: str, stop_on: str = "", max_polls: int = 100) -> dict[str, object]:
    return {
        "cadence": Interval(10, seconds() - 10),
        "watch": WatchSpec(command, stop_on, max_polls),
    }


def said(world: World, workstream: WorkstreamId) -> list[str]:
    return [
        fact.text
        for fact in world.facts(workstream)
        if isinstance(fact, MessagePosted) and fact.source != "user"
    ]


@pytest.mark.fault("F41")
async def test_two_clocks_take_a_due_time_once(world: World, schedules: Schedules) -> None:
    workstream = await world.create("hello")
    for number in range(20):
        await scheduled(world, workstream, f"wake {number}")
    taken: list[Run] = []
    threads = [
        threading.Thread(target=lambda: taken.extend(take(Schedules(world.database))))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    taken.extend(take(schedules))
    assert len(taken) == 20
    assert len({run.schedule_id for run in taken}) == 20
    assert take(schedules) == []
    assert schedules.seconds_to_next() is None


@pytest.mark.fault("F41")
async def test_a_run_handed_over_twice_speaks_once(
    world: World, schedules: Schedules, firing: Firing
) -> None:
    workstream, schedule_id = await made(world)
    (run,) = take(schedules)
    await firing.fire(run.run_id)
    await firing.fire(run.run_id)
    assert said(world, workstream) == ["later is due"]
    (fired,) = [f for f in world.facts(workstream) if isinstance(f, ScheduleFired)]
    assert (fired.schedule_id, fired.run_id) == (schedule_id, run.run_id)
    row = schedules.get(schedule_id)
    assert row is not None
    assert row.state == "completed"
    assert [(r.state, r.due_at) for r in schedules.runs_of(schedule_id)] == [("done", run.due_at)]


@pytest.mark.req("K-92")
async def test_what_a_schedule_says_names_it_and_its_due_time(
    world: World, schedules: Schedules, firing: Firing
) -> None:
    workstream, schedule_id = await made(world, message="[schedule other] I am ines")
    (run,) = take(schedules)
    await firing.fire(run.run_id)
    facts = world.facts(workstream)
    (posted,) = [f for f in facts if isinstance(f, MessagePosted) and f.source != "user"]
    (fired,) = [f for f in facts if isinstance(f, ScheduleFired)]
    assert (posted.source, posted.author) == ("wake", schedule_id)
    assert (fired.schedule_id, fired.due_at) == (schedule_id, run.due_at)


@pytest.mark.fault("F41")
async def test_a_run_whose_node_died_behind_its_message_speaks_no_second_time(
    world: World, schedules: Schedules, firing: Firing
) -> None:
    workstream, schedule_id = await made(world, cadence=Interval(5, seconds() - 5))
    make_due(world, schedule_id)
    (run,) = take(schedules)
    await firing.fire(run.run_id)
    with world.database.begin() as connection:
        connection.exec_driver_sql("UPDATE schedule_runs SET state = 'handed'")
    await firing.fire(run.run_id)
    assert said(world, workstream) == ["later is due"]


@pytest.mark.req("T-53")
@pytest.mark.fault("F18")
async def test_what_was_due_often_while_nobody_lived_runs_once(
    world: World, schedules: Schedules, firing: Firing
) -> None:
    workstream, schedule_id = await made(world, cadence=Interval(5, seconds() - 1000))
    with world.database.begin() as connection:
        connection.execute(schedules_table.update().values(next_due=seconds() - 600))
    runs = take(schedules)
    assert len(runs) == 1
    await firing.fire(runs[0].run_id)
    assert said(world, workstream) == ["later is due"]
    row = schedules.get(schedule_id)
    assert row is not None
    assert row.next_due is not None
    assert row.next_due > seconds()


@pytest.mark.req("T-50", "T-51", "T-52")
async def test_a_watch_fires_when_its_condition_holds_then_ends(
    world: World, schedules: Schedules, firing: Firing, tmp_path: Path
) -> None:
    file = tmp_path / "state"
    file.write_text("pending")
    workstream, schedule_id = await made(world, **watch("cat state", '"ready" in output'))
    for state in ("pending", "ready"):
        file.write_text(state)
        make_due(world, schedule_id)
        (run,) = take(schedules)
        assert run.kind == "poll"
        await firing.poll(run.run_id)
        assert len(said(world, workstream)) == (state == "ready")
    (text,) = said(world, workstream)
    assert "ready" in text
    row = schedules.get(schedule_id)
    assert row is not None
    assert (row.state, row.next_due) == ("completed", None)


@pytest.mark.req("T-51")
async def test_a_watch_without_a_condition_fires_on_change(
    world: World, schedules: Schedules, firing: Firing, tmp_path: Path
) -> None:
    workstream, schedule_id = await made(world, **watch("cat state"))
    for content, fired in (("a", 0), ("a", 0), ("b", 1)):
        (tmp_path / "state").write_text(content)
        make_due(world, schedule_id)
        (run,) = take(schedules)
        await firing.poll(run.run_id)
        assert len(said(world, workstream)) == fired


@pytest.mark.req("T-52")
async def test_a_watch_that_never_fires_says_so_after_its_last_poll(
    world: World, schedules: Schedules, firing: Firing
) -> None:
    workstream, schedule_id = await made(world, **watch("echo no", "exit_code != 0", 2))
    for _ in range(2):
        make_due(world, schedule_id)
        (run,) = take(schedules)
        await firing.poll(run.run_id)
    (text,) = said(world, workstream)
    assert "ended after 2 polls" in text


@pytest.mark.req("T-51")
async def test_a_condition_that_cannot_be_judged_is_shown_with_the_poll(
    world: World, schedules: Schedules, firing: Firing
) -> None:
    workstream, schedule_id = await made(world, **watch("echo 503", 'data["state"] == 1'))
    make_due(world, schedule_id)
    (run,) = take(schedules)
    await firing.poll(run.run_id)
    (shown,) = schedules.runs_of(schedule_id)
    assert shown.state == "done"
    assert "number has no members" in shown.detail
    assert said(world, workstream) == []


@pytest.mark.fault("F-12")
async def test_what_a_poll_saw_is_kept_without_secrets(
    world: World, schedules: Schedules, firing: Firing, tmp_path: Path
) -> None:
    (tmp_path / "notes").write_text(f"the key is {CANARY}\n")
    workstream, schedule_id = await made(world, **watch("cat notes", "exit_code == 0"))
    make_due(world, schedule_id)
    (run,) = take(schedules)
    await firing.poll(run.run_id)
    (text,) = said(world, workstream)
    assert text.endswith("the key is ***\n")
    row = schedules.get(schedule_id)
    assert row is not None
    assert row.last_output == "the key is ***\n"


@pytest.mark.req("T-53")
async def test_a_poll_that_died_is_recorded_as_lost_and_not_run_again(
    world: World, schedules: Schedules, firing: Firing, tmp_path: Path
) -> None:
    _, schedule_id = await made(world, **watch("echo x >> polled"))
    make_due(world, schedule_id)
    (run,) = take(schedules)
    assert schedules.begin_run(run.run_id, "marsh-2")
    await firing.poll(run.run_id)
    assert not (tmp_path / "polled").exists()
    assert [each.state for each in schedules.runs_of(schedule_id)] == ["lost"]
    make_due(world, schedule_id)
    assert len(take(schedules)) == 1


@pytest.mark.req("T-53")
@pytest.mark.fault("F41")
async def test_a_poll_that_is_handed_over_twice_runs_once_and_its_own_end_is_what_counts(
    world: World, schedules: Schedules, firing: Firing, tmp_path: Path
) -> None:
    command = "echo x >> polled; until [ -e gate ]; do sleep 0.02; done; echo seen"
    _, schedule_id = await made(world, **watch(command))
    make_due(world, schedule_id)
    (run,) = take(schedules)
    async with asyncio.TaskGroup() as group:
        group.create_task(firing.poll(run.run_id))
        async with asyncio.timeout(60):
            while not (tmp_path / "polled").exists():
                await asyncio.sleep(0.02)
        # Whoever gets it again cannot tell this from a node that died with it.
        await firing.poll(run.run_id)
        assert [each.state for each in schedules.runs_of(schedule_id)] == ["lost"]
        (tmp_path / "gate").touch()
    assert (tmp_path / "polled").read_text() == "x\n"
    (ended,) = schedules.runs_of(schedule_id)
    assert (ended.state, ended.detail) == ("done", "exit code 0")
    row = schedules.get(schedule_id)
    assert row is not None
    assert row.last_output == "seen\n"
    await firing.poll(run.run_id)
    assert [each.state for each in schedules.runs_of(schedule_id)] == ["done"]


@pytest.mark.fault("F29")
async def test_a_run_that_no_node_took_up_is_handed_over_again(
    world: World, schedules: Schedules
) -> None:
    await made(world)
    (run,) = take(schedules)
    assert schedules.not_taken_up(60) == []
    assert [each.run_id for each in schedules.not_taken_up(-1)] == [run.run_id]
    schedules.handed_again(run.run_id)
    assert schedules.not_taken_up(60) == []


async def test_a_trigger_adds_one_run_that_the_clock_hands_over(
    world: World, schedules: Schedules, firing: Firing
) -> None:
    workstream, schedule_id = await made(world, cadence=Once(seconds() + 3600))
    assert take(schedules) == []
    run_id = fresh_id("run")
    await world.do(workstream, ChangeSchedule("later", "trigger", "ines", run_id))
    assert [run.run_id for run in take(schedules)] == [run_id]
    await firing.fire(run_id)
    assert said(world, workstream) == ["later is due"]
    assert [run.run_id for run in schedules.runs_of(schedule_id)] == [run_id]


@pytest.mark.req("K-90")
async def test_a_one_shot_that_was_triggered_is_still_due_at_its_time(
    world: World, schedules: Schedules, firing: Firing
) -> None:
    at = seconds() + 3600
    workstream, schedule_id = await made(world, cadence=Once(at))
    run_id = fresh_id("run")
    await world.do(workstream, ChangeSchedule("later", "trigger", "ines", run_id))
    take(schedules)
    await firing.fire(run_id)
    row = schedules.get(schedule_id)
    assert row is not None
    assert (row.state, row.next_due) == ("active", at)


@pytest.mark.req("K-89")
async def test_a_run_that_waits_for_one_whose_node_died_gets_its_turn(
    world: World, schedules: Schedules
) -> None:
    fields = {**watch("true"), "overlap": "queue_one"}
    _, schedule_id = await made(world, **fields)
    make_due(world, schedule_id)
    (first,) = take(schedules)
    assert schedules.begin_run(first.run_id, "marsh-2")
    make_due(world, schedule_id)
    assert take(schedules) == []
    assert schedules.abandon(-1) == 1
    (waited,) = schedules.not_taken_up(2)
    assert waited.run_id != first.run_id
    assert schedules.begin_run(waited.run_id, "marsh-1")


@pytest.mark.req("K-89")
async def test_a_trigger_beside_an_open_run_is_skipped_with_the_reason(
    world: World, schedules: Schedules
) -> None:
    workstream, schedule_id = await made(world, cadence=Interval(600, seconds()))
    for _ in range(2):
        command = ChangeSchedule("later", "trigger", "ines", fresh_id("run"))
        await world.commands.execute(workstream, command, "2026-11-30T12:00:00.000Z")
    assert len(take(schedules)) == 1
    skipped, handed = schedules.runs_of(schedule_id)
    assert (handed.state, skipped.state) == ("handed", "skipped")
    assert "open" in skipped.detail
    row = schedules.get(schedule_id)
    assert row is not None
    assert row.runs == 1


@pytest.mark.req("K-91")
async def test_the_last_fifty_runs_are_kept(world: World, schedules: Schedules) -> None:
    _, schedule_id = await made(world, cadence=Interval(600, seconds()))
    begin = seconds() - 6
    for number in range(55):
        due_at = begin + number / 10
        cadence = msgspec.json.encode(Interval(10, due_at - 10)).decode()
        with world.database.begin() as connection:
            connection.execute(schedules_table.update().values(next_due=due_at, cadence=cadence))
        (run,) = take(schedules)
        schedules.end_run(run.run_id, "done", "")
    with world.database.read() as connection:
        kept = connection.exec_driver_sql("SELECT count(*) FROM schedule_runs").scalar()
    assert kept == 50
    assert schedules.runs_of(schedule_id)[0].run_id == run.run_id


@pytest.mark.req("K-90")
async def test_a_paused_schedule_is_not_due_until_it_goes_on(
    world: World, schedules: Schedules
) -> None:
    workstream, schedule_id = await made(world, cadence=Once(seconds() + 3600))
    await world.do(workstream, ChangeSchedule("later", "pause", "ines"))
    row = schedules.get(schedule_id)
    assert row is not None
    assert (row.state, row.next_due) == ("paused", None)
    await world.do(workstream, ChangeSchedule(schedule_id, "resume", "ines"))
    row = schedules.get(schedule_id)
    assert row is not None
    assert row.state == "active"
    assert row.next_due == pytest.approx(seconds() + 3600, abs=5)


@pytest.mark.req("C-42")
async def test_one_that_replaces_takes_the_place_of_its_name(
    world: World, schedules: Schedules
) -> None:
    workstream, first = await made(world, cadence=Once(seconds() + 3600))
    second = await scheduled(
        world, workstream, "later", cadence=Once(seconds() + 7200), replaces=True
    )
    rows = {row.schedule_id: row.state for row in schedules.page(workstream).items}
    assert rows == {first: "canceled", second: "active"}
    assert list(world.state(workstream).schedules) == [second]


@pytest.mark.req("T-54")
async def test_names_and_numbers_of_watches_are_bounded(world: World) -> None:
    workstream, _ = await made(world, "first", **watch("true"))
    with pytest.raises(Conflict, match="called first"):
        await scheduled(world, workstream, "first", **watch("true"))
    for number in range(4):
        await scheduled(world, workstream, f"watch {number}", **watch("true"))
    with pytest.raises(Conflict, match="5 watches"):
        await scheduled(world, workstream, "sixth", **watch("true"))


@pytest.mark.req("T-54")
async def test_five_watches_in_a_row_speak_then_a_person_must(
    world: World, schedules: Schedules, firing: Firing
) -> None:
    workstream = await world.create("hello")
    for number in range(6):
        schedule_id = await scheduled(world, workstream, f"w{number}", **watch("true", "True"))
        make_due(world, schedule_id)
        (run,) = take(schedules)
        await firing.poll(run.run_id)
    assert len(said(world, workstream)) == 5
    await world.do(workstream, PostMessage("go on", "ines"))
    schedule_id = await scheduled(world, workstream, "again", **watch("true", "True"))
    make_due(world, schedule_id)
    (run,) = take(schedules)
    await firing.poll(run.run_id)
    assert len(said(world, workstream)) == 6


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        (watch("true", "output +"), "stop_on"),
        ({**watch("true"), "cadence": Interval(9, 0.0)}, "poll_every"),
        ({"message": " "}, "message"),
        ({"cadence": Interval(4, 0.0)}, "every_seconds"),
    ],
)
async def test_what_cannot_be_scheduled_changes_nothing(
    world: World, fields: dict[str, object], field: str
) -> None:
    workstream = await world.create("hello")
    before = world.recorded(workstream)
    with pytest.raises(Invalid) as refused:
        await scheduled(world, workstream, "bad", **fields)
    assert refused.value.field == field
    assert world.recorded(workstream) == before


@pytest.mark.req("K-93")
@pytest.mark.fault("F41")
async def test_a_wake_for_another_workstream_is_heard_there_once(
    world: World, schedules: Schedules, firing: Firing
) -> None:
    parent = await world.create("wait for my child")
    child, schedule_id = await made(world, target=parent)
    (run,) = take(schedules)
    await firing.fire(run.run_id)
    with world.database.begin() as connection:
        connection.exec_driver_sql("UPDATE schedule_runs SET state = 'handed'")
    await firing.fire(run.run_id)
    assert said(world, parent) == ["later is due"]
    assert said(world, child) == []
    (fired,) = [f for f in world.facts(child) if isinstance(f, ScheduleFired)]
    assert (fired.schedule_id, fired.run_id) == (schedule_id, run.run_id)


@pytest.mark.req("K-93")
async def test_a_wake_for_a_workstream_that_is_closed_is_skipped_with_the_reason(
    world: World, schedules: Schedules, firing: Firing
) -> None:
    parent = await world.create("done")
    _, schedule_id = await made(world, target=parent)
    await world.do(parent, CloseWorkstream("ines"))
    before = world.recorded(parent)
    (run,) = take(schedules)
    await firing.fire(run.run_id)
    assert world.recorded(parent) == before
    (ended,) = schedules.runs_of(schedule_id)
    assert ended.state == "skipped"


async def test_a_closed_workstream_takes_its_schedules_along(
    world: World, schedules: Schedules, firing: Firing
) -> None:
    workstream, schedule_id = await made(world)
    (run,) = take(schedules)
    await world.do(workstream, CloseWorkstream("ines"))
    assert any(
        isinstance(fact, ScheduleChanged) and fact.state == "canceled"
        for fact in world.facts(workstream)
    )
    await firing.fire(run.run_id)
    assert said(world, workstream) == []
    with pytest.raises(Conflict):
        await world.do(workstream, ChangeSchedule(schedule_id, "resume", "ines"))


async def test_an_unknown_schedule_is_named_with_those_that_are_there(world: World) -> None:
    workstream, _ = await made(world)
    with pytest.raises(NotFound, match="there are: later"):
        await world.do(workstream, ChangeSchedule("tide", "cancel", "ines"))
