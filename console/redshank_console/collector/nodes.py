"""Reads which nodes there are, how each of them does."""

from typing import Any, Literal

import msgspec

from redshank_shared.stores.services import ServiceRow

UP_SECONDS = 6.0
FORGOTTEN_SECONDS = 3600.0

NodeState = Literal["up", "lost", "draining"]


class Node(msgspec.Struct, frozen=True):
    """A node's last process, as it reported itself `age_seconds` ago."""

    id: str
    name: str
    state: NodeState
    address: str
    version: str
    started_at: str
    age_seconds: float
    report: dict[str, Any]


def nodes_of(rows: list[ServiceRow]) -> list[Node]:
    """One node a name, by name: its youngest process. Lost ones drop out after an hour."""
    by_name: dict[str, Node] = {}
    for row in rows:
        node = _node(row)
        known = by_name.get(node.name)
        if node.age_seconds <= FORGOTTEN_SECONDS and (known is None or _newer(node, known)):
            by_name[node.name] = node
    return [by_name[name] for name in sorted(by_name)]


def names_of(rows: list[ServiceRow]) -> dict[str, str]:
    """The name behind every process's id, the lost ones' too."""
    return {row.service_id: _name(row, _report(row)) for row in rows}


def _newer(node: Node, known: Node) -> bool:
    alive = (node.state != "lost", known.state != "lost")
    return alive[0] if alive[0] != alive[1] else node.started_at > known.started_at


def _node(row: ServiceRow) -> Node:
    report = _report(row)
    return Node(
        id=row.service_id,
        name=_name(row, report),
        state=_state(row.age_seconds, report),
        address=row.address,
        version=row.version,
        started_at=row.started_at,
        age_seconds=round(row.age_seconds, 3),
        report=report,
    )


def _state(age_seconds: float, report: dict[str, Any]) -> NodeState:
    if age_seconds > UP_SECONDS:
        return "lost"
    return "draining" if report.get("draining") is True else "up"


def _name(row: ServiceRow, report: dict[str, Any]) -> str:
    name = report.get("node")
    return name if isinstance(name, str) and name else row.service_id


def _report(row: ServiceRow) -> dict[str, Any]:
    try:
        return msgspec.json.decode(row.report or "{}", type=dict[str, Any])
    except msgspec.DecodeError:
        return {}
