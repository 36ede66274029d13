"""Says what a node is, as a console shows it."""

from typing import Literal

import msgspec

from redshank_shared.queue.reports import NodeReport

NodeState = Literal["up", "lost", "draining"]

_RESTLESS = {"load": 0.0, "loop_lag_ms": 0, "memory_bytes": 0}
_RESTLESS_OF_SERVERS = {
    "latency_ms": None,
    "calls": 0,
    "errors": 0,
    "hour_calls": 0,
    "hour_errors": 0,
}


class Node(msgspec.Struct, frozen=True):
    """A node's last process, as it reported itself `age_seconds` ago. `started_at`: RFC 3339."""

    id: str
    name: str
    state: NodeState
    address: str
    version: str
    started_at: str
    age_seconds: float
    report: NodeReport


def settled(report: NodeReport) -> NodeReport:
    """The report without the figures that differ from second to second."""
    servers = tuple(
        msgspec.structs.replace(server, **_RESTLESS_OF_SERVERS) for server in report.mcp_servers
    )
    return msgspec.structs.replace(report, mcp_servers=servers, **_RESTLESS)
