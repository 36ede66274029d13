"""A session may end, a server hang: no call is carried out twice, the server comes back."""

import asyncio
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from redshank_node.mcp_client.failures import CallTimedOut, OutcomeUnknown, ProtocolFailure
from redshank_node.mcp_client.loading import load_opener
from redshank_node.mcp_client.supervisor import McpServers
from redshank_shared.settings.mcp_server import McpServer
from tests.fakes.mcp_node import connected, status, surroundings, until
from tests.integration.mcp_moods import (
    FAKES,
    SECONDS,
    call,
    listening,
    moody,
    starts,
    text,
)


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with listening(str(FAKES / "mcp_stateful_http.py")) as first:
        yield f"http://127.0.0.1:{first.split()[1]}"


def stateful(address: str, kind: str, **fields: float) -> McpServer:
    return McpServer(
        name=kind, url=f"{address}/{kind}", **{"startup_timeout_sec": SECONDS, **fields}
    )


async def work(servers: McpServers, name: str, seconds: float = SECONDS) -> str:
    return text(await servers.call(name, "work", {}, seconds))


@pytest.mark.req("T-74")
@pytest.mark.fault("F10")
@pytest.mark.parametrize("kind", ["gone", "unread"])
async def test_a_call_that_a_lost_session_kept_from_being_read_is_carried_out_once(
    tmp_path: Path, address: str, kind: str
) -> None:
    async with connected(tmp_path, stateful(address, kind)) as servers:
        assert await work(servers, kind) == "done 1"
        assert status(servers, kind).reconnects == 1


@pytest.mark.req("C-51")
@pytest.mark.fault("F10")
async def test_a_refusal_in_words_of_a_session_may_come_behind_the_effect_and_is_not_sent_again(
    tmp_path: Path, address: str
) -> None:
    async with connected(tmp_path, stateful(address, "lapsed")) as servers:
        with pytest.raises(OutcomeUnknown, match="MCP server lapsed: it answers HTTP 400.*not kno"):
            await work(servers, "lapsed")
        # What it offers was asked for, refused too, and that has no effect: a new session.
        await until(lambda: status(servers, "lapsed").reconnects == 1)
        assert await work(servers, "lapsed") == "done 2"


@pytest.mark.fault("F10")
async def test_an_error_of_the_tool_that_speaks_of_a_session_is_told_in_the_servers_words(
    tmp_path: Path, address: str
) -> None:
    async with connected(tmp_path, stateful(address, "broken")) as servers:
        with pytest.raises(ProtocolFailure, match="error -32000: the browser session crashed"):
            await work(servers, "broken")
        assert status(servers, "broken").reconnects == 0
        with pytest.raises(ProtocolFailure):
            await work(servers, "broken")


async def late(servers: McpServers, name: str, tool: str) -> None:
    with pytest.raises(CallTimedOut, match=f"MCP server {name}: no answer within"):
        await servers.call(name, tool, {}, 0.3)


@pytest.mark.req("C-51")
@pytest.mark.fault("F9", "F10")
async def test_a_command_that_hangs_without_dying_is_started_anew(tmp_path: Path) -> None:
    async with connected(tmp_path, moody(tmp_path, tool_timeout_sec=0.5)) as servers:
        for _ in range(3):
            await late(servers, "moody", "stuck")
        await until(lambda: len(starts(tmp_path)) == 2)
        assert await call(servers, "ok") == "ok"
        assert status(servers, "moody").reconnects == 1
        said = "3 calls had no answer in time, then a ping none within 0.5 s"
        assert said in status(servers, "moody").warnings


@pytest.mark.req("C-51")
@pytest.mark.fault("F9", "F10")
async def test_a_server_over_http_that_takes_requests_and_never_answers_gets_a_new_session(
    tmp_path: Path, address: str
) -> None:
    server = stateful(address, "stuck", tool_timeout_sec=0.5)
    async with connected(tmp_path, server) as servers:
        async with asyncio.TaskGroup() as group:
            for _ in range(3):
                group.create_task(late(servers, "stuck", "work"))
        await until(lambda: status(servers, "stuck").reconnects == 1)
        assert await work(servers, "stuck") == "done 1"


@pytest.mark.fault("F9")
async def test_a_server_that_answers_a_ping_keeps_its_connection_however_late_its_calls_are(
    tmp_path: Path,
) -> None:
    async with connected(tmp_path, moody(tmp_path)) as servers:
        for _ in range(2):
            await late(servers, "moody", "never")
        assert await call(servers, "ok") == "ok"
        await late(servers, "moody", "never")
        # An answer came between: three in a row it was not.
        assert not (tmp_path / "pings").exists()
        for _ in range(2):
            await late(servers, "moody", "never")
        await until(lambda: (tmp_path / "pings").exists())
        assert await call(servers, "ok") == "ok"
        assert len(starts(tmp_path)) == 1


class Unheard:
    """Signals that nobody waits for."""

    def list_changed(self) -> None:
        """Nothing follows."""

    def lost(self, cause: str) -> None:
        """Nothing follows."""

    def warned(self, warning: str) -> None:
        """Nothing follows."""


@pytest.mark.fault("F9")
async def test_a_server_of_a_protocol_without_ping_shows_that_it_is_there(tmp_path: Path) -> None:
    words = (str(FAKES / "mcp_modern.py"), str(tmp_path))
    server = McpServer(name="modern", command=sys.executable, args=words)
    opener = await load_opener()
    async with opener(server, surroundings(tmp_path), Unheard()) as connection:
        before = connection.answers
        async with asyncio.timeout(SECONDS):
            await connection.ping()
        assert connection.answers == before + 1
