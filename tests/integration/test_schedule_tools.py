"""A model makes, reads, changes schedules by its tools: the facts with the row, or neither."""

from collections.abc import AsyncIterator, Mapping, Sequence

import msgspec
import pytest

from redshank_node.engine.schedule_reader import ScheduleReader
from redshank_node.tools.catalog import BUILTIN
from redshank_shared import clock
from redshank_shared.domain.cadence import LAST_MOMENT, Once
from redshank_shared.domain.commands import (
    ChangeSchedule,
    CreateSchedule,
    Resolution,
    ResolveApprovals,
)
from redshank_shared.domain.due_events import (
    ScheduleChanged,
    ScheduleCreated,
    ScheduleTriggered,
    WatchSpec,
)
from redshank_shared.domain.events import (
    ApprovalRequested,
    CallDecided,
    CallFinished,
    Mode,
    kind_of,
)
from redshank_shared.domain.ids import WorkstreamId
from redshank_shared.stores.database import Database
from redshank_shared.stores.paging import LARGEST_PAGE
from redshank_shared.stores.schedules import ScheduleRow, Schedules
from tests.fakes.valkey import Valkey
from tests.integration.engine_world import World, says

Asked = tuple[str, Mapping[str, object]]

TICK: Asked = (
    "schedule_create",
    {"name": "tick", "message": "t", "interval": {"every_seconds": 60}},
)


@pytest.fixture
async def world(database: Database, valkey: Valkey) -> AsyncIterator[World]:
    made = World(database, valkey.url)
    yield made
    await made.redis.aclose()


async def carried_out(
    world: World, *steps: Sequence[Asked], mode: Mode = "default"
) -> WorkstreamId:
    """A workstream whose model has called these tools, step by step, and has come to rest."""
    answers = [
        says("now", *((tool, msgspec.json.encode(given).decode()) for tool, given in step))
        for step in steps
    ]
    async with world.node([*answers, says("done")], BUILTIN) as node:
        workstream = await world.create("look after it", mode)
        await node.turns.take_up(workstream)
        await world.until_rest(workstream)
    return workstream


def results(world: World, workstream: WorkstreamId) -> list[CallFinished]:
    return [fact for fact in world.facts(workstream) if isinstance(fact, CallFinished)]


def rows(world: World, workstream: WorkstreamId) -> dict[str, ScheduleRow]:
    """The rows by name, checked against the log: both say the same of what is not over."""
    there = Schedules(world.database).page(workstream).items
    alive = {row.schedule_id for row in there if row.state in ("active", "paused")}
    assert set(world.state(workstream).schedules) == alive
    return {row.spec.name: row for row in there}


def watch(name: str) -> Asked:
    return ("watch", {"action": "create", "name": name, "command": "date", "stop_on": "changed"})


@pytest.mark.req("K-22", "K-23")
async def test_a_wake_is_in_the_append_of_its_result_with_a_row_that_comes_due(
    world: World,
) -> None:
    before = clock.now_ms() / 1000
    workstream = await carried_out(world, [("wake_after", {"delay": "10m", "message": "look"})])
    kinds = [kind_of(fact) for fact in world.facts(workstream)]
    assert kinds[kinds.index("call.started") :][:3] == [
        "call.started",
        "call.finished",
        "schedule.created",
    ]
    (created,) = [fact for fact in world.facts(workstream) if isinstance(fact, ScheduleCreated)]
    (row,) = rows(world, workstream).values()
    assert row.spec == created
    assert (row.kind, row.state, created.message, created.by) == ("once", "active", "look", "agent")
    assert row.next_due == created.next_due
    assert before + 600 <= created.next_due <= clock.now_ms() / 1000 + 600
    (result,) = results(world, workstream)
    assert not result.is_error
    assert created.schedule_id == f"sch_{result.call_id.removeprefix('call_')}"


@pytest.mark.req("K-23", "T-54")
@pytest.mark.parametrize("together", [True, False])
async def test_a_name_that_is_taken_is_refused_with_the_mend_beside_it_or_after_it(
    world: World, together: bool
) -> None:
    steps = [[TICK, TICK]] if together else [[TICK], [TICK]]
    workstream = await carried_out(world, *steps)
    refused = [result for result in results(world, workstream) if result.is_error]
    assert [(each.outcome, each.output) for each in refused] == [
        (
            "refused",
            "a schedule called tick is active here; choose another name or cancel it",
        )
    ]
    assert list(rows(world, workstream)) == ["tick"]


@pytest.mark.req("T-54")
async def test_a_sixth_watch_is_refused_until_one_is_cancelled(world: World) -> None:
    workstream = await carried_out(
        world,
        [watch(f"w{number}") for number in range(1, 7)],
        [("watch", {"action": "cancel", "name": "w2"})],
        [watch("w6")],
        mode="bypassPermissions",
    )
    outcomes = [(result.outcome, result.output) for result in results(world, workstream)]
    assert [outcome for outcome, _ in outcomes] == ["ok"] * 5 + ["refused", "ok", "ok"]
    assert outcomes[5][1] == "5 watches are active in this workstream; cancel one first"
    states = {name: row.state for name, row in rows(world, workstream).items()}
    assert states == {
        **dict.fromkeys(("w1", "w3", "w4", "w5", "w6"), "active"),
        "w2": "canceled",
    }


@pytest.mark.req("T-28", "T-50")
async def test_making_a_watch_asks_a_person_who_sees_the_command(world: World) -> None:
    asked = ("watch", '{"action":"create","name":"pr","command":"gh pr view 7"}')
    async with world.node([says("now", asked), says("done")], BUILTIN) as node:
        workstream = await world.create("watch the pull request")
        await node.turns.take_up(workstream)
        assert (await world.until_rest(workstream)).approvals
        (request,) = [
            fact for fact in world.facts(workstream) if isinstance(fact, ApprovalRequested)
        ]
        assert rows(world, workstream) == {}
        assert request.preview.title == "watch pr every 5m until the output changes"
        assert (request.preview.kind, request.preview.body) == ("command", "gh pr view 7")
        allow = ResolveApprovals((Resolution(request.request_id, "allow"),), "ines")
        await world.do(workstream, allow)
        await node.turns.take_up(workstream)
        await world.until(lambda: bool(rows(world, workstream)), "the watch is there")
        await world.until_rest(workstream)
    (row,) = rows(world, workstream).values()
    assert (row.kind, row.spec.watch) == ("watch", WatchSpec("gh pr view 7", "", 100))


@pytest.mark.req("T-28", "T-50")
async def test_listing_watches_or_cancelling_one_asks_nobody(world: World) -> None:
    workstream = await carried_out(
        world,
        [("watch", {"action": "list"}), ("watch", {"action": "cancel", "name": "none"})],
    )
    listed, cancelled = results(world, workstream)
    assert (listed.output, listed.is_error) == ("[no watch]", False)
    assert cancelled.output == "name: no watch is called none; there are: none"
    decided = [fact for fact in world.facts(workstream) if isinstance(fact, CallDecided)]
    assert [fact.decision for fact in decided] == ["allow", "allow"]


@pytest.mark.req("T-50", "K-36")
async def test_where_nobody_may_be_asked_no_watch_is_made(world: World) -> None:
    workstream = await carried_out(world, [watch("pr")], mode="dontAsk")
    (result,) = results(world, workstream)
    assert result.outcome == "denied"
    assert "watch:create" in result.output
    assert rows(world, workstream) == {}


@pytest.mark.req("K-37", "K-23")
async def test_plan_mode_reads_schedules_but_makes_or_changes_none(world: World) -> None:
    calls: list[Asked] = [
        ("schedule_list", {}),
        ("schedule_get", {"id": "tick"}),
        TICK,
        ("wake_after", {"delay": "5m", "message": "x"}),
        ("wake_at", {"at": "2199-01-01T00:00:00Z", "message": "x"}),
        ("schedule_pause", {"id": "tick"}),
        ("schedule_resume", {"id": "tick"}),
        ("schedule_cancel", {"id": "tick"}),
        ("schedule_trigger_now", {"id": "tick"}),
        watch("pr"),
    ]
    workstream = await carried_out(world, calls, mode="plan")
    outcomes = {result.tool: result.outcome for result in results(world, workstream)}
    assert outcomes.pop("schedule_list") == "ok"
    assert outcomes.pop("schedule_get") == "error"
    assert outcomes == dict.fromkeys((tool for tool, _ in calls[2:]), "denied")
    assert rows(world, workstream) == {}


@pytest.mark.req("T-50", "T-51", "K-22", "K-86", "K-87")
@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ((*watch("a")[:1], {**watch("a")[1], "stop_on": "output =="}), "stop_on"),
        ((*watch("a")[:1], {**watch("a")[1], "stop_on": "output =="}), "column"),
        ((*watch("a")[:1], {**watch("a")[1], "poll_every": "9s"}), "poll_every must be from 10s"),
        (("wake_at", {"at": "2020-01-01T00:00:00Z", "message": "x"}), "at: 2020-01-01T00:00:00"),
        (
            ("schedule_create", {**TICK[1], "interval": {"every_seconds": 4}}),
            "interval.every_seconds must be between 5",
        ),
        (
            (
                "schedule_create",
                {"name": "n", "message": "m", "cron": {"expression": "0 0 30 2 *"}},
            ),
            "never fires",
        ),
        (
            (
                "schedule_create",
                {
                    "name": "n",
                    "message": "m",
                    "cron": {"expression": "@daily", "timezone": "Mars/Base"},
                },
            ),
            "cron.timezone: there is no time zone 'Mars/Base'",
        ),
    ],
)
async def test_bad_input_is_a_clear_error_that_asks_nobody_with_nothing_changed(
    world: World, asked: Asked, said: str
) -> None:
    workstream = await carried_out(world, [asked])
    (result,) = results(world, workstream)
    assert result.is_error
    assert said in result.output
    assert rows(world, workstream) == {}
    assert not world.state(workstream).approvals


@pytest.mark.req("K-23", "K-90")
async def test_a_schedule_is_paused_resumed_triggered_cancelled_by_name(world: World) -> None:
    workstream = await carried_out(
        world,
        [TICK],
        [("schedule_pause", {"id": "tick"})],
        [("schedule_trigger_now", {"id": "tick"})],
        [("schedule_resume", {"id": "tick"})],
        [("schedule_trigger_now", {"id": "tick"})],
        [("schedule_get", {"id": "tick"})],
        [("schedule_cancel", {"id": "tick"})],
        [("schedule_cancel", {"id": "tick"})],
        [("schedule_list", {"state": "all"})],
    )
    told = [(result.outcome, result.output) for result in results(world, workstream)]
    assert [outcome for outcome, _ in told] == ["ok"] * 7 + ["refused", "ok"]
    assert "tick: every 1m, active, next " in told[5][1]
    assert told[7][1] == "no active schedule is called tick; there are: none"
    assert "tick: every 1m, canceled" in told[8][1]
    facts = world.facts(workstream)
    states = [fact.state for fact in facts if isinstance(fact, ScheduleChanged)]
    assert states == ["paused", "active", "canceled"]
    triggered = [fact for fact in facts if isinstance(fact, ScheduleTriggered)]
    runs = [Schedules(world.database).run(fact.run_id) for fact in triggered]
    (row,) = rows(world, workstream).values()
    assert [run and run.schedule_id for run in runs] == [row.schedule_id] * 2


@pytest.mark.req("K-23")
async def test_what_is_active_is_found_behind_a_page_of_what_is_over(world: World) -> None:
    workstream = await carried_out(world, [TICK])
    for number in range(LARGEST_PAGE):
        made = CreateSchedule(f"sch_{number}", f"n{number}", Once(LAST_MOMENT - 1), "ines", "m")
        await world.do(workstream, made)
        await world.do(workstream, ChangeSchedule(f"n{number}", "cancel", "ines"))
    found = await ScheduleReader(world.database, Schedules(world.database)).of(workstream)
    assert len(found) == LARGEST_PAGE + 1
    assert [each.name for each in found if each.state == "active"] == ["tick"]
