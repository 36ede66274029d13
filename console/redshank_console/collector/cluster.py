"""Gathers the cluster's figures, at most once a second however many ask."""

import asyncio
from collections.abc import Callable
from typing import Any

import msgspec

from redshank_console.collector.fresh import Fresh
from redshank_console.collector.nodes import Node, names_of, nodes_of
from redshank_shared.domain.errors import Unavailable
from redshank_shared.queue.dispatch import Dispatch, QueueDepth
from redshank_shared.stores.database import Database
from redshank_shared.stores.services import Services
from redshank_shared.stores.workstreams import Totals, WorkstreamFilters, Workstreams

FRESH_SECONDS = 1.0
REDIS_SECONDS = 0.5
CONSOLE_SECONDS = 15.0


class Registered(msgspec.Struct, frozen=True):
    """The nodes as the registry knows them, the name behind every process of theirs."""

    nodes: list[Node]
    names: dict[str, str]


class Figures(msgspec.Struct, frozen=True):
    """What the database and Redis said at one moment; `queue` is None while Redis is away."""

    registered: Registered
    versions: tuple[str, ...]
    by_state: dict[str, int]
    totals: Totals
    needs_you: int
    queue: QueueDepth | None
    mcp: dict[str, int]


class Cluster:
    """One look for all who ask within a second. `monotonic`: seconds on a steady clock.

    Every method raises Unavailable while the database does not answer.
    """

    def __init__(
        self,
        database: Database,
        services: Services,
        workstreams: Workstreams,
        dispatch: Dispatch,
        monotonic: Callable[[], float],
    ) -> None:
        self._database = database
        self._services = services
        self._workstreams = workstreams
        self._dispatch = dispatch
        self._registered = Fresh(self._look_at_nodes, FRESH_SECONDS, monotonic)
        self._figures = Fresh(self._gather, FRESH_SECONDS, monotonic)

    async def registered(self) -> Registered:
        """The nodes, at most a second old."""
        return await self._registered.get()

    async def figures(self) -> Figures:
        """Everything, at most a second old."""
        return await self._figures.get()

    async def _look_at_nodes(self) -> Registered:
        rows = await self._database.run(self._services.all, "node")
        return Registered(nodes_of(rows), names_of(rows))

    async def _gather(self) -> Figures:
        registered = await self._registered.get()
        figures = await self._database.run(self._count, registered)
        try:
            async with asyncio.timeout(REDIS_SECONDS):
                queue = await self._dispatch.depth()
        except (Unavailable, TimeoutError):
            return figures
        return msgspec.structs.replace(figures, queue=queue)

    def _count(self, registered: Registered) -> Figures:
        consoles = self._services.live("console", CONSOLE_SECONDS)
        alive = {node.version for node in registered.nodes if node.state != "lost"}
        waiting = WorkstreamFilters(waiting_for="approval")
        return Figures(
            registered=registered,
            versions=tuple(sorted(alive | {row.version for row in consoles})),
            by_state=self._workstreams.counts_by_state(),
            totals=self._workstreams.totals(),
            needs_you=self._workstreams.page(waiting, limit=1).total,
            queue=None,
            mcp=_mcp(registered.nodes),
        )


def _mcp(nodes: list[Node]) -> dict[str, int]:
    """What one node reaches, the most of any: each node connects to the same servers."""
    figures: dict[str, int] = {}
    for node in nodes:
        said: Any = node.report.get("mcp")
        if node.state == "lost" or not isinstance(said, dict):
            continue
        for name in ("servers", "resources", "prompts", "tools"):
            if isinstance(said.get(name), int):
                figures[name] = max(figures.get(name, 0), said[name])
    return figures
