"""Gathers the cluster's figures, at most once a second however many ask."""

import asyncio
import logging
from collections.abc import Callable

import msgspec

from redshank_console.collector.census import Census, Registered
from redshank_console.collector.fresh import Fresh
from redshank_console.collector.nodes import Node
from redshank_shared.domain.errors import RedshankError, Unavailable
from redshank_shared.queue.dispatch import Dispatch, QueueDepth
from redshank_shared.queue.reports import McpFigures
from redshank_shared.stores.database import Database
from redshank_shared.stores.services import Services
from redshank_shared.stores.workstreams import Totals, WorkstreamFilters, Workstreams

logger = logging.getLogger(__name__)

FRESH_SECONDS = 1.0
AHEAD_SECONDS = 0.7
WANTED_SECONDS = 10.0
REDIS_SECONDS = 0.5


class Figures(msgspec.Struct, frozen=True):
    """What the database and Redis said at one moment; `queue` is None while Redis is away."""

    registered: Registered
    versions: tuple[str, ...]
    by_state: dict[str, int]
    totals: Totals
    needs_you: int
    queue: QueueDepth | None
    mcp: McpFigures


class Cluster:
    """One look for all who ask within a second. `monotonic`: seconds on a steady clock.

    Every method raises Unavailable while the database does not answer.
    """

    def __init__(  # noqa: PLR0913 - five sources of figures, a clock
        self,
        database: Database,
        services: Services,
        workstreams: Workstreams,
        dispatch: Dispatch,
        monotonic: Callable[[], float],
        census: Census | None = None,
    ) -> None:
        """Without a `census` that somebody runs, the registry is looked at for who asks."""
        self._database = database
        self._workstreams = workstreams
        self._dispatch = dispatch
        self._monotonic = monotonic
        self.census = census or Census(database, services, monotonic)
        self._figures = Fresh(self._gather, FRESH_SECONDS, monotonic)
        self._asked_at = float("-inf")

    async def run(self) -> None:
        """Keep census, and figures fresh while anybody wants them, without an end."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self.census.run())
            await self._stay_ahead()

    async def registered(self) -> Registered:
        """The nodes, at most a second old."""
        return await self.census.registered()

    async def figures(self) -> Figures:
        """Everything, at most a second old."""
        self._asked_at = self._monotonic()
        return await self._figures.get()

    async def _stay_ahead(self) -> None:
        """Who asks again and again finds the answer ready."""
        while True:
            await asyncio.sleep(AHEAD_SECONDS)
            if self._monotonic() - self._asked_at > WANTED_SECONDS:
                continue
            try:
                await self._figures.renew()
            except RedshankError as error:
                logger.debug("figures not gathered ahead: %s", error.detail)

    async def _gather(self) -> Figures:
        registered = await self.census.registered()
        figures = await self._database.run(self._count, registered)
        try:
            async with asyncio.timeout(REDIS_SECONDS):
                queue = await self._dispatch.depth()
        except (Unavailable, TimeoutError):
            return figures
        return msgspec.structs.replace(figures, queue=queue)

    def _count(self, registered: Registered) -> Figures:
        alive = [node for node in registered.nodes if node.state != "lost"]
        waiting = [WorkstreamFilters(waiting_for=kind) for kind in ("approval", "question")]
        return Figures(
            registered=registered,
            versions=tuple(sorted(registered.versions)),
            by_state=self._workstreams.counts_by_state(),
            totals=self._workstreams.totals(),
            needs_you=sum(self._workstreams.page(each, limit=1).total for each in waiting),
            queue=None,
            mcp=_mcp(alive),
        )


def _mcp(nodes: list[Node]) -> McpFigures:
    """The sums over the nodes (T-78)."""
    reached = [node.report.mcp for node in nodes]
    return McpFigures(
        servers=sum(mcp.servers for mcp in reached),
        resources=sum(mcp.resources for mcp in reached),
        prompts=sum(mcp.prompts for mcp in reached),
        tools=sum(mcp.tools for mcp in reached),
    )
