"""Finds what is different between two looks at the nodes."""

from collections.abc import Mapping
from typing import Literal

import msgspec

from redshank_console.collector.nodes import Node, settled

CALM_SECONDS = 5.0

ChangeKind = Literal["node.joined", "node.changed", "node.lost", "node.left"]


class Change(msgspec.Struct, frozen=True):
    """Something happened to a node; `data` is the whole node as JSON."""

    kind: ChangeKind
    data: bytes


class Shown(msgspec.Struct, frozen=True):
    """A node as watchers know it, since when (seconds on a steady clock)."""

    node: Node
    at: float


_encoder = msgspec.json.Encoder()


def changes(
    shown: Mapping[str, Shown], nodes: Mapping[str, Node], now: float
) -> tuple[list[Change], dict[str, Shown]]:
    """What to tell, then what watchers know.

    Figures that never rest (load, lag, memory) are told of every CALM_SECONDS at most.
    """
    told: list[Change] = []
    after: dict[str, Shown] = {}
    for name, known in shown.items():
        node = nodes.get(name)
        if node is None or node.id != known.node.id:
            told.append(_change("node.left", known.node))
    for name, node in nodes.items():
        known_before = shown.get(name)
        kind = _kind(known_before, node, now)
        if kind is not None:
            told.append(_change(kind, node))
        if kind is None and known_before is not None:
            after[name] = known_before
        else:
            after[name] = Shown(node, now)
    return told, after


def _kind(known: Shown | None, node: Node, now: float) -> ChangeKind | None:
    if known is None or known.node.id != node.id:
        return "node.joined"
    before = known.node
    if node.state != before.state:
        return "node.lost" if node.state == "lost" else "node.changed"
    if node.report is before.report:
        return None
    if now - known.at >= CALM_SECONDS and node.report != before.report:
        return "node.changed"
    same = settled(node.report) == settled(before.report) and node.version == before.version
    return None if same else "node.changed"


def _change(kind: ChangeKind, node: Node) -> Change:
    return Change(kind, _encoder.encode(node))
