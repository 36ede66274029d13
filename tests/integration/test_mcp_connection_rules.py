"""What an operator says of a server holds: whether, how and for whom it is connected."""

import asyncio
import os
import signal
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
import pytest

from redshank_node.mcp_client.failures import OutcomeUnknown, ServerUnavailable
from redshank_node.mcp_client.starting import check_transport
from redshank_node.mcp_client.supervisor import McpServers, Rules
from redshank_node.tools.tool import BadArguments
from redshank_shared.domain.errors import Conflict, Misconfigured, NotFound
from redshank_shared.domain.roots import Root
from redshank_shared.settings.environment import process_environment
from redshank_shared.settings.mcp_server import McpServer
from tests.fakes.mcp_node import connected, status, surroundings, until
from tests.integration.mcp_moods import FAKES, SECONDS, alive, call, listening, moody, starts, text

ROOT = FAKES.parents[1]
PACKAGES = (ROOT / "shared", ROOT / "node", ROOT)
SLOT = "mcp.custom.moody.TOKEN"


class Slots:
    """Slots that a test fills and revokes."""

    def __init__(self, **filled: str) -> None:
        self.filled = dict(filled)
        self.revoked: set[str] = set()

    async def value(self, slot: str) -> str:
        if slot in self.revoked:
            raise Conflict(f"{slot} was revoked", code="secret_revoked")
        if slot not in self.filled:
            raise NotFound(f"{slot} is empty", code="secret_missing")
        return self.filled[slot]


async def start(
    folder: Path, *servers: McpServer, rules: Rules | None = None, **around: Any
) -> dict[str, str]:
    """Start and stop; the state of each server. Raises what `started` raises."""
    stop = asyncio.Event()
    made = McpServers(servers, msgspec.structs.replace(surroundings(folder), **around), rules)
    refused: Misconfigured | None = None
    async with asyncio.TaskGroup() as group:
        group.create_task(made.run(stop))
        try:
            await made.started()
        except Misconfigured as error:
            refused = error
        states = {each.name: each.state for each in made.statuses()}
        stop.set()
    if refused is not None:
        raise refused
    return dict(states)


@pytest.mark.req("K-58")
async def test_a_disabled_server_is_never_started(tmp_path: Path) -> None:
    states = await start(tmp_path, moody(tmp_path, enabled=False))
    assert states == {"moody": "disabled"}
    assert starts(tmp_path) == []


@pytest.mark.req("O18")
async def test_a_required_server_that_fails_stops_the_start_and_is_named(tmp_path: Path) -> None:
    crashing = moody(tmp_path, "crashing")
    assert await start(tmp_path, crashing) == {"moody": "failed"}
    required = msgspec.structs.replace(crashing, required=True)
    with pytest.raises(Misconfigured, match="MCP server moody is required.*no licence found"):
        await start(tmp_path, required)


@pytest.mark.req("C-55")
async def test_with_fatal_failures_every_server_is_required(tmp_path: Path) -> None:
    with pytest.raises(Misconfigured, match="MCP server moody"):
        await start(tmp_path, moody(tmp_path, "crashing"), rules=Rules(on_failure="fatal"))


@pytest.mark.req("K-66", "C-53")
@pytest.mark.fault("F8")
async def test_with_fatal_collisions_a_name_that_is_too_long_stops_the_start(
    tmp_path: Path,
) -> None:
    (tmp_path / "tools").write_text("x" * 60)
    with pytest.raises(Misconfigured, match="64 are allowed"):
        await start(tmp_path, moody(tmp_path), rules=Rules(on_collision="fatal"))


@pytest.mark.req("K-61")
async def test_a_server_whose_slot_was_revoked_is_left_out_in_silence(tmp_path: Path) -> None:
    slots = Slots(**{SLOT: "secret"})
    slots.revoked.add(SLOT)
    server = moody(tmp_path, env_secret_refs={"TOKEN": SLOT}, required=True)
    assert await start(tmp_path, server, value=slots.value) == {"moody": "left_out"}
    assert starts(tmp_path) == []


@pytest.mark.req("K-59")
@pytest.mark.parametrize("filled", [{}, {SLOT: ""}])
async def test_a_slot_without_a_secret_stops_the_start(
    tmp_path: Path, filled: dict[str, str]
) -> None:
    server = moody(tmp_path, env_secret_refs={"TOKEN": SLOT})
    with pytest.raises(Misconfigured, match=f"redshank secrets set {SLOT}") as raised:
        await start(tmp_path, server, value=Slots(**filled).value)
    assert raised.value.field == "mcp.servers.moody.env_secret_refs.TOKEN"


@pytest.mark.req("K-63")
async def test_a_server_that_nobody_is_logged_in_to_is_not_contacted_until_somebody_is(
    tmp_path: Path,
) -> None:
    with listening(str(FAKES / "mcp_rude_http.py")) as first:
        address = f"http://127.0.0.1:{first.split()[1]}/good"
        server = McpServer(name="moody", url=address, oauth_slot_ref="mcp.oauth.moody")
        slots = Slots()

        async def authorize(_: McpServer) -> str | None:
            return slots.filled.get("mcp.oauth.moody")

        around = {"value": slots.value, "authorize": authorize}
        async with connected(tmp_path, server, **around) as servers:
            assert status(servers, "moody").state == "needs_login"
            assert "redshank mcp login moody" in status(servers, "moody").detail
            with pytest.raises(ServerUnavailable, match="redshank mcp login moody"):
                await call(servers, "headers")
            slots.filled["mcp.oauth.moody"] = "token-1"
            assert '"authorization": "Bearer token-1"' in await call(servers, "headers")
            slots.filled["mcp.oauth.moody"] = "token-2"
            assert '"authorization": "Bearer token-2"' in await call(servers, "headers")
            del slots.filled["mcp.oauth.moody"]
            with pytest.raises(ServerUnavailable, match="redshank mcp login moody"):
                await call(servers, "headers")


@pytest.mark.req("K-63")
@pytest.mark.fault("F13")
async def test_a_refused_token_is_asked_for_anew_and_the_request_sent_once_more(
    tmp_path: Path,
) -> None:
    heard: list[str] = []

    async def refused(_: McpServer, challenge: str, token: str) -> None:
        heard.append(f"{token}: {challenge}")

    async def authorize(_: McpServer) -> str | None:
        return "token"

    slots = Slots(**{"mcp.oauth.moody": "account"})
    with listening(str(FAKES / "mcp_rude_http.py")) as first:
        address = f"http://127.0.0.1:{first.split()[1]}/later/401"
        server = McpServer(name="moody", url=address, oauth_slot_ref="mcp.oauth.moody")
        around = {"value": slots.value, "authorize": authorize, "refused": refused}
        async with connected(tmp_path, server, **around) as servers:
            with pytest.raises(ServerUnavailable, match="refuses a token that is new"):
                await call(servers, "headers")
    # Once for the call, once for it on the connection that was made anew.
    assert heard == ['token: Bearer resource_metadata="http://127.0.0.1/x"'] * 2


@pytest.mark.req("K-57", "K-58")
async def test_headers_come_from_the_record_variables_and_slots_as_they_are_at_each_connect(
    tmp_path: Path,
) -> None:
    slots = Slots(**{SLOT: "first-secret", "mcp.custom.moody.KEY": "key-1"})
    with listening(str(FAKES / "mcp_rude_http.py")) as first:
        server = McpServer(
            name="moody",
            url=f"http://127.0.0.1:{first.split()[1]}/good",
            headers={"X-Team": "birds"},
            env_http_headers={"X-Site": "SITE", "X-None": "NOT_SET"},
            http_header_secret_refs={"X-Key": "mcp.custom.moody.KEY"},
            bearer_token_secret_ref=SLOT,
        )
        around = {"value": slots.value, "variables": {"SITE": "marsh"}}
        async with connected(tmp_path, server, **around) as servers:
            sent = msgspec.json.decode(await call(servers, "headers"), type=dict[str, str])
            assert (sent["x-team"], sent["x-site"], sent["x-key"]) == ("birds", "marsh", "key-1")
            assert sent["authorization"] == "Bearer first-secret"
            assert "x-none" not in sent
            slots.filled[SLOT] = "second-secret"
            await servers.reconnect("moody")
            assert "Bearer second-secret" in await call(servers, "headers")


@pytest.mark.req("K-58", "T-75", "T-76")
async def test_what_a_server_offers_is_discovered_and_filtered(tmp_path: Path) -> None:
    server = moody(tmp_path, "catalogue", enabled_tools=("ok", "die"), disabled_tools=("die",))
    async with connected(tmp_path, server) as servers:
        inventory = servers.inventories()["moody"]
        assert [tool.name for tool in inventory.tools] == ["ok"]
        assert [resource.uri for resource in inventory.resources] == ["note:///a"]
        (prompt,) = inventory.prompts
        assert (prompt.name, prompt.arguments[0].name, prompt.arguments[0].required) == (
            "greet",
            "who",
            True,
        )
        assert (inventory.title, inventory.instructions) == ("Moody", "Be kind.")
        read = await servers.read_resource("moody", "note:///a", SECONDS)
        assert read.content[0].text == "the note"  # type: ignore[union-attr]
        filled = await servers.get_prompt("moody", "greet", {"who": "Ann"}, SECONDS)
        assert (filled.roles, text(filled)) == (("user",), "Greet Ann.")
        found = status(servers, "moody")
        assert (found.tools, found.resources, found.prompts) == (1, 1, 1)


@pytest.mark.req("T-74")
@pytest.mark.fault("F10")
@pytest.mark.parametrize("what", ["tools", "resources", "prompts"])
async def test_a_changed_list_of_any_kind_is_followed_at_once(tmp_path: Path, what: str) -> None:
    async with connected(tmp_path, moody(tmp_path, "catalogue")) as servers:
        before = servers.revision
        (tmp_path / "tools").write_text("newer")
        await call(servers, "notify", what=what)
        await until(lambda: servers.revision > before)
        inventory = servers.inventories()["moody"]
        assert "newer" in [tool.name for tool in inventory.tools]
        assert "note:///newer" in [resource.uri for resource in inventory.resources]
        assert "newer" in [prompt.name for prompt in inventory.prompts]


@pytest.mark.req("T-74")
async def test_a_notice_without_a_change_is_no_change(tmp_path: Path) -> None:
    async with connected(tmp_path, moody(tmp_path)) as servers:
        before = servers.revision
        await call(servers, "notify", what="tools")
        changed = await servers.refresh("moody")
        assert (changed.added, changed.removed, changed.failed) == ((), (), "")
        assert servers.revision == before


@pytest.mark.req("T-74")
async def test_a_refresh_that_fails_is_tried_until_it_completes(tmp_path: Path) -> None:
    async with connected(tmp_path, moody(tmp_path)) as servers:
        (tmp_path / "failing").write_text("2")
        (tmp_path / "tools").write_text("newer")
        await call(servers, "notify", what="tools")
        await until(lambda: "newer" in names(servers))
        assert (tmp_path / "failing").read_text() == "0"
        assert len(starts(tmp_path)) == 1


def names(servers: McpServers) -> list[str]:
    return [tool.name for tool in servers.inventories()["moody"].tools]


def said(servers: McpServers) -> list[str]:
    found = servers.said("moody")
    return [tool.name for tool in found.tools] if found else []


@pytest.mark.req("C-55")
@pytest.mark.parametrize(("kind", "follows"), [("boot", True), ("fixed", False)])
async def test_an_inventory_may_be_kept_until_the_next_connection_or_for_ever(
    tmp_path: Path, kind: Any, follows: bool
) -> None:
    stop = asyncio.Event()
    servers = McpServers((moody(tmp_path),), surroundings(tmp_path), Rules(inventory=kind))
    assert not servers.follows
    async with asyncio.TaskGroup() as group:
        group.create_task(servers.run(stop))
        await servers.started()
        (tmp_path / "tools").write_text("newer")
        await call(servers, "notify", what="tools")
        # What it says is known all the same: a changed tool is asked about.
        await until(lambda: "newer" in said(servers))
        assert "newer" not in names(servers)
        await servers.reconnect("moody")
        assert ("newer" in names(servers)) == follows
        stop.set()


@pytest.mark.req("T-73")
async def test_refresh_and_reconnect_report_what_came_and_what_went(tmp_path: Path) -> None:
    (tmp_path / "tools").write_text("older")
    async with connected(tmp_path, moody(tmp_path)) as servers:
        (tmp_path / "tools").write_text("newer")
        changed = await servers.refresh("moody")
        assert (changed.added, changed.removed, changed.failed) == (("newer",), ("older",), "")
        (tmp_path / "tools").write_text("")
        changed = await servers.reconnect("moody")
        assert (changed.added, changed.removed) == ((), ("newer",))
        assert len(starts(tmp_path)) == 2
        with pytest.raises(NotFound, match="there are: moody"):
            await servers.refresh("nobody")


@pytest.mark.req("T-73", "T-74")
async def test_a_refresh_whose_connection_ends_ends_with_the_next_one(tmp_path: Path) -> None:
    async with connected(tmp_path, moody(tmp_path)) as servers:
        (process,) = starts(tmp_path)
        os.kill(process, signal.SIGSTOP)
        async with asyncio.TaskGroup() as group:
            refreshing = group.create_task(servers.refresh("moody"))
            await asyncio.sleep(0)
            os.kill(process, signal.SIGKILL)
        assert refreshing.result().failed == ""
        assert len(starts(tmp_path)) == 2


@pytest.mark.req("K-55", "K-69")
async def test_adding_or_removing_one_server_touches_no_other(tmp_path: Path) -> None:
    folders = [tmp_path / name for name in ("first", "second")]
    for folder in folders:
        folder.mkdir()
    async with connected(tmp_path, moody(folders[0])) as servers:
        servers.put(moody(folders[1], name="second"))
        await until(lambda: status(servers, "second").state == "connected")
        assert text(await servers.call("second", "ok", {}, SECONDS)) == "ok"
        servers.drop("second")
        assert list(servers.inventories()) == ["moody"]
        (process,) = starts(folders[1])
        await until(lambda: not alive(process))
        with pytest.raises(ServerUnavailable, match="no such server"):
            await servers.call("second", "ok", {}, SECONDS)
        assert await call(servers, "pid") == str(starts(folders[0])[0])
        assert len(starts(folders[0])) == 1


@pytest.mark.req("K-55")
async def test_one_connection_serves_all_calls_beside_each_other(tmp_path: Path) -> None:
    async with connected(tmp_path, moody(tmp_path)) as servers:
        heard: list[str] = []
        async with asyncio.TaskGroup() as group:
            calls = [group.create_task(call(servers, "pid")) for _ in range(100)]
            group.create_task(servers.call("moody", "progress", {}, SECONDS, heard.append))
        assert {one.result() for one in calls} == {str(starts(tmp_path)[0])}
        assert heard == ["1/2 half", "2"]
        found = status(servers, "moody")
        assert (found.calls, found.errors) == (101, 0)
        assert found.latency_ms is not None


@pytest.mark.req("T-74", "C-51")
@pytest.mark.fault("F10")
async def test_a_server_of_the_newest_protocol_tells_changes_and_hears_of_cancels(
    tmp_path: Path,
) -> None:
    arguments = (str(FAKES / "mcp_modern.py"), str(tmp_path))
    server = McpServer(name="moody", command=sys.executable, args=arguments, startup_timeout_sec=60)
    async with connected(tmp_path, server) as servers:
        assert status(servers, "moody").protocol == "2026-07-28"
        assert servers.inventories()["moody"].instructions == "Ask twice."
        async with asyncio.TaskGroup() as group:
            waiting = group.create_task(call(servers, "wait"))
            await until((tmp_path / "waiting").exists)
            waiting.cancel()
        await until((tmp_path / "cancelled").exists)
        # The library says nothing of having begun to listen: it is told until it has heard.
        async with asyncio.timeout(SECONDS):
            while "later" not in names(servers):
                await call(servers, "grow")
        called = await servers.call("moody", "later", {"number": 21}, SECONDS)
        assert (called.structured, text(called)) == ({"result": 42}, "42")


@pytest.mark.req("T-70")
@pytest.mark.fault("F11")
async def test_a_command_that_ignores_its_end_is_killed_with_all_that_it_started(
    tmp_path: Path,
) -> None:
    async with connected(tmp_path, moody(tmp_path, "stubborn", "parent")) as servers:
        assert await call(servers, "ok") == "ok"
    processes = [*starts(tmp_path), int((tmp_path / "children").read_text())]
    assert [process for process in processes if alive(process)] == []


@pytest.mark.req("T-70")
@pytest.mark.fault("F11")
async def test_the_commands_die_with_their_node_however_it_dies(tmp_path: Path) -> None:
    host = await asyncio.create_subprocess_exec(
        sys.executable,
        str(FAKES / "mcp_host.py"),
        str(tmp_path),
        stdout=asyncio.subprocess.PIPE,
        env={**process_environment(), "PYTHONPATH": ":".join(map(str, PACKAGES))},
    )
    assert host.stdout is not None
    assert await host.stdout.readline() == b"connected\n"
    processes = [*starts(tmp_path), int((tmp_path / "children").read_text())]
    assert all(alive(process) for process in processes)
    os.kill(host.pid, signal.SIGKILL)
    await host.wait()
    await until(lambda: not any(alive(process) for process in processes))


class Refusing:
    """A sandbox that notes what it is asked for, and gives nothing."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, str, str]] = []

    def refusal(self, tool: str, need: str, most: str) -> str:
        return "sandbox: nothing confines here"

    def confining(self, tool: str, need: str, most: str) -> None:
        self.asked.append((tool, need, most))
        raise BadArguments(self.refusal(tool, need, most))

    def giving(self, levels: Mapping[str, str]) -> "Refusing":
        return self

    def offers_network(self, tool: str, need: str) -> bool:
        return False

    def within(self, roots: tuple[Root, ...]) -> "Refusing":
        return self


@pytest.mark.req("K-58")
@pytest.mark.fault("F68")
async def test_a_command_runs_in_the_sandbox_that_its_record_names_or_not_at_all(
    tmp_path: Path,
) -> None:
    sandbox = Refusing()
    server = moody(tmp_path, sandbox="read_only")
    async with connected(tmp_path, server, sandbox=sandbox) as servers:
        assert "nothing confines here" in status(servers, "moody").detail
    assert set(sandbox.asked) == {("MCP server moody", "read_only", "read_only")}
    assert starts(tmp_path) == []


@pytest.mark.fault("F67")
async def test_a_fault_of_ours_in_one_request_costs_no_other(tmp_path: Path) -> None:
    async def broken(_: McpServer, challenge: str, token: str) -> None:
        raise RuntimeError("broken")

    async def authorize(_: McpServer) -> str | None:
        return "token"

    slots = Slots(**{"mcp.oauth.moody": "account"})
    with listening(str(FAKES / "mcp_rude_http.py")) as first:
        address = f"http://127.0.0.1:{first.split()[1]}/later/401"
        server = McpServer(name="moody", url=address, oauth_slot_ref="mcp.oauth.moody")
        around = {"value": slots.value, "authorize": authorize, "refused": broken}
        async with connected(tmp_path, server, **around) as servers:
            with pytest.raises(OutcomeUnknown, match="RuntimeError: the request broke down"):
                await call(servers, "headers")
            assert status(servers, "moody").state == "connected"
            assert status(servers, "moody").reconnects == 0


@pytest.mark.fault("F9")
async def test_a_fault_of_ours_in_one_server_ends_no_other(tmp_path: Path) -> None:
    async def value(slot: str) -> str:
        raise RuntimeError("broken")

    broken = moody(tmp_path, name="broken", env_secret_refs={"TOKEN": SLOT})
    async with connected(tmp_path, broken, moody(tmp_path), value=value) as servers:
        assert "secrets cannot be looked up: RuntimeError" in status(servers, "broken").detail
        assert await call(servers, "ok") == "ok"


@pytest.mark.req("C-50")
def test_a_way_of_reaching_servers_may_be_forbidden(tmp_path: Path) -> None:
    check_transport(moody(tmp_path), "both")
    check_transport(moody(tmp_path), "stdio")
    with pytest.raises(Misconfigured, match="MCP server moody is reached over stdio"):
        check_transport(moody(tmp_path), "http")
