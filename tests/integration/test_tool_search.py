"""Tools of servers wait until a search finds them; what was found stays in sight."""

import json
import pathlib
from collections.abc import AsyncIterator, Iterator

import msgspec
import pytest

from redshank_node.engine.profiles_in_force import search_of, toolsets_of, workspace_of
from redshank_node.engine.tools_files import ToolsFiles
from redshank_node.engine.toolsets import Toolsets
from redshank_node.tools.catalog import BUILTIN
from redshank_node.tools.support.dynamic_tools import Offered
from redshank_node.tools.tool import (
    Away,
    CallContext,
    Prepared,
    Result,
    Tool,
    WebAccess,
    Workspace,
)
from redshank_shared.domain.commands import PostMessage, RequestCompaction
from redshank_shared.domain.delegation import UNBOUNDED, Boundary
from redshank_shared.domain.events import CallFinished, Mode, Preview, WorkstreamCreated
from redshank_shared.domain.ids import WorkstreamId
from redshank_shared.domain.tool_events import ToolsFound
from redshank_shared.profiles.profile import install
from redshank_shared.session_commands import first_facts
from redshank_shared.settings.load import load
from redshank_shared.stores.database import Database
from tests.fakes.valkey import Valkey
from tests.integration.engine_world import World, WorldNode, fresh_id, now, says

# What these ask of a database, both kinds are asked by the tests of turns.
pytestmark = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)

ISSUE = "mcp__forge__create_issue"
WEATHER = "mcp__sky__forecast"
MERGE = "mcp__forge__merge_request"


def remote(name: str, description: str) -> Tool:
    """A tool as a server would have it."""
    parameters = {"type": "object", "properties": {"text": {"type": "string"}}}

    def prepare(arguments: dict[str, object], _: Workspace) -> Prepared:
        return Prepared(arguments, Preview(name))

    async def run(prepared: Prepared, _: CallContext) -> Result:
        return Result(f"{name} did {prepared.arguments['text']}")

    return Tool(name, description, parameters, "mcp", prepare, run, "text")


TOOLS = (
    remote(ISSUE, "Open a new ticket in a project."),
    remote(MERGE, "Merge a branch into another."),
    remote(WEATHER, "Say how the weather will be at a place."),
)


class Servers:
    """What the servers of a node offer."""

    def __init__(self, tools: tuple[Tool, ...] = TOOLS) -> None:
        self.now = Offered(1, tools)

    def offer(self, *tools: Tool) -> None:
        self.now = Offered(self.now.revision + 1, tools)


@pytest.fixture
async def world(database: Database, valkey: Valkey, tmp_path: pathlib.Path) -> AsyncIterator[World]:
    made = World(database, valkey.url)
    made.folder = tmp_path / "workspace"
    made.folder.mkdir()
    yield made
    await made.redis.aclose()


@pytest.fixture(autouse=True)
def no_profile_outlives_its_test() -> Iterator[None]:
    yield
    install(())


def set_up(
    world: World, servers: Servers, settings: str = "", tools: tuple[Tool, ...] = BUILTIN
) -> None:
    """A node of this world with these servers, started with these settings."""
    file = world.folder.parent / "redshank.toml"
    file.write_text(f'[node]\nworkspace = "{world.folder}"\n{settings}')
    read = load(file, {})
    workspace = workspace_of(read, WebAccess())
    toolsets_of(read, tools, workspace)
    world.toolsets = Toolsets(
        tools,
        workspace,
        ToolsFiles(read, workspace.root),
        read.models,
        str(workspace.root),
        search_of(read),
        lambda _: servers.now,
    )


async def begun(
    world: World,
    *,
    profile: str = "default",
    boundary: Boundary = UNBOUNDED,
    parent: str = "",
    mode: Mode = "bypassPermissions",
) -> WorkstreamId:
    workstream = WorkstreamId(fresh_id("ws"))
    created = WorkstreamCreated(
        name="t",
        owner="ines",
        mode=mode,
        profile=profile,
        boundary=boundary,
        parent=parent,
    )
    await world.commands.create(
        workstream, first_facts(created, PostMessage("go", "ines"), now()), now()
    )
    return workstream


async def worked(world: World, node: WorldNode, workstream: WorkstreamId) -> None:
    """The turn that is due now, to its end."""
    await node.turns.take_up(workstream)
    await world.until_rest(workstream)
    await world.until(lambda: node.turns.busy == 0, "the slot is free")


def shown(node: WorldNode) -> list[list[str]]:
    """The names that each question showed, tools of servers and the search alone."""
    return [
        [
            tool.name
            for tool in request.surface.tools
            if tool.name.startswith("mcp__") or tool.name == "tool_search"
        ]
        for request in node.model.requests
    ]


def outputs(world: World, workstream: WorkstreamId) -> list[str]:
    return [fact.output for fact in world.facts(workstream) if isinstance(fact, CallFinished)]


def found(world: World, workstream: WorkstreamId) -> list[ToolsFound]:
    return [fact for fact in world.facts(workstream) if isinstance(fact, ToolsFound)]


def search(query: str) -> tuple[str, str]:
    return ("tool_search", json.dumps({"query": query}))


@pytest.mark.req("T-60", "T-62")
async def test_above_the_threshold_tools_of_servers_wait_until_they_are_found(
    world: World,
) -> None:
    set_up(world, Servers())
    script = [says("", search("open a ticket")), says("", (ISSUE, '{"text":"x"}')), says("Done.")]
    async with world.node(script, BUILTIN) as node:
        workstream = await begun(world)
        await worked(world, node, workstream)
        assert shown(node)[0] == ["tool_search"]
        tools = {tool.name: tool for tool in node.model.requests[0].surface.tools}
        assert tools["tool_search"].description.endswith(" 3 wait, from: forge, sky.")
        assert "bash" in [tool.name for tool in node.model.requests[0].surface.tools]
        assert ISSUE in shown(node)[1]
        assert WEATHER not in shown(node)[1]
    assert outputs(world, workstream)[1] == f"{ISSUE} did x"
    assert found(world, workstream)[0].names[0] == ISSUE


@pytest.mark.req("T-60")
@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ("", ["tool_search"]),
        ("[tools]\nsearch_threshold = 500", [ISSUE, MERGE, WEATHER]),
        ('[tools]\nsearch = "off"', [ISSUE, MERGE, WEATHER]),
        ('[tools]\nsearch = "on"\nsearch_threshold = 500', ["tool_search"]),
    ],
)
async def test_settings_say_when_tools_wait(
    world: World, settings: str, expected: list[str]
) -> None:
    set_up(world, Servers(), settings)
    async with world.node([says("Done.")], BUILTIN) as node:
        await worked(world, node, await begun(world))
        assert shown(node) == [expected]


@pytest.mark.req("T-60")
async def test_where_nothing_waits_there_is_no_search_unless_it_is_on(world: World) -> None:
    for settings, expected in (("", []), ('[tools]\nsearch = "on"', ["tool_search"])):
        set_up(world, Servers(()), settings)
        async with world.node([says("Done.")], BUILTIN) as node:
            await worked(world, node, await begun(world))
            assert shown(node) == [expected]


@pytest.mark.req("T-60")
async def test_a_profile_says_it_in_place_of_the_settings(world: World) -> None:
    own = world.folder.parent / "own.toml"
    own.write_text(
        'title = "Own"\n[tool_search]\nsearch_threshold = 500\n[tools]\ntool_search = {}'
    )
    set_up(world, Servers(), f'[profiles.own]\nfile = "{own}"')
    async with world.node([says("Done.")], BUILTIN) as node:
        await worked(world, node, await begun(world, profile="own"))
        assert shown(node) == [[ISSUE, MERGE, WEATHER]]


@pytest.mark.req("T-60")
async def test_one_search_brings_as_many_as_the_operator_says(world: World) -> None:
    many = tuple(remote(f"mcp__forge__list_{n}", "List tickets.") for n in range(30))
    set_up(world, Servers(many), "[tools]\nsearch_max_results = 3")
    async with world.node([says("", search("tickets")), says("Done.")], BUILTIN) as node:
        workstream = await begun(world)
        await worked(world, node, workstream)
        assert len(shown(node)[1]) == 1 + 3
    assert outputs(world, workstream)[0].startswith("3 tools found")


@pytest.mark.req("T-62")
async def test_what_was_found_stays_for_later_turns_on_another_node(world: World) -> None:
    set_up(world, Servers())
    async with world.node([says("", search("weather")), says("Done.")], BUILTIN) as first:
        workstream = await begun(world)
        await worked(world, first, workstream)
    set_up(world, Servers())
    async with world.node([says("Again.")], BUILTIN, "marsh-2") as second:
        await world.do(workstream, PostMessage("and now?", "ines"))
        await worked(world, second, workstream)
        assert shown(second) == [["tool_search", WEATHER]]


@pytest.mark.req("T-62")
async def test_what_was_found_outlasts_a_summary(world: World) -> None:
    set_up(world, Servers())
    script = [says("", search("weather")), says("Done."), says("The gist."), says("Again.")]
    async with world.node(script, BUILTIN) as node:
        workstream = await begun(world)
        await worked(world, node, workstream)
        await world.do(workstream, RequestCompaction("ines"))
        await worked(world, node, workstream)
        await world.do(workstream, PostMessage("and now?", "ines"))
        await worked(world, node, workstream)
        assert shown(node)[3] == ["tool_search", WEATHER]


@pytest.mark.req("T-62")
async def test_a_found_tool_that_vanished_is_passed_over_until_it_is_back(world: World) -> None:
    servers = Servers()
    set_up(world, servers)
    script = [says("", search("weather")), says("One."), says("Two."), says("Three.")]
    async with world.node(script, BUILTIN) as node:
        workstream = await begun(world)
        await worked(world, node, workstream)
        for tools in (TOOLS[:2], TOOLS):
            servers.offer(*tools)
            await world.do(workstream, PostMessage("and now?", "ines"))
            await worked(world, node, workstream)
        assert shown(node)[2:] == [["tool_search"], ["tool_search", WEATHER]]


@pytest.mark.req("T-62")
async def test_finding_the_same_again_is_no_new_fact(world: World) -> None:
    set_up(world, Servers())
    script = [says("", search("weather")), says("", search("weather")), says("Done.")]
    async with world.node(script, BUILTIN) as node:
        workstream = await begun(world)
        await worked(world, node, workstream)
    assert [fact.names for fact in found(world, workstream)] == [(WEATHER,)]


@pytest.mark.req("T-60")
async def test_a_waiting_tool_that_is_called_by_its_name_is_called(world: World) -> None:
    set_up(world, Servers())
    script = [says("", (MERGE, '{"text":"main"}')), says("Done.")]
    async with world.node(script, BUILTIN) as node:
        workstream = await begun(world)
        await worked(world, node, workstream)
    assert outputs(world, workstream) == [f"{MERGE} did main"]


@pytest.mark.req("T-60")
async def test_a_name_that_nothing_has_is_answered_with_where_to_look(world: World) -> None:
    set_up(world, Servers())
    async with world.node(
        [says("", ("mcp__forge__nothing", "{}")), says("Done.")], BUILTIN
    ) as node:
        workstream = await begun(world)
        await worked(world, node, workstream)
    (said,) = outputs(world, workstream)
    assert said.startswith("tool_not_found: there is no tool mcp__forge__nothing; there are ")
    assert said.endswith(", and 3 more that tool_search finds")
    assert WEATHER not in said


@pytest.mark.req("T-60")
async def test_an_answer_counts_what_was_searched_and_names_who_was_away(world: World) -> None:
    set_up(world, Servers())
    world.away = lambda: (Away("archive", "needs_login", "redshank mcp login archive"),)
    async with world.node([says("", search("zebra")), says("Done.")], BUILTIN) as node:
        workstream = await begun(world)
        await worked(world, node, workstream)
    assert outputs(world, workstream) == [
        "No tool fits. Say in other words what it should do.\n"
        "Searched 3 tools: forge 2, sky 1.\n"
        "Not searched: archive, which is needs_login: redshank mcp login archive"
    ]
    assert found(world, workstream) == []


@pytest.mark.req("T-63", "T-40")
async def test_a_child_sees_all_its_tools_and_has_no_search(world: World) -> None:
    set_up(world, Servers())
    async with world.node([says("", search("weather")), says("Done.")], BUILTIN) as node:
        workstream = await begun(world, parent="ws_parent")
        await worked(world, node, workstream)
        assert shown(node)[0] == [ISSUE, MERGE, WEATHER]
    assert outputs(world, workstream)[0].startswith("tool_not_found: ")


@pytest.mark.req("T-63")
async def test_an_exact_set_without_the_search_shows_all_of_itself(world: World) -> None:
    set_up(world, Servers(), '[tools]\nsearch = "on"')
    exact = Boundary(tools_allow=frozenset({"read_file", WEATHER, MERGE}))
    async with world.node([says("Done.")], BUILTIN) as node:
        await worked(world, node, await begun(world, boundary=exact))
        assert shown(node) == [[MERGE, WEATHER]]


@pytest.mark.req("T-63")
async def test_an_exact_set_is_searched_by_the_node_whatever_the_provider_can(
    world: World,
) -> None:
    set_up(world, Servers(), '[tools]\nsearch = "on"')
    exact = Boundary(tools_allow=frozenset({"tool_search", WEATHER}))
    script = [says("", search("anything at all, " + ISSUE)), says("", search("weather")), says("D")]
    async with world.node(script, BUILTIN) as node:
        node.model.settings = msgspec.structs.replace(node.model.settings, tool_search=True)
        workstream = await begun(world, boundary=exact)
        await worked(world, node, workstream)
        assert shown(node) == [["tool_search"], ["tool_search"], ["tool_search", WEATHER]]
        assert not any(t.deferred for r in node.model.requests for t in r.surface.tools)
    assert "Searched 1 tool: sky 1." in outputs(world, workstream)[0]


@pytest.mark.req("T-61", "T-62")
async def test_a_provider_that_searches_gets_what_waits_and_what_it_found_stays(
    world: World,
) -> None:
    set_up(world, Servers())
    searched = msgspec.structs.replace(says("Looked."), found_tools=(WEATHER, "mcp__none__such"))
    script = [searched, says("Two."), says("The gist."), says("Three.")]
    async with world.node(script, BUILTIN) as node:
        node.model.settings = msgspec.structs.replace(node.model.settings, tool_search=True)
        workstream = await begun(world)
        await worked(world, node, workstream)
        await world.do(workstream, PostMessage("and now?", "ines"))
        await worked(world, node, workstream)
        await world.do(workstream, RequestCompaction("ines"))
        await worked(world, node, workstream)
        await world.do(workstream, PostMessage("and now?", "ines"))
        await worked(world, node, workstream)
        requests = node.model.requests
        kept_back = [[t.name for t in r.surface.tools if t.deferred] for r in requests]
        # Behind a summary no block of the provider shows the tool any more.
        assert kept_back == [[ISSUE, MERGE, WEATHER]] * 2 + [[], [ISSUE, MERGE]]
        assert shown(node)[3] == [WEATHER, ISSUE, MERGE]
        assert requests[0].surface == requests[1].surface
    assert found(world, workstream) == [ToolsFound((WEATHER,), by_provider=True)]


@pytest.mark.req("T-61")
@pytest.mark.parametrize(("default", "native"), [("allow", True), ("ask", False), ("deny", False)])
async def test_a_provider_searches_only_where_a_search_would_ask_nobody(
    world: World, default: str, native: bool
) -> None:
    own = world.folder.parent / "own.toml"
    own.write_text(f'title = "Own"\n[tools]\ntool_search = {{ default = "{default}" }}')
    set_up(world, Servers(), f'[tools]\nsearch = "on"\n[profiles.own]\nfile = "{own}"')
    async with world.node([says("Done.")], BUILTIN) as node:
        node.model.settings = msgspec.structs.replace(node.model.settings, tool_search=True)
        await worked(world, node, await begun(world, profile="own", mode="default"))
        assert any(tool.deferred for tool in node.model.requests[0].surface.tools) == native
        assert ("tool_search" in shown(node)[0]) != native
