"""Answers about the cluster, as OpenAPI describes them. Times are RFC 3339 UTC."""

from typing import Literal

from redshank_shared.wire.views import McpCounts, OverviewView, View


class McpServerReportView(View):
    """An MCP server as it is on a node; what is left out has its default."""

    name: str
    state: Literal["connecting", "connected", "failed", "needs_login", "left_out", "disabled"]
    since: str = ""
    detail: str = ""
    latency_ms: float | None = None
    tools: int = 0
    offered: int = 0
    resources: int = 0
    templates: int = 0
    prompts: int = 0
    calls: int = 0
    errors: int = 0


class NodeReportView(View):
    """What a node said of itself. `load`: 1.0 is a machine in full use. `tools`: names offered to
    models. `workstreams`: ids in hand. `sandbox`: what confines commands there, empty where an
    older node does not say.
    """

    node: str
    slots: int
    busy: int
    free: int
    load: float
    draining: bool
    leads_clock: bool
    loop_lag_ms: int
    memory_bytes: int
    pid: int
    sandbox: str
    mcp: McpCounts
    tools: list[str]
    workstreams: list[str]
    mcp_servers: list[McpServerReportView]


class ClusterNodeView(View):
    """A node. `report` is what it said of itself last, `age_seconds` ago."""

    id: str
    name: str
    state: Literal["up", "lost", "draining"]
    address: str
    version: str
    started_at: str
    age_seconds: float
    report: NodeReportView


class SnapshotView(View):
    """The cluster at one moment."""

    overview: OverviewView
    nodes: list[ClusterNodeView]
