"""Each hostile server behaves as its docstring says through the whole pipeline of a node."""

import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest

from redshank_node.mcp_client.supervisor import McpServers
from redshank_shared.domain.events import CallFinished
from redshank_shared.settings.mcp_server import McpServer
from redshank_shared.stores.database import Database
from redshank_shared.vault.redaction import Redactor
from tests.contract.mcp.case_servers import case, over_http
from tests.fakes.mcp_node import connected, status, until
from tests.fakes.valkey import Valkey
from tests.integration.engine_world import World, says
from tests.integration.mcp_turns import McpTurns, folder_of, results

MOST_OUTPUT_CHARACTERS = 70_000


@pytest.fixture
async def world(sqlite_template: Path, valkey: Valkey, tmp_path: Path) -> AsyncIterator[World]:
    shutil.copy(sqlite_template, tmp_path / "redshank.db")
    database = Database(f"sqlite:///{tmp_path}/redshank.db", synchronous="NORMAL")
    made = World(database, valkey.url)
    made.folder = folder_of(tmp_path)
    yield made
    await made.redis.aclose()
    database.close()


@asynccontextmanager
async def turns(
    world: World, *servers: McpServer, **around: Any
) -> AsyncIterator[tuple[McpTurns, McpServers]]:
    """An engine whose turns have the tools of these servers."""
    async with connected(world.folder, *servers, **around) as connections:
        yield McpTurns(world, connections), connections


def told(result: CallFinished) -> str:
    """What the server said, from between the marks."""
    first, _, rest = result.output.partition("\n")
    text, _, last = rest.rpartition("\n")
    assert first.startswith("[from the MCP server ")
    assert last.startswith("[end of what is from the MCP server ")
    return text


async def called(world: World, mcp: McpTurns, *tools: str) -> list[CallFinished]:
    """The results of these calls, one after the other in one turn."""
    workstream = await mcp.begun("bypassPermissions")
    return results(await mcp.go_on(workstream, *((tool, "{}") for tool in tools)))


@pytest.mark.req("K-57")
@pytest.mark.fault("F37")
async def test_what_a_server_asks_in_the_middle_of_a_call_reaches_no_model_and_no_person(
    world: World,
) -> None:
    async with turns(world, case("asks_back")) as (mcp, _):
        (result,) = await called(world, mcp, "mcp__asks_back__work")
    assert told(result) == "5"
    assert mcp.node is not None
    assert len(mcp.node.model.requests) == 2
    assert all("password?" not in str(request) for request in mcp.node.model.requests)


@pytest.mark.req("T-70")
async def test_noise_is_never_taken_for_an_answer(world: World) -> None:
    async with turns(world, case("banner", "bytes")) as (mcp, _):
        (result,) = await called(world, mcp, "mcp__banner__hello")
    assert told(result) == "hi"


@pytest.mark.req("K-70", "C-54")
@pytest.mark.fault("F67", "F43")
async def test_whatever_is_large_to_handle_ends_in_a_bounded_result_in_the_log(
    world: World,
) -> None:
    names = ("levels", "fields", "key", "items", "odd_text", "image", "small")
    async with turns(world, case("deep")) as (mcp, _):
        found = await called(world, mcp, *(f"mcp__deep__{name}" for name in names))
    by_name = dict(zip(names, found, strict=True))
    assert all(len(result.output) < MOST_OUTPUT_CHARACTERS for result in found)
    assert by_name["levels"].is_error
    assert "MCP server deep" in by_name["levels"].output
    assert "too deep" in by_name["levels"].output
    assert '"f126":126,"…":"[99873 more fields]"' in told(by_name["fields"])
    assert "k" * 512 in told(by_name["key"])
    assert "k" * 513 not in told(by_name["key"])
    assert told(by_name["items"]).endswith("item 63\n[936 more items left out]")
    assert told(by_name["odd_text"]) == "a�b�c�d"
    assert told(by_name["image"]).startswith("[image image/png, 7500000 bytes, kept as sha256:")
    assert told(by_name["small"]) == "ok"


@pytest.mark.req("K-60")
@pytest.mark.fault("F12", "F68")
async def test_a_commands_secret_is_in_no_result_and_it_sees_nothing_else_of_the_host(
    world: World,
) -> None:
    canary = "canary-3fb1c9d2"
    redactor = Redactor((canary,))

    async def value(_: str) -> str:
        return canary

    flooding = case("floods_stderr", env_secret_refs={"CANARY": "mcp.custom.canary"})
    async with turns(world, flooding, value=value, redact=redactor.of_log) as (mcp, servers):
        (result,) = await called(world, mcp, "mcp__floods_stderr__env")
        await until(lambda: status(servers, "floods_stderr").warnings != ())
    names = told(result).split()
    assert [name for name in names if name != "LC_CTYPE"] == ["CANARY"]
    assert canary not in "".join(map(str, (result, status(servers, "floods_stderr"))))


@pytest.mark.req("C-51", "C-52")
@pytest.mark.fault("F9", "F66")
async def test_a_cut_answer_is_of_unknown_outcome_and_no_token_leaks(world: World) -> None:
    bearer = {"Authorization": "Bearer canary-9b21"}
    with over_http("http_redirect") as address:
        good = McpServer(name="good", url=f"{address}/mcp", headers=bearer)
        moved = McpServer(name="moved", url=f"{address}/moved", headers=bearer)
        async with turns(world, good, moved) as (mcp, _):
            names = ("ok", "leaks", "cut", "cuts")
            found = await called(world, mcp, *(f"mcp__good__{name}" for name in names))
    ok, leaks, cut, cuts = found
    assert [told(ok), told(leaks), told(cuts)] == ["ok", "0", "1"]
    assert cut.is_error
    assert cut.output.startswith("Outcome unknown: MCP server good")
    assert mcp.node is not None
    shown = [tool.name for tool in mcp.node.model.requests[0].surface.tools]
    assert not [name for name in shown if name.startswith("mcp__moved")]


@pytest.mark.req("T-71", "K-66", "O19")
@pytest.mark.fault("F8")
async def test_no_name_is_cut_so_that_no_call_reaches_another_tool(world: World) -> None:
    works, wrong = f"mcp__long_names__{'a' * 40}", f"mcp__long_names__{'d' * 47}"
    async with turns(world, case("long_names")) as (mcp, _):
        result, missing = await called(world, mcp, works, wrong)
    assert told(result) == "40a"
    assert missing.output.startswith("tool_not_found")
    assert mcp.node is not None
    shown = [tool.name for tool in mcp.node.model.requests[0].surface.tools]
    assert [name for name in shown if name.startswith("mcp__")] == [works]


@pytest.mark.req("K-57")
async def test_older_protocols_work_and_an_unknown_one_fails_alone(world: World) -> None:
    versions = ("2024-11-05", "2025-03-26", "2025-06-18", "1999-01-01")
    servers = [
        msgspec.structs.replace(case("old_protocol", version), name=f"v{version[:4]}{version[5:7]}")
        for version in versions
    ]
    async with turns(world, *servers) as (mcp, connections):
        found = await called(world, mcp, *(f"mcp__{server.name}__version" for server in servers))
        failed = status(connections, "v199901")
    assert [told(result) for result in found[:3]] == list(versions[:3])
    assert found[3].output.startswith("tool_not_found")
    assert failed.state == "failed"
    assert "1999-01-01" in failed.detail


@pytest.mark.req("T-71")
@pytest.mark.parametrize("arguments", [(), ("stuck",)])
async def test_every_page_is_offered_once_in_order(
    world: World, arguments: tuple[str, ...]
) -> None:
    async with turns(world, case("pages", *arguments)) as (mcp, _):
        (result,) = await called(world, mcp, "mcp__pages__requests")
    assert int(told(result)) <= 8
    assert mcp.node is not None
    shown = [tool.name for tool in mcp.node.model.requests[0].surface.tools]
    names = [name.removeprefix("mcp__pages__") for name in shown if name.startswith("mcp__")]
    assert names == ["requests", "t1", "t2", "t3", "t4", "t5", "t6"]


@pytest.mark.req("T-73", "K-55")
@pytest.mark.fault("F10")
async def test_a_storm_of_notices_ends_in_the_newest_list_for_the_next_turn(world: World) -> None:
    async with turns(world, case("storm")) as (mcp, servers):

        def newest() -> bool:
            offered = servers.inventories()["storm"].tools
            return [tool.name for tool in offered][-1] == "extra_4"

        await until(newest)
        (result,) = await called(world, mcp, "mcp__storm__lists")
    assert int(told(result)) < 20
    assert mcp.node is not None
    first, second = mcp.node.model.requests
    assert first.surface == second.surface
    assert first.surface.tools[-1].name == "mcp__storm__extra_4"


@pytest.mark.req("T-71")
@pytest.mark.fault("F37")
async def test_two_calls_at_once_each_get_their_own_answer(world: World) -> None:
    async with turns(world, case("wrong_id")) as (mcp, _):
        workstream = await mcp.begun("bypassPermissions")
        both = says("", ("mcp__wrong_id__slow", "{}"), ("mcp__wrong_id__quick", "{}"))
        async with world.node([both, says("done")], ()) as node:
            await node.turns.take_up(workstream)
            await world.until_rest(workstream)
            await world.until(lambda: node.turns.busy == 0, "the slot is free")
        found = {
            fact.tool: fact for fact in world.facts(workstream) if isinstance(fact, CallFinished)
        }
    assert {told(result) for result in found.values()} == {"true 1", "true 2"}
    assert told(found["mcp__wrong_id__slow"]) != told(found["mcp__wrong_id__quick"])
