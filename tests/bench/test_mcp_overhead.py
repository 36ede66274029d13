"""What our way to an MCP server costs above the library's own call of the same tool."""

import statistics
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from pathlib import Path

import httpx2
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

from redshank_node.mcp_client.calling import TextContent
from redshank_shared.settings.mcp_server import McpServer
from tests.bench.figures import figure
from tests.fakes.mcp_node import connected
from tests.fakes.ports import free_port

ECHO = Path(__file__).parents[1] / "fakes" / "mcp_echo.py"
MOST_MICROSECONDS = 300.0
ROUNDS = 20
CALLS_A_ROUND = 25
ARGUMENTS = {"word": "redshank"}

Call = Callable[[], Awaitable[object]]


@asynccontextmanager
async def stdio(folder: Path) -> AsyncIterator[tuple[Client, McpServer]]:
    """The library's client at a command, our record of another one."""
    arguments = ("-I", str(ECHO), str(folder))
    theirs = StdioServerParameters(command=sys.executable, args=[*arguments, "theirs", "stdio"])
    ours = McpServer(name="ours", command=sys.executable, args=(*arguments, "ours", "stdio"))
    async with Client(theirs) as client:
        yield client, ours


@asynccontextmanager
async def http(folder: Path) -> AsyncIterator[tuple[Client, McpServer]]:
    """The library's client at a port, our record of the same one."""
    port = free_port()
    url = f"http://127.0.0.1:{port}/mcp"
    command = (sys.executable, "-I", str(ECHO), str(folder), "both", "http", str(port))
    with subprocess.Popen(command, stdout=subprocess.PIPE) as server:
        try:
            assert server.stdout is not None
            server.stdout.readline()
            async with AsyncExitStack() as stack:
                asked = await stack.enter_async_context(httpx2.AsyncClient())
                streams = streamable_http_client(url, http_client=asked)
                client = await stack.enter_async_context(Client(streams))
                yield client, McpServer(name="ours", url=url)
        finally:
            server.kill()


@pytest.mark.req("C-55")
@pytest.mark.parametrize("wire", [stdio, http], ids=["stdio", "http"])
async def test_a_call_costs_little_more_than_the_librarys_own(
    tmp_path: Path, wire: Callable[[Path], AbstractAsyncContextManager[tuple[Client, McpServer]]]
) -> None:
    async with wire(tmp_path) as (client, ours), connected(tmp_path, ours) as servers:

        async def theirs() -> object:
            return (await client.call_tool("echo", ARGUMENTS)).content[0]

        async def mine() -> object:
            return (await servers.call("ours", "echo", ARGUMENTS, 60.0)).content[0]

        assert isinstance(await mine(), TextContent)
        taken: dict[Call, list[float]] = {theirs: [], mine: []}
        # Turn and turn about, so that what else the machine does meets both.
        for _ in range(ROUNDS):
            for call, seconds in taken.items():
                seconds += [await timed(call) for _ in range(CALLS_A_ROUND)]
    library, redshank = (statistics.median(seconds) * 1e6 for seconds in taken.values())
    sys.stdout.write(f"\nthe library's call: {library:.0f} µs, through Redshank: {redshank:.0f} µs")
    figure("above the library's call", redshank - library, MOST_MICROSECONDS, "µs")


async def timed(call: Call) -> float:
    """Seconds of one call."""
    began = time.perf_counter()
    await call()
    return time.perf_counter() - began
