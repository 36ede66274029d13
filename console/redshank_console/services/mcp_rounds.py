"""Has every node ask MCP servers again, gathers what they did (T-73)."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence

from redshank_console.collector.nodes import Node
from redshank_console.services.admin_audit import AdminAudit
from redshank_console.services.mcp_reading import McpReading, unknown_server
from redshank_shared.stores.database import Database
from redshank_shared.stores.mcp_servers import Answered, McpServerRows, Order
from redshank_shared.wire.mcp_views import McpNodeAnswerView, McpOrderView

ANSWER_SECONDS = 10.0
_LOOK_SECONDS = 0.2


class McpRounds:
    """`monotonic`: seconds on a steady clock; `tell` has nodes look at once."""

    def __init__(
        self,
        database: Database,
        reading: McpReading,
        audit: AdminAudit,
        monotonic: Callable[[], float],
        tell: Callable[[], Awaitable[None]],
    ) -> None:
        self._database = database
        self._reading = reading
        self._audit = audit
        self._monotonic = monotonic
        self._tell = tell
        self._rows = McpServerRows(database)

    async def of_server(self, name: str, order: Order, by: str) -> McpOrderView:
        """What each node did about this server within 10 s; NotFound."""
        if name not in await self._reading.known():
            raise unknown_server(name)
        return (await self._round([name], order, by))[0]

    async def of_all(self, order: Order, by: str) -> list[McpOrderView]:
        """The same for every server."""
        return await self._round(sorted(await self._reading.known()), order, by)

    async def _round(self, names: list[str], order: Order, by: str) -> list[McpOrderView]:
        if not names:
            return []
        serial = await self._database.run(self._rows.order, names, order)
        await self._tell()
        await self._audit.record(by, f"mcp_server.{order}", ", ".join(names)[:500])
        end = self._monotonic() + ANSWER_SECONDS
        while True:
            nodes = await self._reading.alive()
            said = await self._database.run(self._rows.answers, names, order, serial)
            views = [_view(name, order, nodes, said) for name in names]
            if all(is_answered(view) for view in views) or self._monotonic() >= end:
                return views
            await asyncio.sleep(_LOOK_SECONDS)


def is_answered(view: McpOrderView) -> bool:
    """Whether no node is silent."""
    return all(node.answered for node in view.nodes)


def _view(name: str, order: Order, nodes: Sequence[Node], said: Sequence[Answered]) -> McpOrderView:
    by_node = {each.service_id: each for each in said if each.name == name}
    return McpOrderView(
        server=name,
        order=order,
        nodes=[_node_view(node, by_node.get(node.id)) for node in nodes],
    )


def _node_view(node: Node, said: Answered | None) -> McpNodeAnswerView:
    if said is None:
        return McpNodeAnswerView(node=node.name, answered=False, added=[], removed=[], error="")
    return McpNodeAnswerView(
        node=node.name,
        answered=True,
        added=list(said.added),
        removed=list(said.removed),
        error=said.error,
    )
