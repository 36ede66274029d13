"""A server may fail in every way: only its own calls do, each says why, and it comes back."""

import asyncio
import contextlib
import os
import signal
from pathlib import Path

import pytest

from redshank_node.mcp_client.failures import (
    CallTimedOut,
    McpFailure,
    OutcomeUnknown,
    ProtocolFailure,
    ServerUnavailable,
)
from redshank_node.mcp_client.supervisor import McpServers
from redshank_shared.settings.mcp_server import McpServer
from tests.fakes.mcp_node import connected, status, until
from tests.integration.mcp_moods import (
    FAKES,
    SECONDS,
    call,
    free_port,
    listening,
    listens,
    moody,
    starts,
    text,
)


@pytest.mark.req("T-70")
@pytest.mark.fault("F9", "F10")
async def test_a_command_that_dies_in_mid_call_leaves_that_call_unknown_and_is_started_anew(
    tmp_path: Path,
) -> None:
    async with connected(tmp_path, moody(tmp_path)) as servers:
        with pytest.raises(OutcomeUnknown, match="MCP server moody.*not known"):
            await call(servers, "die")
        assert await call(servers, "ok") == "ok"
        assert len(starts(tmp_path)) == 2
        assert status(servers, "moody").reconnects == 1


@pytest.mark.fault("F9")
async def test_a_command_that_is_killed_between_calls_is_noticed_and_listed_anew(
    tmp_path: Path,
) -> None:
    async with connected(tmp_path, moody(tmp_path)) as servers:
        before = servers.revision
        (tmp_path / "tools").write_text("newer")
        os.kill(starts(tmp_path)[0], signal.SIGKILL)
        await until(lambda: len(starts(tmp_path)) == 2 and servers.revision > before)
        await until(lambda: status(servers, "moody").state == "connected")
        assert "newer" in [tool.name for tool in servers.inventories()["moody"].tools]
        assert await call(servers, "ok") == "ok"


@pytest.mark.fault("F9")
@pytest.mark.parametrize("after_seconds", [0.0, 0.3])
async def test_a_command_that_reads_no_more_is_started_anew(
    tmp_path: Path, after_seconds: float
) -> None:
    async with connected(tmp_path, moody(tmp_path)) as servers:
        assert await call(servers, "deaf", after_seconds=after_seconds) == "deaf"
        # It may have been written before the command stopped reading.
        with contextlib.suppress(McpFailure):
            await call(servers, "ok", 0.8)
        assert await call(servers, "ok") == "ok"
        assert len(starts(tmp_path)) == 2


@pytest.mark.fault("F9")
async def test_tools_do_not_vanish_while_their_server_comes_back(tmp_path: Path) -> None:
    async with connected(tmp_path, moody(tmp_path)) as servers:
        tools = servers.inventories()["moody"].tools
        os.kill(starts(tmp_path)[0], signal.SIGKILL)
        await until(lambda: status(servers, "moody").state == "connecting")
        assert servers.inventories()["moody"].tools == tools
        assert "SIGKILL" in status(servers, "moody").detail


@pytest.mark.req("T-74")
@pytest.mark.fault("F10")
async def test_a_session_that_ended_is_begun_anew_and_its_call_carried_out_once(
    tmp_path: Path,
) -> None:
    port = free_port()
    command = (str(FAKES / "mcp_echo.py"), str(tmp_path), "echo", "http", str(port))
    server = McpServer(name="echo", url=f"http://127.0.0.1:{port}/mcp", startup_timeout_sec=60)
    with listening(*command):
        async with connected(tmp_path, server) as servers:
            called = await servers.call("echo", "echo", {"word": "one"}, SECONDS)
            assert text(called) == "echo one"
            with pytest.raises(ServerUnavailable, match="MCP server echo.*cannot be reached"):
                await after_its_end(servers, tmp_path, port)
            with listening(*command):
                called = await servers.call("echo", "echo", {"word": "three"}, SECONDS)
                assert text(called) == "echo three"
    assert (tmp_path / "echo.done").read_text().split() == ["one", "three"]


async def after_its_end(servers: McpServers, folder: Path, port: int) -> None:
    os.kill(int((folder / "echo.pids").read_text()), signal.SIGKILL)
    await until(lambda: not listens(port))
    await servers.call("echo", "echo", {"word": "two"}, SECONDS)


@pytest.mark.fault("F10")
async def test_a_server_restarted_between_calls_gets_the_next_call_once(tmp_path: Path) -> None:
    port = free_port()
    command = (str(FAKES / "mcp_echo.py"), str(tmp_path), "echo", "http", str(port))
    server = McpServer(name="echo", url=f"http://127.0.0.1:{port}/mcp", startup_timeout_sec=60)
    with listening(*command):
        async with connected(tmp_path, server) as servers:
            await servers.call("echo", "echo", {"word": "one"}, SECONDS)
            os.kill(int((tmp_path / "echo.pids").read_text()), signal.SIGKILL)
            await until(lambda: not listens(port))
            with listening(*command):
                await servers.call("echo", "echo", {"word": "two"}, SECONDS)
                assert status(servers, "echo").reconnects == 1
    assert (tmp_path / "echo.done").read_text().split() == ["one", "two"]


@pytest.mark.fault("F9")
async def test_a_server_that_comes_late_is_there_without_being_called(tmp_path: Path) -> None:
    port = free_port()
    server = McpServer(name="echo", url=f"http://127.0.0.1:{port}/mcp", startup_timeout_sec=60)
    async with connected(tmp_path, server) as servers:
        assert status(servers, "echo").state == "failed"
        with listening(str(FAKES / "mcp_echo.py"), str(tmp_path), "echo", "http", str(port)):
            await until(lambda: status(servers, "echo").state == "connected")
            assert [tool.name for tool in servers.inventories()["echo"].tools] == ["echo"]


@pytest.mark.req("O18", "C-51")
@pytest.mark.fault("F9", "F67")
async def test_a_silent_server_holds_nobody_up_for_longer_than_its_own_time(
    tmp_path: Path,
) -> None:
    silent = tmp_path / "silent"
    silent.mkdir()
    mute = moody(silent, "silent", name="mute", startup_timeout_sec=0.5)
    async with connected(tmp_path, mute, moody(tmp_path)) as servers:
        assert status(servers, "mute").state == "failed"
        assert "not connected within 0.5 s" in status(servers, "mute").detail
        assert await call(servers, "ok") == "ok"
        with pytest.raises(ServerUnavailable, match="MCP server mute: not connected within"):
            await servers.call("mute", "ok", {}, SECONDS)


@pytest.mark.req("T-70")
async def test_a_server_that_ignores_what_it_does_not_know_gets_the_older_handshake(
    tmp_path: Path,
) -> None:
    async with connected(tmp_path, moody(tmp_path, "shy", startup_timeout_sec=6.0)) as servers:
        assert status(servers, "moody").protocol == "2025-11-25"
        assert await call(servers, "ok") == "ok"


@pytest.mark.req("K-59")
@pytest.mark.fault("F67")
async def test_one_bad_schema_costs_one_tool(tmp_path: Path) -> None:
    async with connected(tmp_path, moody(tmp_path, "bad_schema")) as servers:
        inventory = servers.inventories()["moody"]
        assert [tool.name for tool in inventory.tools][:2] == ["ok", "pid"]
        reasons = {dropped.name: dropped.why for dropped in inventory.dropped}
        assert sorted(reasons) == ["?", "deep", "empty", "none"]
        assert 'must be "object"' in reasons["empty"]
        assert "nested deeper" in reasons["deep"]


@pytest.mark.req("C-51")
@pytest.mark.fault("F67")
async def test_a_call_without_an_answer_ends_at_its_time_and_the_server_is_told(
    tmp_path: Path,
) -> None:
    async with connected(tmp_path, moody(tmp_path)) as servers:
        with pytest.raises(CallTimedOut, match=r"no answer within 0\.2 s.*not known"):
            await call(servers, "never", 0.2)
        assert len(await call(servers, "cancelled")) > len("[]")
        assert len(starts(tmp_path)) == 1


@pytest.mark.req("C-51", "T-70")
async def test_cancelling_a_call_tells_the_server_and_leaves_the_connection(
    tmp_path: Path,
) -> None:
    async with connected(tmp_path, moody(tmp_path)) as servers:
        async with asyncio.TaskGroup() as group:
            waiting = group.create_task(call(servers, "never"))
            await until(lambda: status(servers, "moody").calls == 1)
            # The call before it was sent, so that it is under way when this one is answered.
            assert await call(servers, "ok") == "ok"
            waiting.cancel()
        assert await call(servers, "cancelled") != "[]"
        assert len(starts(tmp_path)) == 1


@pytest.mark.fault("F67")
async def test_an_answer_of_too_many_bytes_fails_its_call_alone_at_once(tmp_path: Path) -> None:
    async with connected(tmp_path, moody(tmp_path)) as servers:
        with pytest.raises(ProtocolFailure, match="more than 16777216 bytes"):
            await call(servers, "huge")
        assert await call(servers, "ok") == "ok"
        assert len(starts(tmp_path)) == 1


@pytest.mark.fault("F37", "F67")
async def test_a_flood_of_notices_is_read_slower_and_costs_no_other_server(
    tmp_path: Path,
) -> None:
    quiet = tmp_path / "quiet"
    quiet.mkdir()
    async with connected(tmp_path, moody(tmp_path), moody(quiet, name="quiet")) as servers:
        async with asyncio.TaskGroup() as group:
            flood = group.create_task(call(servers, "flood", notices=5000))
            for _ in range(20):
                assert text(await servers.call("quiet", "ok", {}, SECONDS)) == "ok"
        assert flood.result() == "flood"
        assert any("read slower" in line for line in status(servers, "moody").warnings)


@pytest.mark.req("T-70")
async def test_an_error_of_the_server_is_told_in_its_words(tmp_path: Path) -> None:
    async with connected(tmp_path, moody(tmp_path)) as servers:
        with pytest.raises(ProtocolFailure, match="error -32000: the disk is full"):
            await call(servers, "fail")
        assert status(servers, "moody").errors == 1


@pytest.mark.fault("F9")
async def test_a_command_that_ends_at_once_is_told_with_its_last_words(tmp_path: Path) -> None:
    async with connected(tmp_path, moody(tmp_path, "crashing")) as servers:
        detail = status(servers, "moody").detail
        assert "exit code 3; its last words: no licence found" in detail
        await until(lambda: len(starts(tmp_path)) >= 5)
        await until(lambda: status(servers, "moody").state == "failed")
        tried = len(starts(tmp_path))
        for _ in range(50):
            with pytest.raises(ServerUnavailable, match="exit code 3"):
                await call(servers, "ok")
        # The circuit is open: calls no longer start it, only the waiting time does.
        assert len(starts(tmp_path)) <= tried + 2


@pytest.mark.req("K-57")
async def test_a_program_that_is_not_there_is_named(tmp_path: Path) -> None:
    missing = McpServer(name="missing", command="no-such-program-9")
    async with connected(tmp_path, missing) as servers:
        assert "there is no program no-such-program-9" in status(servers, "missing").detail


@pytest.mark.req("K-57", "C-50", "C-52")
@pytest.mark.fault("F67")
async def test_every_rude_answer_over_http_fails_its_call_alone(tmp_path: Path) -> None:
    with listening(str(FAKES / "mcp_rude_http.py")) as first:
        address = f"http://127.0.0.1:{first.split()[1]}"
        paths = ("good", "status/200", "status/401", "later/403", "later/500", "endless", "zipped")
        servers_of = [
            McpServer(name=path.replace("/", "_"), url=f"{address}/{path}") for path in paths
        ]
        async with connected(tmp_path, *servers_of) as servers:
            assert status(servers, "status_200").state == "failed"
            assert "text/html" in status(servers, "status_200").detail
            assert "HTTP 401" in status(servers, "status_401").detail
            for name, kind, said in (
                ("later_403", ProtocolFailure, "HTTP 403"),
                ("later_500", OutcomeUnknown, "HTTP 500.*not known"),
                ("endless", OutcomeUnknown, "more than 16777216 bytes"),
                ("zipped", OutcomeUnknown, "compressed"),
            ):
                with pytest.raises(kind, match=f"MCP server {name}: .*{said}"):
                    await servers.call(name, "headers", {}, SECONDS)
            assert "accept" in text(await servers.call("good", "headers", {}, SECONDS))


@pytest.mark.fault("F67")
async def test_an_event_stream_without_an_end_ends_with_its_call(tmp_path: Path) -> None:
    with listening(str(FAKES / "mcp_rude_http.py")) as first:
        address = f"http://127.0.0.1:{first.split()[1]}"
        flood = McpServer(name="flood", url=f"{address}/flood")
        async with connected(tmp_path, flood, moody(tmp_path)) as servers:
            async with asyncio.TaskGroup() as group:
                flooded = group.create_task(timed_out(servers))
                for _ in range(20):
                    assert await call(servers, "ok") == "ok"
            assert flooded.result()


async def timed_out(servers: McpServers) -> bool:
    with pytest.raises(CallTimedOut):
        await servers.call("flood", "headers", {}, 1.0)
    return True
