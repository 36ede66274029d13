"""Bundles what the routes of MCP servers stand on."""

import contextlib
from collections.abc import Callable
from dataclasses import dataclass

from redshank_console.collector.cluster import Cluster
from redshank_console.services.admin_audit import AdminAudit
from redshank_console.services.dry_runs import DryRuns
from redshank_console.services.kept_answers import KeptAnswers
from redshank_console.services.mcp_orders import McpOrders
from redshank_console.services.mcp_reading import McpReading
from redshank_console.services.mcp_rounds import McpRounds
from redshank_console.services.mcp_slots import McpSlots
from redshank_console.services.orders import Clock
from redshank_shared.domain.errors import Unavailable
from redshank_shared.queue.bus import Bus
from redshank_shared.settings.sections import Settings
from redshank_shared.stores.database import Database
from redshank_shared.stores.idempotency import Idempotency


@dataclass(frozen=True)
class Mcp:
    """One for a console."""

    reading: McpReading
    orders: McpOrders
    rounds: McpRounds
    slots: McpSlots


def mcp_over(  # noqa: PLR0913 - what a console has, handed in
    database: Database,
    cluster: Cluster,
    settings: Settings,
    dry_runs: DryRuns,
    audit: AdminAudit,
    clock: Clock,
    monotonic: Callable[[], float],
    bus: Bus,
) -> Mcp:
    """All of it, read from this database."""
    configured = settings.mcp_servers
    reading = McpReading(database, cluster, configured, dry_runs)

    async def tell() -> None:
        # Without Redis nodes find it in the table a second later.
        with contextlib.suppress(Unavailable):
            await bus.publish_mcp()

    kept = KeptAnswers(database, Idempotency(database))
    return Mcp(
        reading=reading,
        orders=McpOrders(database, reading, kept, audit, clock, tell, settings.mcp.transports),
        rounds=McpRounds(database, reading, audit, monotonic, tell),
        slots=McpSlots(database, configured),
    )
