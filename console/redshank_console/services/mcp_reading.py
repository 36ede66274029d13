"""Reads what MCP servers the cluster has, how they are, what they offer."""

from collections.abc import Iterable, Sequence

import msgspec

from redshank_console.collector.cluster import Cluster
from redshank_console.collector.nodes import Node
from redshank_console.services.dry_runs import DryRuns
from redshank_console.services.mcp_known import KnownServer, of_catalogue, of_rows, of_settings
from redshank_console.services.mcp_views import detail_view, server_view, totals_view
from redshank_shared.domain.errors import NotFound
from redshank_shared.settings.mcp_server import McpServer
from redshank_shared.stores.database import Database
from redshank_shared.stores.mcp_servers import McpServerRows
from redshank_shared.stores.mcp_tools import McpTools
from redshank_shared.stores.paging import checked_limit, cut, decode_cursor, encode_cursor
from redshank_shared.stores.services import Services
from redshank_shared.wire.mcp_catalogue import ListedServer, decode_catalogue
from redshank_shared.wire.mcp_views import McpServerDetailView, McpServersView, McpServerView

# What a server offers is read from so many nodes: they all see the same servers.
MOST_NODES_READ = 20


class _Seen(msgspec.Struct, frozen=True):
    known: dict[str, KnownServer]
    nodes: Sequence[Node]


class McpReading:
    """Every method raises Unavailable while the database does not answer."""

    def __init__(
        self,
        database: Database,
        cluster: Cluster,
        configured: Iterable[McpServer],
        dry_runs: DryRuns,
    ) -> None:
        self._database = database
        self._cluster = cluster
        self._configured = of_settings(configured)
        self._dry_runs = dry_runs
        self._rows = McpServerRows(database)
        self._tools = McpTools(database)
        self._services = Services(database)

    async def page(self, limit: int, cursor: str | None) -> McpServersView:
        """Servers by name, the totals of all of them. Invalid names limit or cursor."""
        after = decode_cursor(cursor, str) if cursor else ""
        views = await self._views()
        shown, more = cut([view for view in views if view.name > after], checked_limit(limit))
        return McpServersView(
            items=shown,
            next_cursor=encode_cursor(shown[-1].name) if more else None,
            total=len(views),
            totals=totals_view(views),
        )

    async def server(self, name: str, by: str) -> McpServerDetailView:
        """One server with what it offers, decided as for whoever asks; NotFound."""
        seen = await self._seen()
        known = seen.known.get(name)
        if known is None:
            raise unknown_server(name)
        listed = await self._listed(name, seen.nodes)
        accepted = await self._database.run(self._tools.of, name)
        exposed = {tool.exposed for server in listed.values() for tool in server.tools}
        decisions = await self._dry_runs.decisions(exposed, by)
        changed = sum(bool(each.changed_digest) for each in accepted)
        view = server_view(known, seen.nodes, changed)
        return detail_view(view, known, listed, accepted, decisions)

    async def view(self, name: str) -> McpServerView:
        """One server without what it offers; NotFound."""
        found = next((view for view in await self._views() if view.name == name), None)
        if found is None:
            raise unknown_server(name)
        return found

    async def known(self) -> dict[str, KnownServer]:
        """Every server by name."""
        return (await self._seen()).known

    async def alive(self) -> list[Node]:
        """The nodes that can carry out an order."""
        return [node for node in await self._nodes() if node.state != "lost"]

    async def _views(self) -> list[McpServerView]:
        seen = await self._seen()
        changed = await self._database.run(self._tools.changed_counts)
        return [
            server_view(known, seen.nodes, changed.get(name, 0))
            for name, known in sorted(seen.known.items())
        ]

    async def _seen(self) -> _Seen:
        nodes = await self._nodes()
        rows = await self._database.run(self._rows.servers)
        known = {each.name: each for each in (*of_rows(rows), *self._configured)}
        said = {each.name for node in nodes for each in node.report.mcp_servers}
        if not said <= known.keys():
            # Nodes may have settings of their own.
            for catalogue in (await self._catalogues(nodes)).values():
                for listed in catalogue:
                    # The name that a node drops next is still in its catalogue: no server of ours.
                    if listed.origin == "settings":
                        known.setdefault(listed.name, of_catalogue(listed))
        return _Seen(known, nodes)

    async def _listed(self, name: str, nodes: Sequence[Node]) -> dict[str, ListedServer]:
        having = [
            node for node in nodes if any(each.name == name for each in node.report.mcp_servers)
        ]
        catalogues = await self._catalogues(having)
        return {
            node: listed
            for node, catalogue in catalogues.items()
            for listed in catalogue
            if listed.name == name
        }

    async def _catalogues(self, nodes: Sequence[Node]) -> dict[str, tuple[ListedServer, ...]]:
        """By the node's name."""
        read = [node for node in nodes if node.state != "lost"][:MOST_NODES_READ]
        texts = await self._database.run(self._services.catalogues, [node.id for node in read])
        return {node.name: decode_catalogue(texts.get(node.id, "")).servers for node in read}

    async def _nodes(self) -> list[Node]:
        return (await self._cluster.registered()).nodes


def unknown_server(name: str) -> NotFound:
    """Nothing in the cluster is called so."""
    return NotFound(
        f"there is no MCP server {name[:100]}; list them with GET /v1/mcp/servers",
        code="mcp_server_not_found",
        field="name",
    )
