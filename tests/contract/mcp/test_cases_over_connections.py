"""Each hostile server behaves as its docstring says, at the level of connections."""

import asyncio
from pathlib import Path

import pytest

from redshank_node.mcp_client.calling import ImageContent
from redshank_node.mcp_client.failures import OutcomeUnknown, ProtocolFailure
from redshank_node.mcp_client.supervisor import McpServers
from redshank_shared.settings.mcp_server import McpServer
from redshank_shared.vault.redaction import Redactor
from tests.contract.mcp.case_servers import case, over_http, text
from tests.fakes.mcp_node import connected, status, until

SECONDS = 60.0


async def call(servers: McpServers, server: str, tool: str) -> str:
    return text(await servers.call(server, tool, {}, SECONDS))


@pytest.mark.req("K-57")
@pytest.mark.fault("F37")
async def test_whatever_a_server_asks_in_the_middle_of_a_call_is_answered(tmp_path: Path) -> None:
    async with connected(tmp_path, case("asks_back")) as servers:
        assert await call(servers, "asks_back", "work") == "5"


@pytest.mark.req("T-70")
@pytest.mark.parametrize("arguments", [(), ("bytes",)])
async def test_lines_that_are_no_messages_are_skipped_and_kept_as_warnings(
    tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    async with connected(tmp_path, case("banner", *arguments)) as servers:
        assert await call(servers, "banner", "hello") == "hi"
        found = status(servers, "banner")
        assert found.state == "connected"
        assert any("ACME server" in line for line in found.warnings)
        assert len(found.warnings) <= 20
        assert all(len(line) <= 320 for line in found.warnings)


@pytest.mark.req("T-70")
@pytest.mark.fault("F67")
async def test_answers_that_are_too_deep_or_too_large_cost_only_their_call(tmp_path: Path) -> None:
    async with connected(tmp_path, case("deep")) as servers:
        with pytest.raises(ProtocolFailure, match="MCP server deep.*nested too deep"):
            await call(servers, "deep", "levels")
        fields = await servers.call("deep", "fields", {}, SECONDS)
        assert len(fields.structured) == 100_000
        key = await servers.call("deep", "key", {}, SECONDS)
        assert list(key.structured) == ["k" * 100_000]
        items = await servers.call("deep", "items", {}, SECONDS)
        assert len(items.content) == 1000
        assert "\ud800" not in await call(servers, "deep", "odd_text")
        (image,) = (await servers.call("deep", "image", {}, SECONDS)).content
        assert isinstance(image, ImageContent)
        assert (image.media_type, len(image.data)) == ("image/png", 10_000_000)
        assert await call(servers, "deep", "small") == "ok"


@pytest.mark.req("K-60")
@pytest.mark.fault("F12", "F67", "F68")
async def test_a_flood_on_stderr_stalls_nobody_and_shows_no_secret(tmp_path: Path) -> None:
    canary = "canary-3fb1c9d2"
    redactor = Redactor((canary,))

    async def value(slot: str) -> str:
        assert slot == "mcp.custom.canary"
        return canary

    flooding = case("floods_stderr", env_secret_refs={"CANARY": "mcp.custom.canary"})
    around = {"value": value, "redact": redactor.of_log}
    async with connected(tmp_path, flooding, case("banner"), **around) as servers:
        async with asyncio.TaskGroup() as group:
            large = {"pad": "x" * 1_000_000}
            pad = group.create_task(servers.call("floods_stderr", "env", large, SECONDS))
            assert await call(servers, "banner", "hello") == "hi"
        names = text(pad.result()).split()
        # Python sets LC_CTYPE itself where the locale is C.
        assert [name for name in names if name != "LC_CTYPE"] == ["CANARY"]
        await until(lambda: any("token is" in line for line in shown(servers)))
        assert canary not in "".join(shown(servers))
        assert sum(map(len, shown(servers))) < 10_000


def shown(servers: McpServers) -> tuple[str, ...]:
    return status(servers, "floods_stderr").warnings


@pytest.mark.req("K-57", "C-52")
@pytest.mark.fault("F66", "F67")
async def test_odd_event_streams_work_and_no_token_follows_a_redirect(tmp_path: Path) -> None:
    bearer = {"Authorization": "Bearer canary-9b21"}
    with over_http("http_redirect") as address:
        good = McpServer(name="good", url=f"{address}/mcp", headers=bearer)
        moved = McpServer(name="moved", url=f"{address}/moved", headers=bearer)
        async with connected(tmp_path, good, moved) as servers:
            assert status(servers, "moved").state == "failed"
            assert "redirects to http://127.0.0.1:" in status(servers, "moved").detail
            assert await call(servers, "good", "ok") == "ok"
            assert await call(servers, "good", "leaks") == "0"


@pytest.mark.req("C-51")
@pytest.mark.fault("F9")
async def test_a_call_whose_stream_is_cut_is_of_unknown_outcome_and_not_sent_again(
    tmp_path: Path,
) -> None:
    with over_http("http_redirect") as address:
        async with connected(tmp_path, McpServer(name="good", url=f"{address}/mcp")) as servers:
            with pytest.raises(OutcomeUnknown, match="MCP server good.*not known"):
                await call(servers, "good", "cut")
            assert await call(servers, "good", "cuts") == "1"


@pytest.mark.req("K-66", "T-71")
@pytest.mark.fault("F8")
async def test_tools_whose_names_are_too_long_are_dropped_alone(tmp_path: Path) -> None:
    async with connected(tmp_path, case("long_names")) as servers:
        inventory = servers.inventories()["long_names"]
        assert [tool.name for tool in inventory.tools] == ["a" * 40]
        assert [dropped.name[0] for dropped in inventory.dropped] == ["b", "c", "d", "d"]
        assert all("64 are allowed" in dropped.why for dropped in inventory.dropped)
        assert await call(servers, "long_names", "a" * 40) == "40a"


@pytest.mark.req("K-57")
@pytest.mark.parametrize("version", ["2024-11-05", "2025-03-26", "2025-06-18"])
async def test_every_older_protocol_works(tmp_path: Path, version: str) -> None:
    async with connected(tmp_path, case("old_protocol", version)) as servers:
        assert await call(servers, "old_protocol", "version") == version
        assert status(servers, "old_protocol").protocol == version


@pytest.mark.req("O18")
@pytest.mark.fault("F9")
async def test_a_protocol_that_nobody_speaks_fails_that_server_alone(tmp_path: Path) -> None:
    async with connected(tmp_path, case("old_protocol", "1999-01-01"), case("banner")) as servers:
        failed = status(servers, "old_protocol")
        assert failed.state == "failed"
        assert "1999-01-01" in failed.detail
        assert "2026-07-28" in failed.detail
        assert "bring the server up to date" in failed.detail
        assert await call(servers, "banner", "hello") == "hi"


@pytest.mark.req("T-75")
@pytest.mark.parametrize("arguments", [(), ("stuck",)])
async def test_every_page_is_read_once_and_in_order(
    tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    async with connected(tmp_path, case("pages", *arguments)) as servers:
        names = [tool.name for tool in servers.inventories()["pages"].tools]
        assert names == ["requests", "t1", "t2", "t3", "t4", "t5", "t6"]
        assert int(await call(servers, "pages", "requests")) <= 5
        warned = any("cursor" in line for line in status(servers, "pages").warnings)
        assert warned == bool(arguments)


@pytest.mark.req("T-74")
@pytest.mark.fault("F10", "F37")
async def test_a_storm_of_notices_leads_to_few_lists_and_to_the_newest(tmp_path: Path) -> None:
    async with connected(tmp_path, case("storm")) as servers:
        await until(lambda: len(servers.inventories()["storm"].tools) == 5)
        names = [tool.name for tool in servers.inventories()["storm"].tools]
        assert names == ["lists", "extra_1", "extra_2", "extra_3", "extra_4"]
        assert 4 <= int(await call(servers, "storm", "lists")) <= 12


@pytest.mark.req("T-70")
@pytest.mark.fault("F67")
async def test_only_the_answer_to_what_was_asked_counts(tmp_path: Path) -> None:
    async with connected(tmp_path, case("wrong_id")) as servers:
        assert await call(servers, "wrong_id", "quick") == "true 1"
        async with asyncio.TaskGroup() as group:
            slow = group.create_task(call(servers, "wrong_id", "slow"))
            await until(lambda: status(servers, "wrong_id").calls == 2)
            quick = group.create_task(call(servers, "wrong_id", "quick"))
        assert (slow.result(), quick.result()) == ("true 2", "true 3")
        warnings = status(servers, "wrong_id").warnings
        assert any("nothing that was asked" in line for line in warnings)
