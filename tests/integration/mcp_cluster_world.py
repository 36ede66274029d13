"""Nodes without turns: their MCP servers, what keeps them in step, their word to the console."""

import asyncio
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec

from redshank_node.heartbeat.reporter import Reporter
from redshank_node.mcp_client.overlay import Overlay
from redshank_node.mcp_client.publishing import Publishing
from redshank_node.mcp_client.reporting import figures, server_reports
from redshank_node.mcp_client.supervisor import McpServers
from redshank_shared.domain.errors import NotFound
from redshank_shared.queue.connection import connect
from redshank_shared.queue.reports import McpServerReport, NodeReport, ReportBus, encode_report
from redshank_shared.settings.sections import Settings
from redshank_shared.stores.database import Database
from redshank_shared.stores.services import ServiceRow, Services
from redshank_shared.wire.mcp_catalogue import ListedServer, encode_catalogue
from tests.fakes.mcp_node import surroundings
from tests.integration.console_world import RunningConsole

AT = "2026-11-30T08:15:00.250Z"
DEADLINE_SECONDS = 60.0
SHELF = Path(__file__).parents[1] / "fakes" / "mcp_shelf.py"


def shelf(folder: Path, *lines: str, name: str = "shelf") -> Path:
    """A file that the fake server of this folder offers from."""
    file = folder / name
    file.write_text("\n".join(lines))
    return file


def shelf_record(file: Path) -> dict[str, Any]:
    """The fields of a server that offers from this file."""
    return {"command": sys.executable, "args": [str(SHELF), str(file)]}


async def missing(slot: str) -> str:
    """No slot is set."""
    raise NotFound(f"nothing is set as {slot}")


async def until(holds: Callable[[], bool]) -> None:
    """Return once that is so; TimeoutError after the deadline."""
    async with asyncio.timeout(DEADLINE_SECONDS):
        while not holds():
            await asyncio.sleep(0.02)


class McpNode:
    """A node's part in MCP. `learned`: secrets that it masks from now on; `surface`: the cards of
    what it offers.
    """

    def __init__(self, settings: Settings, database: Database, name: str, folder: Path) -> None:
        self.name = name
        self.node_id = f"{name}.{id(self):x}"
        self.learned: list[str] = []
        self.surface = "[]"
        around = msgspec.structs.replace(surroundings(folder), value=missing)
        self.servers = McpServers(settings.mcp_servers, around)
        self.overlay = Overlay(database, self.node_id, self.servers, settings, self.learned.append)
        self.publishing = Publishing(
            database, self.node_id, self.servers, self.overlay, lambda: self.surface
        )

    def tools(self, server: str) -> set[str]:
        """What it can call there."""
        found = self.servers.inventories().get(server)
        return {tool.name for tool in found.tools} if found else set()

    def report(self) -> str:
        """What it says of itself."""
        statuses = self.servers.statuses()
        lines = server_reports(statuses, self.servers.inventories())
        return encode_report(
            NodeReport(node=self.name, mcp=figures(statuses), mcp_servers=lines, slots=1)
        )


@asynccontextmanager
async def mcp_node(
    settings: Settings, name: str, folder: Path, *, redis: bool = True
) -> AsyncIterator[McpNode]:
    """A node that has started, until the context is left."""
    database = Database(settings.database.url, synchronous="NORMAL")
    node = McpNode(settings, database, name, folder)
    client = connect(settings.redis.url)
    described = ServiceRow(node.node_id, "node", "http://x", "1", AT, node.report(), surface="[]")
    bus = ReportBus(client) if redis else None
    reporter = Reporter(database, Services(database), described, node.report, bus)
    stop = asyncio.Event()
    try:
        async with asyncio.TaskGroup() as group:
            try:
                async with asyncio.timeout(DEADLINE_SECONDS):
                    await node.overlay.load()
                    group.create_task(node.servers.run(stop))
                    await node.overlay.started()
                for part in (node.overlay, node.publishing, reporter):
                    group.create_task(part.run(stop))
                yield node
            finally:
                stop.set()
    finally:
        await client.aclose()
        await database.settled()
        database.close()


class NodeSaid(msgspec.Struct, frozen=True):
    """What a node says of its servers, what they offer."""

    name: str
    servers: tuple[McpServerReport, ...] = ()
    listed: tuple[ListedServer, ...] = ()

    @property
    def node_id(self) -> str:
        return f"{self.name}.1"


@asynccontextmanager
async def telling(console: RunningConsole, *nodes: NodeSaid) -> AsyncIterator[None]:
    """Nodes that go on saying this, once the console knows it: silent ones are lost."""
    services = Services(console.database)

    async def tell() -> None:
        while True:
            for node in nodes:
                report = encode_report(NodeReport(node=node.name, mcp_servers=node.servers))
                services.register(
                    ServiceRow(node.node_id, "node", "http://x", "1", AT, report, surface="[]")
                )
                services.describe(node.node_id, "[]", encode_catalogue(node.listed))
            await asyncio.sleep(0.5)

    async with asyncio.TaskGroup() as group:
        told = group.create_task(tell())
        async with asyncio.timeout(DEADLINE_SECONDS):
            while await _up(console) < {node.name for node in nodes}:
                await asyncio.sleep(0.05)
        yield
        told.cancel()
    for node in nodes:
        services.leave(node.node_id)


async def _up(console: RunningConsole) -> set[str]:
    page = (await console.client.get("/v1/cluster/nodes")).json()
    return {node["name"] for node in page["items"] if node["state"] == "up"}
