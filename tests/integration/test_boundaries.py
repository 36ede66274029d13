"""What a workstream may see or use: set when it begins, absent rather than denied."""

from collections.abc import AsyncIterator
from typing import Any

import msgspec
import pytest

from redshank_node.engine.surface import Surfaces
from redshank_node.tools.tool import Tool
from redshank_node.tools.toolbox import Toolbox
from redshank_shared.domain.commands import PostMessage
from redshank_shared.domain.delegation import UNBOUNDED, Boundary
from redshank_shared.domain.events import (
    CallDecided,
    CallFinished,
    Mode,
    TurnFailed,
    WorkstreamCreated,
)
from redshank_shared.domain.ids import WorkstreamId
from redshank_shared.domain.scopes import CapabilityScope, CredentialScope
from redshank_shared.session_commands import first_facts
from redshank_shared.stores.database import Database
from tests.fakes.valkey import Valkey
from tests.integration.console_world import RunningConsole
from tests.integration.engine_world import Probe, World, fresh_id, now, says

pytest_plugins = ("tests.integration.console_fixtures",)


@pytest.fixture
async def world(database: Database, valkey: Valkey) -> AsyncIterator[World]:
    made = World(database, valkey.url)
    yield made
    await made.redis.aclose()


async def begun(world: World, boundary: Boundary, mode: Mode = "bypassPermissions") -> WorkstreamId:
    workstream = WorkstreamId(fresh_id("ws"))
    created = WorkstreamCreated(name="t", owner="ines", mode=mode, boundary=boundary)
    facts = first_facts(created, PostMessage("go", "ines"), now())
    await world.commands.create(workstream, facts, now())
    return workstream


async def ran(world: World, boundary: Boundary, *tools: str) -> tuple[Probe, WorkstreamId, Any]:
    """A turn in which the model calls these tools at once; what it was offered."""
    probe = Probe()
    steps = [says("", *((tool, '{"text":"x"}') for tool in tools)), says("done")]
    async with world.node(steps, probe.tools()) as node:
        workstream = await begun(world, boundary)
        await node.turns.take_up(workstream)
        await world.until_rest(workstream)
        surface = node.model.requests[0].surface
    return probe, workstream, surface


def outputs(world: World, workstream: WorkstreamId) -> list[str]:
    return [fact.output for fact in world.facts(workstream) if isinstance(fact, CallFinished)]


@pytest.mark.req("K-5", "K-27")
async def test_a_tool_that_is_left_out_is_absent_and_called_in_vain(world: World) -> None:
    boundary = Boundary(tools_deny=frozenset({"bash"}))
    probe, workstream, surface = await ran(world, boundary, "look", "bash")
    assert [tool.name for tool in surface.tools] == ["look", "hold", "write_file"]
    assert probe.ran == ["look x"]
    (audit,) = [
        fact
        for fact in world.facts(workstream)
        if isinstance(fact, CallDecided) and fact.tool == "bash"
    ]
    assert (audit.decision, audit.origin) == ("deny", "boundary")
    assert "unavailable" in audit.why


@pytest.mark.req("K-5")
@pytest.mark.fault("F7")
async def test_what_is_hidden_is_answered_as_what_does_not_exist(world: World) -> None:
    boundary = Boundary(tools_allow=frozenset({"look"}))
    _, workstream, _ = await ran(world, boundary, "bash", "no_such_tool")
    hidden, unknown = outputs(world, workstream)
    assert hidden == "tool_not_found: there is no tool bash; there are look"
    assert unknown.replace("no_such_tool", "bash") == hidden


@pytest.mark.req("K-77")
async def test_an_empty_list_of_tools_leaves_none(world: World) -> None:
    probe, _, surface = await ran(world, Boundary(tools_allow=frozenset()), "look")
    assert surface.tools == ()
    assert probe.ran == []


def remote(name: str) -> Tool:
    look, *_ = Probe().tools()
    return msgspec.structs.replace(look, name=name, effect="mcp")


@pytest.mark.req("K-72", "K-73", "K-85")
def test_of_servers_tools_only_those_of_visible_servers_are_there() -> None:
    names = ("mcp__github__list_prs", "mcp__linear__search", "read_mcp_resource")
    surfaces = Surfaces(Toolbox(tuple(map(remote, names))))
    github = CapabilityScope(mcp_server_allow=frozenset({"github"}))
    seen = surfaces.of(Boundary(capability=github)).tools
    assert [tool.name for tool in seen] == ["mcp__github__list_prs", "read_mcp_resource"]
    denied = CapabilityScope(mcp_server_deny=frozenset({"github"}))
    assert not surfaces.offers(Boundary(capability=denied), remote("mcp__github__list_prs"))


async def test_without_a_boundary_every_tool_is_there(world: World) -> None:
    _, _, surface = await ran(world, UNBOUNDED, "look")
    assert [tool.name for tool in surface.tools] == ["look", "bash", "hold", "write_file"]


@pytest.mark.req("K-72", "K-76")
async def test_a_model_outside_the_credential_scope_is_not_asked(world: World) -> None:
    outside = CredentialScope(route_allow=frozenset({"another"}))
    async with world.node([says("never")], Probe().tools()) as node:
        workstream = await begun(world, Boundary(credentials=outside))
        await node.turns.take_up(workstream)
        await world.until_rest(workstream)
        assert node.model.requests == []
    (failed,) = [fact for fact in world.facts(workstream) if isinstance(fact, TurnFailed)]
    assert failed.code == "route_not_usable"


async def created(console: RunningConsole, **body: Any) -> tuple[int, dict[str, Any]]:
    answer = await console.client.post("/v1/workstreams", json=body)
    return answer.status_code, answer.json()


async def boundary_of(console: RunningConsole, workstream: str) -> dict[str, Any]:
    event = (await console.events(WorkstreamId(workstream)))[0]
    boundary: dict[str, Any] = event["boundary"]
    return boundary


@pytest.mark.req("K-26", "K-27")
@pytest.mark.fault("F6", "F71")
async def test_a_child_gets_the_mode_of_its_parent_and_no_wider_one(
    console: RunningConsole,
) -> None:
    _, parent = await created(console, mode="acceptEdits")
    _, child = await created(console, parent=parent["id"])
    assert child["mode"] == "acceptEdits"
    status, narrower = await created(console, parent=parent["id"], mode="plan")
    assert (status, narrower["mode"]) == (201, "plan")
    before = (await console.client.get("/v1/workstreams")).json()["total"]
    status, refused = await created(console, parent=parent["id"], mode="bypassPermissions")
    assert (status, refused["field"]) == (403, "mode")
    assert (await console.client.get("/v1/workstreams")).json()["total"] == before


@pytest.mark.req("K-27", "K-74", "K-77")
async def test_a_child_regains_nothing_that_its_parent_has_not(console: RunningConsole) -> None:
    _, parent = await created(
        console,
        blocked_tools=["bash"],
        capability_scope={"mcp_server_allow": ["github", "linear"]},
    )
    status, child = await created(
        console,
        parent=parent["id"],
        blocked_tools=["write_file"],
        capability_scope={"mcp_server_allow": ["github"]},
    )
    assert status == 201
    boundary = await boundary_of(console, child["id"])
    assert sorted(boundary["tools_deny"]) == ["bash", "write_file"]
    assert boundary["capability"]["mcp_server_allow"] == ["github"]
    status, refused = await created(
        console, parent=parent["id"], capability_scope={"mcp_server_allow": ["jira"]}
    )
    assert (status, refused["field"]) == (403, "capability_scope.mcp_server_allow")


@pytest.mark.req("K-73")
@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"capability_scope": {"mcp_tool_deny": ["mcp__*"]}}, "capability_scope.mcp_tool_deny"),
        ({"capability_scope": {"mcp_server": ["x"]}}, "capability_scope.mcp_server"),
        (
            {"credential_scope": {"connector_credential_allow": ["smtp"]}},
            "credential_scope.connector_credential_allow",
        ),
        ({"allowed_tools": [""]}, "allowed_tools"),
        ({"allowed_tools": ["mcp__linear__*"]}, "allowed_tools"),
        ({"blocked_tools": ["bash", "mcp__*"]}, "blocked_tools"),
    ],
)
async def test_a_scope_that_cannot_be_meant_is_refused_by_its_list(
    console: RunningConsole, body: dict[str, Any], field: str
) -> None:
    status, refused = await created(console, **body)
    assert status == 422
    assert refused["field"].startswith(field)


@pytest.mark.req("K-72")
async def test_a_workstream_may_not_name_a_model_that_its_scope_leaves_out(
    console: RunningConsole,
) -> None:
    status, refused = await created(console, credential_scope={"route_allow": ["openai"]})
    assert (status, refused["field"]) == (403, "model")
    status, _ = await created(console, credential_scope={"route_allow": ["demo"]})
    assert status == 201


def test_a_log_from_before_boundaries_has_none() -> None:
    old = WorkstreamCreated(name="t", owner="ines")
    assert old.boundary == UNBOUNDED == Boundary(capability=CapabilityScope())
