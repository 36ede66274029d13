"""Shows the cluster's figures as the API answers them."""

from redshank_console.collector.cluster import Cluster, Figures
from redshank_console.collector.nodes import Node
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


class Overview:
    """Reads only; figures are at most a second old."""

    def __init__(self, cluster: Cluster, version: str) -> None:
        self._cluster = cluster
        self._version = version

    async def figures(self) -> OverviewView:
        """Nodes, workstreams by state, what needs a person, queue, totals, versions."""
        figures = await self._cluster.figures()
        versions = sorted({*figures.versions, self._version})
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
            mcp=McpCounts(**figures.mcp),
            version=self._version,
            versions=versions,
            version_drift=len(versions) > 1,
        )

    async def nodes(self) -> PageView[NodeView]:
        """Every node that was heard of within the hour, by name."""
        registered = await self._cluster.registered()
        items = [
            NodeView(
                id=node.id,
                name=node.name,
                state=node.state,
                address=node.address,
                version=node.version,
                started_at=node.started_at,
                age_seconds=node.age_seconds,
                report=node.report,
            )
            for node in registered.nodes
        ]
        return PageView(items=items, next_cursor=None, total=len(items))


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
