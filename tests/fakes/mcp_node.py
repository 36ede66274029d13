"""The MCP servers of a node without the node: connected for as long as a test needs them."""

import asyncio
import random
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec

from redshank_node.mcp_client.inventory import ServerStatus
from redshank_node.mcp_client.supervisor import McpServers
from redshank_node.mcp_client.surroundings import Surroundings
from redshank_shared import clock
from redshank_shared.settings.environment import process_environment
from redshank_shared.settings.mcp_server import McpServer

DEADLINE_SECONDS = 60.0


async def no_slots(slot: str) -> str:
    """No slot is set."""
    raise AssertionError(f"{slot} was asked for")


def surroundings(folder: Path, seed: int = 1) -> Surroundings:
    """What connections stand on; the children of this process may see PATH and HOME alone."""
    around = process_environment()
    return Surroundings(
        value=no_slots,
        redact=str,
        now=clock.now_utc,
        monotonic=clock.monotonic,
        random=random.Random(seed).random,
        folder=folder,
        inherited={name: around[name] for name in ("PATH", "HOME") if name in around},
    )


@asynccontextmanager
async def connected(
    folder: Path, *servers: McpServer, seed: int = 1, **around: Any
) -> AsyncIterator[McpServers]:
    """The servers once each is connected or has failed; closed at the end, children and all.
    `around`: fields of Surroundings that are to be others.
    """
    stop = asyncio.Event()
    made = McpServers(servers, msgspec.structs.replace(surroundings(folder, seed), **around))
    async with asyncio.TaskGroup() as group:
        group.create_task(made.run(stop))
        try:
            async with asyncio.timeout(DEADLINE_SECONDS):
                await made.started()
            yield made
        finally:
            stop.set()


def status(servers: McpServers, name: str) -> ServerStatus:
    """How the server is."""
    (found,) = (each for each in servers.statuses() if each.name == name)
    return found


async def until(holds: Callable[[], bool]) -> None:
    """Return once that is so; TimeoutError after the deadline."""
    async with asyncio.timeout(DEADLINE_SECONDS):
        while not holds():
            await asyncio.sleep(0.01)
