"""Whether a model's provider may search by itself goes by the rules, the boundary, the settings."""

import pathlib
from collections.abc import AsyncIterator

import msgspec
import pytest

from redshank_node.tools.builtin import web_search
from redshank_node.tools.tool import WebAccess, Workspace
from redshank_shared.domain.commands import PostMessage
from redshank_shared.domain.delegation import UNBOUNDED, Boundary
from redshank_shared.domain.events import Mode, WorkstreamCreated
from redshank_shared.domain.ids import WorkstreamId
from redshank_shared.session_commands import first_facts
from redshank_shared.settings.sections import Tools
from redshank_shared.stores.database import Database
from tests.fakes.valkey import Valkey
from tests.integration.engine_world import World, fresh_id, now, says


@pytest.fixture
async def world(database: Database, valkey: Valkey) -> AsyncIterator[World]:
    made = World(database, valkey.url)
    yield made
    await made.redis.aclose()


async def searching(
    world: World,
    *,
    profile: str = "default",
    mode: Mode = "default",
    boundary: Boundary = UNBOUNDED,
    tools: Tools | None = None,
    web_search_of_model: bool = True,
) -> str:
    """Which tool the model's provider is told to carry out by itself."""
    workstream = WorkstreamId(fresh_id("ws"))
    created = WorkstreamCreated(
        name="t", owner="ines", mode=mode, profile=profile, boundary=boundary
    )
    await world.commands.create(
        workstream, first_facts(created, PostMessage("go", "ines"), now()), now()
    )
    async with world.node([says("done")], (web_search.TOOL,)) as node:
        node.model.settings = msgspec.structs.replace(
            node.model.settings, web_search=web_search_of_model
        )
        node._pipeline.workspace = Workspace(pathlib.Path("/"), WebAccess(tools or Tools()))
        await node.turns.take_up(workstream)
        await world.until_rest(workstream)
        return node.model.requests[0].own_search


@pytest.mark.req("T-31")
async def test_a_model_whose_provider_searches_does_so_where_the_tool_is_allowed(
    world: World,
) -> None:
    assert await searching(world) == "web_search"


@pytest.mark.req("T-31")
async def test_a_model_that_cannot_does_not(world: World) -> None:
    assert await searching(world, web_search_of_model=False) == ""


@pytest.mark.req("T-31")
@pytest.mark.parametrize("backend", ["searxng", "mcp:kagi:search"])
async def test_an_operator_who_names_a_backend_gets_it(world: World, backend: str) -> None:
    assert await searching(world, tools=Tools(web_search_backend=backend)) == ""


@pytest.mark.req("T-31")
async def test_where_a_person_is_asked_about_searches_the_tool_stays_a_tool(world: World) -> None:
    assert await searching(world, profile="turnstone") == ""
    assert await searching(world, profile="turnstone", mode="bypassPermissions") == "web_search"


@pytest.mark.req("T-31")
async def test_a_boundary_that_leaves_searching_out_leaves_this_out_too(world: World) -> None:
    boundary = Boundary(tools_deny=frozenset({"web_search"}))
    assert await searching(world, boundary=boundary) == ""
