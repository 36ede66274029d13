"""MCP servers over the whole cluster: added, asked again, removed on every node, never lost."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest

from redshank_node.mcp_client import overlay
from redshank_shared.domain.errors import Misconfigured
from redshank_shared.queue.appended_feed import AppendedFeed
from redshank_shared.stores.services import Services
from tests.fakes.valkey import Valkey
from tests.integration.console_world import RunningConsole, running, settings_for
from tests.integration.mcp_cluster_world import McpNode, mcp_node, shelf, shelf_record, until

pytest_plugins = ("tests.integration.console_fixtures",)
pytestmark = pytest.mark.timeout(180)


class TwoNodes:
    """A console with two nodes over the same stores."""

    def __init__(self, console: RunningConsole, nodes: list[McpNode], folder: Path) -> None:
        self.console = console
        self.nodes = nodes
        self.folder = folder

    async def add(self, name: str, file: Path, **more: Any) -> dict[str, Any]:
        body = {"name": name, **shelf_record(file), **more}
        answer = await self.console.client.post("/v1/mcp/servers", json=body)
        assert answer.status_code == 201, answer.text
        return dict(answer.json())

    async def shown(self, name: str) -> dict[str, Any]:
        answer = await self.console.client.get(f"/v1/mcp/servers/{name}")
        assert answer.status_code == 200, answer.text
        return dict(answer.json())

    async def post(self, path: str, status: int = 200) -> dict[str, Any]:
        answer = await self.console.client.post(f"/v1/mcp{path}")
        assert answer.status_code == status, answer.text
        return dict(answer.json())

    async def is_up(self, node: str) -> bool:
        nodes = (await self.console.client.get("/v1/cluster/nodes")).json()["items"]
        return any((each["name"], each["state"]) == (node, "up") for each in nodes)

    async def until_shown(self, name: str, wanted: dict[str, Any]) -> dict[str, Any]:
        """The server as the console shows it, once it shows this."""
        seen: dict[str, Any] = {}

        async def matches() -> bool:
            seen.update(await self.shown(name))
            return all(seen.get(key) == value for key, value in wanted.items())

        await until_true(matches)
        return seen


async def until_true(holds: Callable[[], Awaitable[bool]]) -> None:
    async with asyncio.timeout(60):
        while not await holds():
            await asyncio.sleep(0.1)


@pytest.fixture
async def two(tmp_path: Path, database_url: str, valkey: Valkey) -> AsyncIterator[TwoNodes]:
    settings = settings_for(tmp_path, database_url, valkey.url)
    async with AsyncExitStack() as stack:
        console = await stack.enter_async_context(running(settings))
        nodes = [
            await stack.enter_async_context(mcp_node(settings, name, tmp_path))
            for name in ("marsh-1", "marsh-2")
        ]
        yield TwoNodes(console, nodes, tmp_path)


@pytest.mark.req("K-69", "T-73", "T-78", "B-26")
async def test_an_added_server_is_on_every_node_asked_again_removed_without_a_restart(
    two: TwoNodes,
) -> None:
    file = shelf(two.folder, "egg", "nest builds one", "uri:shelf://a note", "prompt:sing")
    added = await two.add("shelf", file)
    assert (added["origin"], added["added_by"], added["state"]) == ("added", "admin", None)
    await until(lambda: all(node.tools("shelf") == {"egg", "nest"} for node in two.nodes))
    # One start on each node: to add is no order to connect anew.
    assert len(Path(f"{file}.starts").read_text().splitlines()) == 2

    async def is_on_both() -> bool:
        nodes = (await two.shown("shelf"))["nodes"]
        return [node["state"] for node in nodes] == ["connected", "connected"]

    # Each node says it in a report of its own.
    await until_true(is_on_both)
    seen = await two.until_shown("shelf", {"state": "connected", "tools": 2})
    assert (seen["resources"], seen["prompts"], seen["transport"]) == (1, 1, "stdio")
    overview = (await two.console.client.get("/v1/cluster/overview")).json()
    assert overview["mcp"] == {"servers": 2, "resources": 2, "prompts": 2, "tools": 4}
    marsh = (await two.console.client.get("/v1/cluster/nodes/marsh-1")).json()["report"]
    assert marsh["mcp"] == {"servers": 1, "resources": 1, "prompts": 1, "tools": 2}
    assert [each["state"] for each in marsh["mcp_servers"]] == ["connected"]

    file.write_text("egg\nfeather")
    done = await two.post("/servers/shelf/refresh")
    assert done["nodes"] == [
        {
            "node": name,
            "answered": True,
            "added": ["feather"],
            "removed": ["nest", "sing", "shelf://a"],
            "error": "",
        }
        for name in ("marsh-1", "marsh-2")
    ]
    assert all(node.tools("shelf") == {"egg", "feather"} for node in two.nodes)

    before = len(Path(f"{file}.starts").read_text().splitlines())
    done = await two.post("/servers/shelf/reconnect")
    assert [(node["answered"], node["error"]) for node in done["nodes"]] == [(True, "")] * 2
    assert len(Path(f"{file}.starts").read_text().splitlines()) == before + 2

    removed = await two.console.client.delete("/v1/mcp/servers/shelf")
    assert removed.status_code == 200, removed.text
    await until(lambda: all(node.servers.record("shelf") is None for node in two.nodes))
    gone = await two.console.client.get("/v1/mcp/servers/shelf")
    assert gone.status_code == 404


@pytest.mark.req("K-69", "T-73")
async def test_a_node_that_was_away_finds_what_changed_another_record_too(
    tmp_path: Path, sqlite_url: str, valkey: Valkey
) -> None:
    settings = settings_for(tmp_path, sqlite_url, valkey.url)
    first, second = shelf(tmp_path, "egg", name="a"), shelf(tmp_path, "nest", name="b")
    async with running(settings) as console:
        async with mcp_node(settings, "marsh", tmp_path) as node:
            two = TwoNodes(console, [node], tmp_path)
            await two.add("kept", first)
            await two.add("gone", first)
            await until(lambda: node.tools("kept") == node.tools("gone") == {"egg"})
        other = await console.client.put("/v1/mcp/servers/kept", json=shelf_record(second))
        assert other.status_code == 200, other.text
        assert (await console.client.delete("/v1/mcp/servers/gone")).status_code == 200
        await two.add("new", second)
        # Nobody is there to carry it out.
        assert (await two.post("/servers/kept/refresh"))["nodes"] == []

        async with mcp_node(settings, "marsh", tmp_path) as node:
            # Without a wait: a node has them before it takes work.
            assert node.tools("kept") == node.tools("new") == {"nest"}
            assert node.servers.record("gone") is None


@pytest.mark.req("K-69")
@pytest.mark.fault("F12")
async def test_what_was_added_keeps_no_node_from_starting_its_secrets_are_masked_there(
    tmp_path: Path, sqlite_url: str, valkey: Valkey
) -> None:
    settings = settings_for(tmp_path, sqlite_url, valkey.url)
    file = shelf(tmp_path, "egg")
    async with running(settings) as console:
        two = TwoNodes(console, [], tmp_path)
        await two.add("well", file, env={"SHELF_TOKEN": "canary-secret", "PLAIN": "canary-plain"})
        body = {"name": "broken", "command": "/no/such/command", "required": True}
        assert (await console.client.post("/v1/mcp/servers", json=body)).status_code == 201
        slotted = {"name": "slotted", "url": "https://a.example/mcp", "required": True}
        slotted["bearer_token_secret_ref"] = "mcp.custom.slotted.TOKEN"
        assert (await console.client.post("/v1/mcp/servers", json=slotted)).status_code == 201
        async with mcp_node(settings, "marsh", tmp_path) as node:
            assert node.tools("well") == {"egg"}
            assert node.servers.without_slots() == {"slotted"}
            assert node.learned == ["canary-secret"]
            seen = await two.until_shown("broken", {"state": "failed"})
            assert "/no/such/command" in seen["nodes"][0]["detail"]
            done = await two.post("/servers/broken/reconnect")
            assert done["nodes"][0]["error"]


@pytest.mark.req("K-69")
async def test_a_server_of_the_settings_wins_over_one_that_was_added_under_its_name(
    tmp_path: Path, sqlite_url: str, valkey: Valkey
) -> None:
    plain = settings_for(tmp_path, sqlite_url, valkey.url)
    ours, theirs = shelf(tmp_path, "ours", name="a"), shelf(tmp_path, "theirs", name="b")
    async with running(plain) as console:
        await TwoNodes(console, [], tmp_path).add("shelf", theirs)
    config = tmp_path / "servers.json"
    config.write_text(json.dumps({"mcpServers": {"shelf": shelf_record(ours)}}))
    settings = settings_for(tmp_path, sqlite_url, valkey.url, MCP__CONFIG=str(config))
    async with running(settings) as console, mcp_node(settings, "marsh", tmp_path) as node:
        assert node.tools("shelf") == {"ours"}
        two = TwoNodes(console, [node], tmp_path)
        assert (await two.until_shown("shelf", {"tools": 1}))["origin"] == "settings"
        ours.write_text("ours\nmore")
        done = await two.post("/servers/shelf/refresh")
        assert done["nodes"][0]["added"] == ["more"]
        removed = await console.client.delete("/v1/mcp/servers/shelf")
        assert removed.json()["code"] == "mcp_server_of_settings"


@pytest.mark.req("T-73", "K-69")
@pytest.mark.fault("F44")
async def test_without_redis_servers_are_added_and_asked_again_all_the_same(
    tmp_path: Path, sqlite_url: str, own_valkey: Valkey
) -> None:
    settings = settings_for(tmp_path, sqlite_url, own_valkey.url)
    file = shelf(tmp_path, "egg")
    async with running(settings) as console, mcp_node(settings, "marsh", tmp_path) as node:
        own_valkey.kill()
        two = TwoNodes(console, [node], tmp_path)
        await two.add("shelf", file)
        await until(lambda: node.tools("shelf") == {"egg"})
        file.write_text("nest")
        await two.until_shown("shelf", {"state": "connected"})
        await until_true(lambda: two.is_up("marsh"))
        done = await two.post("/servers/shelf/refresh")
        (said,) = done["nodes"]
        assert (said["added"], said["removed"], said["error"]) == (["nest"], ["egg"], "")


@pytest.mark.req("T-73", "K-69")
async def test_a_node_that_hears_of_a_change_does_not_wait_for_its_next_look(
    tmp_path: Path, sqlite_url: str, valkey: Valkey, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(overlay, "EVERY_SECONDS", 3600.0)
    settings = settings_for(tmp_path, sqlite_url, valkey.url)
    file = shelf(tmp_path, "egg")
    async with (
        running(settings) as console,
        mcp_node(settings, "marsh", tmp_path) as node,
        asyncio.TaskGroup() as group,
    ):
        begun = asyncio.Event()

        async def listen() -> None:
            async for heard in AppendedFeed(settings.redis.url).listen():
                begun.set()
                if not isinstance(heard, str) and heard.mcp:
                    node.overlay.wake()

        listening = group.create_task(listen())
        await begun.wait()
        two = TwoNodes(console, [node], tmp_path)
        await two.add("shelf", file)
        await until(lambda: node.tools("shelf") == {"egg"})
        await until_true(lambda: two.is_up("marsh"))
        file.write_text("nest")
        done = await two.post("/servers/shelf/refresh")
        assert done["nodes"][0]["added"] == ["nest"]
        assert (await console.client.delete("/v1/mcp/servers/shelf")).status_code == 200
        await until(lambda: node.servers.record("shelf") is None)
        listening.cancel()


@pytest.mark.req("K-56")
async def test_a_node_does_not_start_with_a_profile_of_which_it_can_start_nothing(
    tmp_path: Path, sqlite_url: str, valkey: Valkey, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    settings = settings_for(tmp_path, sqlite_url, valkey.url, MCP__PROFILES="try")
    with pytest.raises(ExceptionGroup) as refused:
        async with mcp_node(settings, "marsh", tmp_path):
            pass
    (error,) = refused.value.exceptions
    assert isinstance(error, Misconfigured)
    assert (error.code, error.field) == ("mcp_profile_empty", "mcp.profiles")


@pytest.mark.req("K-48")
async def test_what_a_node_offers_is_written_anew_when_it_changes_or_was_lost(
    tmp_path: Path, sqlite_url: str, valkey: Valkey
) -> None:
    settings = settings_for(tmp_path, sqlite_url, valkey.url)
    file = shelf(tmp_path, "egg")
    async with running(settings) as console, mcp_node(settings, "marsh", tmp_path) as node:
        services = Services(console.database)
        surface = '[{"name":"mcp__shelf__egg","canonical":"mcp__shelf__egg","aliases":[],'
        node.surface = surface + '"effect":"mcp","plan":false,"server":"shelf"}]'
        await TwoNodes(console, [node], tmp_path).add("shelf", file)
        await until(lambda: "egg" in services.catalogues([node.node_id]).get(node.node_id, ""))

        async def rows() -> list[str]:
            asked = {"profile": "default"}
            matrix = (await console.client.post("/v1/permissions/matrix", json=asked)).json()
            return [row["tool"] for row in matrix["rows"] if row["server"] == "shelf"]

        assert await rows() == ["mcp__shelf__egg"]
        # The registry forgot the node: it registers again, and says again what it offers.
        services.leave(node.node_id)
        await until(lambda: "egg" in services.catalogues([node.node_id]).get(node.node_id, ""))
        assert await rows() == ["mcp__shelf__egg"]
