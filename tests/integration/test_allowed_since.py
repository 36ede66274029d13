"""What let a call run must still hold when it starts, where no person was asked about it."""

import json
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from redshank_shared.domain.commands import (
    ChangeMode,
    Command,
    Resolution,
    ResolveApprovals,
    RevokeGrant,
)
from redshank_shared.domain.events import CallDecided, CallFinished, Mode
from redshank_shared.domain.ids import WorkstreamId
from redshank_shared.settings.hooks import Hook
from redshank_shared.stores.database import Database
from tests.fakes.valkey import Valkey
from tests.integration.engine_world import Probe, World, WorldNode, says

WRITE = ("write_file", '{"text": "notes"}')
RUN = ("bash", '{"text": "ls"}')


@pytest.fixture
async def world(database: Database, valkey: Valkey) -> AsyncIterator[World]:
    made = World(database, valkey.url)
    yield made
    await made.redis.aclose()


async def allow(world: World, node: WorldNode, ws: WorkstreamId, scope: str = "once") -> None:
    """A person allows all that waits; the node goes on."""
    waiting = tuple(world.state(ws).approvals)
    answers = tuple(Resolution(each, "allow", scope=scope) for each in waiting)  # type: ignore[arg-type] # a parameter of the test
    await world.do(ws, ResolveApprovals(answers, "ines"))
    await node.turns.take_up(ws)
    await world.until_rest(ws)


def decided_last(world: World, ws: WorkstreamId, tool: str) -> CallDecided:
    facts = world.facts(ws)
    return [fact for fact in facts if isinstance(fact, CallDecided) and fact.tool == tool][-1]


@pytest.mark.req("O-20", "K-36")
@pytest.mark.fault("F39", "F7")
@pytest.mark.parametrize("mode", ["plan", "dontAsk", "default"])
async def test_a_mode_that_narrows_meanwhile_holds_for_what_nobody_was_asked_about(
    world: World, mode: Mode
) -> None:
    probe = Probe()
    async with world.node([says("", WRITE, RUN), says("done")], probe.tools()) as node:
        ws = await world.create("go", "acceptEdits")
        await node.turns.take_up(ws)
        await world.until_rest(ws)
        await world.do(ws, ChangeMode(mode, "ines"))
        await allow(world, node, ws)

    assert probe.ran == ["bash ls"]
    (refused, _) = [fact for fact in world.facts(ws) if isinstance(fact, CallFinished)]
    assert (refused.tool, refused.outcome) == ("write_file", "denied")
    assert decided_last(world, ws, "write_file").decision == "deny"


@pytest.mark.req("T-14")
async def test_a_grant_that_is_taken_back_meanwhile_lets_nothing_run(world: World) -> None:
    probe = Probe()
    steps = [says("", WRITE), says("", WRITE, RUN), says("done")]
    async with world.node(steps, probe.tools()) as node:
        ws = await world.create("go")
        await node.turns.take_up(ws)
        await world.until_rest(ws)
        await allow(world, node, ws, "workstream")
        assert probe.ran == ["write_file notes"]
        taken: Command = RevokeGrant("write_file", "ines")
        await world.do(ws, taken)
        await allow(world, node, ws)

    assert probe.ran == ["write_file notes", "bash ls"]
    denied = decided_last(world, ws, "write_file")
    assert denied.decision == "deny"
    assert "ask for it again" in denied.why


async def test_what_nothing_was_taken_from_runs_in_its_order(world: World) -> None:
    probe = Probe()
    async with world.node([says("", WRITE, RUN), says("done")], probe.tools()) as node:
        ws = await world.create("go", "acceptEdits")
        await node.turns.take_up(ws)
        await world.until_rest(ws)
        await world.do(ws, ChangeMode("bypassPermissions", "ines"))
        await allow(world, node, ws)

    assert probe.ran == ["write_file notes", "bash ls"]


@pytest.mark.req("K-78")
@pytest.mark.parametrize(("mode", "ran"), [("default", ["write_file notes"]), ("plan", [])])
async def test_what_a_hook_approved_stands_until_the_mode_denies_it(
    world: World, tmp_path: Path, mode: Mode, ran: list[str]
) -> None:
    program = tmp_path / "gate.py"
    program.write_text(f"print({json.dumps(json.dumps({'behavior': 'approve'}))})")
    command = (sys.executable, "-I", "-S", str(program))
    world.hooks = (Hook("gate", "permission_request", ("write_file",), command=command),)
    probe = Probe()
    async with world.node([says("", WRITE, RUN), says("done")], probe.tools()) as node:
        ws = await world.create("go")
        await node.turns.take_up(ws)
        await world.until_rest(ws)
        await world.do(ws, ChangeMode(mode, "ines"))
        await allow(world, node, ws)

    assert probe.ran == [*ran, "bash ls"]
