"""How long a node's loop is held up while MCP servers do their worst."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest

from redshank_node.mcp_client.failures import McpFailure
from redshank_node.mcp_client.supervisor import McpServers
from tests.bench.figures import figure
from tests.contract.mcp.case_servers import case
from tests.fakes.mcp_node import connected, until
from tests.integration.mcp_moods import SECONDS, moody

TICK_SECONDS = 0.005
ASKED_MS = 100.0


class Lag:
    """The longest time by which the loop came late to a tick, in seconds."""

    def __init__(self) -> None:
        self.worst = 0.0
        self._stop = False

    async def watch(self) -> None:
        loop = asyncio.get_running_loop()
        while not self._stop:
            due = loop.time() + TICK_SECONDS
            await asyncio.sleep(TICK_SECONDS)
            self.worst = max(self.worst, loop.time() - due)

    def stop(self) -> None:
        self._stop = True


@contextlib.asynccontextmanager
async def watched() -> AsyncIterator[Lag]:
    lag = Lag()
    async with asyncio.TaskGroup() as group:
        group.create_task(lag.watch())
        yield lag
        lag.stop()


async def deep(servers: McpServers) -> None:
    for tool in ("levels", "fields", "key", "items", "image", "odd_text"):
        with contextlib.suppress(McpFailure):
            await servers.call("deep", tool, {}, SECONDS)


async def flood(servers: McpServers) -> None:
    await servers.call("moody", "flood", {"notices": 8000}, SECONDS)


async def huge(servers: McpServers) -> None:
    with contextlib.suppress(McpFailure):
        await servers.call("moody", "huge", {}, SECONDS)


async def storm(servers: McpServers) -> None:
    await until(lambda: len(servers.inventories()["storm"].tools) == 5)


async def thousands(servers: McpServers) -> None:
    await servers.refresh("many")


@pytest.mark.req("K-55")
@pytest.mark.fault("F67", "F37")
@pytest.mark.parametrize("hostile", [deep, flood, huge, storm, thousands])
async def test_the_loop_goes_on_while_a_server(
    tmp_path: Path, hostile: Callable[[McpServers], Awaitable[None]]
) -> None:
    """Prints the worst lag of the loop (goal: below 100 ms). On a busy machine the loop comes late
    through no fault of its own, so the best of three times counts.
    """
    worst_ms = float("inf")
    for time in range(3):
        many = tmp_path / f"many_{time}"
        many.mkdir()
        (many / "tools").write_text("\n".join(f"tool_{number}" for number in range(10_000)))
        given = (case("deep"), case("storm"), moody(tmp_path))
        given = (*given, moody(many, name="many"))
        async with connected(many, *given) as servers, watched() as lag:
            await hostile(servers)
        worst_ms = min(worst_ms, lag.worst * 1000)
        if worst_ms <= ASKED_MS:
            break
    figure(f"loop lag while a server is {hostile.__name__}", worst_ms, ASKED_MS, "ms")
