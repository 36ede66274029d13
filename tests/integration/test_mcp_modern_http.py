"""A server of the 2026-07-28 protocol over streamable HTTP: no handshake, no session."""

import asyncio
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import pytest

from redshank_node.mcp_client.calling import EmbeddedResource, TextContent
from redshank_node.mcp_client.supervisor import McpServers
from redshank_shared.settings.mcp_server import McpServer
from tests.fakes.mcp_node import connected, status, until
from tests.fakes.ports import free_port

FAKE = Path(__file__).parents[1] / "fakes" / "mcp_modern_http.py"
NAME = "modern"
SECONDS = 60.0


@asynccontextmanager
async def serving(port: int) -> AsyncIterator[None]:
    """The server, for as long as the block lasts."""
    started = await asyncio.create_subprocess_exec(
        *(sys.executable, str(FAKE), str(port)), stderr=asyncio.subprocess.PIPE
    )
    assert started.stderr is not None
    try:
        async with asyncio.timeout(SECONDS):
            while b"running on" not in await started.stderr.readline():
                assert started.returncode is None
        yield
    finally:
        started.send_signal(signal.SIGKILL)
        await started.communicate()


def tools(servers: McpServers) -> list[str]:
    return [tool.name for tool in servers.inventories()[NAME].tools]


@pytest.mark.req("B-11", "T-70", "T-74", "T-75", "T-76")
@pytest.mark.fault("F10")
async def test_it_gives_all_that_it_has_tells_of_changes_and_survives_a_restart(
    tmp_path: Path,
) -> None:
    port = free_port()
    record = McpServer(name=NAME, url=f"http://127.0.0.1:{port}/mcp", startup_timeout_sec=SECONDS)
    async with AsyncExitStack() as first:
        await first.enter_async_context(serving(port))
        async with connected(tmp_path, record) as servers:
            found = status(servers, NAME)
            assert (found.state, found.protocol) == ("connected", "2026-07-28")
            counts = (found.tools, found.resources, found.templates, found.prompts)
            assert counts == (2, 1, 1, 1)

            heard: list[str] = []
            called = await servers.call(NAME, "count", {"to": 3}, SECONDS, heard.append)
            assert called.structured == {"result": 3}
            assert heard == ["1/3 at 1", "2/3 at 2", "3/3 at 3"]

            (place,) = (await servers.read_resource(NAME, "birds://of/Husum", SECONDS)).content
            assert isinstance(place, EmbeddedResource)
            assert place.text == "redshanks of Husum"

            filled = await servers.get_prompt(NAME, "describe", {"bird": "redshank"}, SECONDS)
            assert filled.content == (TextContent("What does a redshank look like?"),)

            # The library says nothing of having begun to listen: it is told until it has heard.
            async with asyncio.timeout(SECONDS):
                while "later" not in tools(servers):
                    await servers.call(NAME, "grow", {}, SECONDS)
            doubled = await servers.call(NAME, "later", {"number": 21}, SECONDS)
            assert doubled.structured == {"result": 42}

            await first.aclose()
            async with serving(port):
                again = await servers.call(NAME, "count", {"to": 1}, SECONDS)
                assert again.structured == {"result": 1}
                await until(lambda: tools(servers) == ["grow", "count"])
