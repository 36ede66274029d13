"""Shows the cluster's figures as the API answers them."""

import msgspec

from redshank_console.collector.census import Census
from redshank_console.collector.cluster import Cluster, Figures
from redshank_console.collector.nodes import Node
from redshank_shared.domain.errors import Invalid, NotFound
from redshank_shared.stores.paging import decode_cursor, encode_cursor
from redshank_shared.wire.views import (
    McpCounts,
    NodeCounts,
    NodeView,
    OverviewView,
    PageView,
    QueueView,
    StateCounts,
    UsageView,
)

MOST_NODES = 1000

_encoder = msgspec.json.Encoder()


class Overview:
    """Reads only; figures are at most a second old. Nodes are encoded without a model for each: a
    thousand of them must take no more than 50 ms.
    """

    def __init__(self, cluster: Cluster, version: str) -> None:
        self._cluster = cluster
        self._version = version

    @property
    def census(self) -> Census:
        """Where changes of nodes are told."""
        return self._cluster.census

    async def figures(self) -> OverviewView:
        """Nodes, workstreams by state, what needs a person, queue, totals, versions."""
        return self._view(await self._cluster.figures())

    async def nodes(self) -> PageView[NodeView]:
        """Every node that was heard of within the hour, by name."""
        known = (await self._cluster.registered()).nodes
        items = [NodeView(**msgspec.to_builtins(node)) for node in known]
        return PageView(items=items, next_cursor=None, total=len(items))

    async def nodes_json(self, limit: int, cursor: str | None = None) -> bytes:
        """A page as JSON, by name: every node that was heard of within the hour.

        Invalid names the limit or cursor to blame (F69).
        """
        if not 1 <= limit <= MOST_NODES:
            raise Invalid(f"limit must be 1 to {MOST_NODES}", field="limit")
        after = decode_cursor(cursor, str) if cursor is not None else ""
        known = (await self._cluster.registered()).nodes
        behind = [node for node in known if node.name > after] if after else known
        items = behind[:limit]
        more = len(behind) > limit
        following = encode_cursor(items[-1].name) if more else None
        return _encoder.encode({"items": items, "next_cursor": following, "total": len(known)})

    async def node(self, named: str) -> bytes:
        """The node of this id or name, as JSON; NotFound."""
        return _encoder.encode(await self._node(named))

    async def snapshot(self) -> bytes:
        """The overview with all nodes, as JSON."""
        overview = self._view(await self._cluster.figures())
        nodes = (await self._cluster.registered()).nodes
        figures = msgspec.Raw(overview.model_dump_json().encode())
        return _encoder.encode({"overview": figures, "nodes": nodes})

    async def _node(self, named: str) -> Node:
        for node in (await self._cluster.registered()).nodes:
            if named in (node.id, node.name):
                return node
        raise NotFound(
            f"there is no node {named[:100]}; list them with GET /v1/cluster/nodes",
            code="node_not_found",
            field="id",
        )

    def _view(self, figures: Figures) -> OverviewView:
        versions = sorted({*figures.versions, self._version})
        mcp = figures.mcp
        return OverviewView(
            nodes=_counts(figures.registered.nodes),
            workstreams=StateCounts(**figures.by_state),
            needs_you=figures.needs_you,
            queues=_queue(figures),
            totals=UsageView(
                input_tokens=figures.totals.input_tokens,
                output_tokens=figures.totals.output_tokens,
                calls=figures.totals.calls,
            ),
            mcp=McpCounts(
                servers=mcp.servers, resources=mcp.resources, prompts=mcp.prompts, tools=mcp.tools
            ),
            version=self._version,
            versions=versions,
            version_drift=len(versions) > 1,
        )


def _counts(nodes: list[Node]) -> NodeCounts:
    states = [node.state for node in nodes]
    return NodeCounts(
        up=states.count("up"),
        lost=states.count("lost"),
        draining=states.count("draining"),
        total=len(states),
    )


def _queue(figures: Figures) -> QueueView:
    if figures.queue is None:
        return QueueView(depth=None, oldest_seconds=None)
    return QueueView(
        depth=figures.queue.depth, oldest_seconds=round(figures.queue.oldest_seconds, 3)
    )
