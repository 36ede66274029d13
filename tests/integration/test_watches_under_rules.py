"""A watch polls as long as the rules let its command run: there is no side door (K-38, F75)."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from redshank_node.dueclock.firing import Firing, Polling
from redshank_node.engine.policy import Policy, policy_over
from redshank_node.engine.poll_permission import PollPermission
from redshank_node.tools.catalog import BUILTIN
from redshank_shared import clock
from redshank_shared.domain.cadence import Interval
from redshank_shared.domain.commands import ChangeMode, CreateSchedule, PostMessage
from redshank_shared.domain.delegation import Boundary
from redshank_shared.domain.due_events import WatchSpec
from redshank_shared.domain.errors import Unavailable
from redshank_shared.domain.events import MessagePosted, WorkstreamCreated
from redshank_shared.domain.ids import WorkstreamId
from redshank_shared.metrics import Metrics
from redshank_shared.session_commands import first_facts
from redshank_shared.stores.database import Database
from redshank_shared.stores.folds import Folds
from redshank_shared.stores.permission_rules import PROJECT, PermissionRules, RuleRow
from redshank_shared.stores.policy_revisions import PolicyRevisions
from redshank_shared.stores.schedules import Schedules
from redshank_shared.stores.watch_pushes import WatchPushes
from tests.fakes.valkey import Valkey
from tests.integration.due_world import make_due, take
from tests.integration.engine_world import World, fresh_id, now


@pytest.fixture
async def world(database: Database, valkey: Valkey) -> AsyncIterator[World]:
    made = World(database, valkey.url)
    yield made
    await made.redis.aclose()


def firing(world: World, folder: Path, policy: Policy) -> Firing:
    permission = PollPermission(world.database, Folds(world.log), policy)
    polling = Polling(folder, permission=permission)
    return Firing(
        world.database,
        Schedules(world.database),
        WatchPushes(world.database),
        world.commands,
        Metrics(),
        polling,
        "marsh-1",
        clock.now_utc,
    )


def deny(world: World, pattern: str) -> None:
    rule = RuleRow(
        rule_id=fresh_id("rul"),
        scope="project",
        subject=PROJECT,
        pattern=pattern,
        decision="deny",
        locked=False,
        origin="static",
        note="",
        created_by="ines",
        created_at=now(),
    )
    PermissionRules(world.database).put(rule)


async def watching(world: World) -> tuple[WorkstreamId, str]:
    workstream, schedule_id = await world.create("hello"), fresh_id("sch")
    spec = WatchSpec("touch polled", "exit_code != 0", 100)
    cadence = Interval(60, clock.now_ms() / 1000)
    await world.do(workstream, CreateSchedule(schedule_id, "tide", cadence, "", "ines", watch=spec))
    return workstream, schedule_id


async def polled(world: World, firing: Firing, schedule_id: str) -> str:
    """One poll; what is written down of it."""
    schedules = Schedules(world.database)
    make_due(world, schedule_id)
    (run,) = take(schedules)
    await firing.poll(run.run_id)
    return schedules.runs_of(schedule_id)[0].detail


def told(world: World, workstream: WorkstreamId) -> list[str]:
    facts = world.facts(workstream)
    return [fact.text for fact in facts if isinstance(fact, MessagePosted)][1:]


def state_of(world: World, schedule_id: str) -> str:
    row = Schedules(world.database).get(schedule_id)
    assert row is not None
    return row.state


@pytest.mark.req("K-38", "T-50")
@pytest.mark.parametrize("pattern", ["bash", "watch", "@process", "watch:create"])
async def test_a_rule_that_denies_its_command_stops_a_watch_that_runs(
    world: World, tmp_path: Path, pattern: str
) -> None:
    poller = firing(world, tmp_path, policy_over(world.database, BUILTIN, clock.monotonic))
    workstream, schedule_id = await watching(world)
    await polled(world, poller, schedule_id)
    (tmp_path / "polled").unlink()

    deny(world, pattern)
    poller = firing(world, tmp_path, policy_over(world.database, BUILTIN, clock.monotonic))
    detail = await polled(world, poller, schedule_id)

    assert not (tmp_path / "polled").exists()
    assert state_of(world, schedule_id) == "completed"
    assert detail.startswith(f"stopped: the project rule {pattern} denies ")
    (text,) = told(world, workstream)
    assert text.startswith("Watch tide was stopped, its command was not run: ")


@pytest.mark.req("K-27", "K-77")
@pytest.mark.parametrize("blocked", ["bash", "watch", "*"])
async def test_a_watch_is_no_way_around_a_boundary_that_blocks_commands(
    world: World, tmp_path: Path, blocked: str
) -> None:
    poller = firing(world, tmp_path, policy_over(world.database, BUILTIN, clock.monotonic))
    workstream, schedule_id = WorkstreamId(fresh_id("ws")), fresh_id("sch")
    boundary = Boundary(mode="bypassPermissions", tools_deny=frozenset((blocked,)))
    created = WorkstreamCreated(name="test", owner="ines", mode=boundary.mode, boundary=boundary)
    facts = first_facts(created, PostMessage("hello", "ines"), now())
    await world.commands.create(workstream, facts, now())
    spec = WatchSpec("touch polled", "exit_code != 0", 100)
    cadence = Interval(60, clock.now_ms() / 1000)
    await world.do(workstream, CreateSchedule(schedule_id, "tide", cadence, "", "ines", watch=spec))

    detail = await polled(world, poller, schedule_id)

    assert not (tmp_path / "polled").exists()
    assert state_of(world, schedule_id) == "completed"
    assert detail.startswith("stopped: the workstream's boundary blocks ")


@pytest.mark.req("K-35")
async def test_a_mode_that_denies_new_commands_lets_an_allowed_watch_go_on(
    world: World, tmp_path: Path
) -> None:
    poller = firing(world, tmp_path, policy_over(world.database, BUILTIN, clock.monotonic))
    workstream, schedule_id = await watching(world)
    await world.do(workstream, ChangeMode("plan", "ines"))

    await polled(world, poller, schedule_id)

    assert (tmp_path / "polled").exists()
    assert state_of(world, schedule_id) == "active"


class CutOffRevisions(PolicyRevisions):
    """A store that does not answer."""

    def all(self) -> dict[str, int]:
        raise Unavailable("the database does not answer")


@pytest.mark.fault("F-75")
async def test_while_the_rules_cannot_be_read_nothing_is_polled_and_nothing_ends(
    world: World, tmp_path: Path
) -> None:
    rules = PermissionRules(world.database)
    policy = Policy(world.database, rules, CutOffRevisions(world.database), (), clock.monotonic)
    workstream, schedule_id = await watching(world)

    detail = await polled(world, firing(world, tmp_path, policy), schedule_id)

    assert not (tmp_path / "polled").exists()
    assert "cannot be reached" in detail
    assert (state_of(world, schedule_id), told(world, workstream)) == ("active", [])
