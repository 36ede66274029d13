"""Holds which nodes there are, from what they say over either of their two ways."""

import heapq
import logging
from collections.abc import Iterable, Sequence

import msgspec

from redshank_console.collector.nodes import Node, NodeState
from redshank_console.collector.trust import Trust
from redshank_shared.queue.reports import NodeReport, Reported, decode_report
from redshank_shared.stores.services import Beat, ServiceRow

logger = logging.getLogger(__name__)

# A node speaks every second. Where the bus may be to blame for a silence, the registry decides,
# which hears of a node every 5 s at least.
LOST_SECONDS = 2.4
LOST_WITHOUT_BUS_SECONDS = 7.0
FORGOTTEN_SECONDS = 3600.0
MOST_PROCESSES = 5000

_NEVER = float("-inf")


class _Process:
    """One start of a node."""

    __slots__ = ("bus_at", "facts", "in_table", "table_at")

    def __init__(self, facts: Reported) -> None:
        self.facts = facts
        self.bus_at = _NEVER
        self.table_at = _NEVER
        self.in_table = False

    @property
    def name(self) -> str:
        return self.facts.report.node or self.facts.service_id

    @property
    def seen_at(self) -> float:
        return max(self.bus_at, self.table_at)


class Board:
    """Decides apart from I/O. `now`: seconds on a steady clock. At most MOST_PROCESSES are held."""

    def __init__(self) -> None:
        self._processes: dict[str, _Process] = {}
        self._departed: dict[str, float] = {}
        self._trust = Trust()

    def pulse(self, now: float) -> None:
        """Something came over the bus."""
        self._trust.heard(now)

    def interrupted(self) -> None:
        """The bus was lost: what was said meanwhile is not known."""
        self._trust.interrupted()

    def heard(self, said: Reported, now: float) -> None:
        """A node spoke over the bus."""
        self._trust.heard(now)
        self._departed.pop(said.service_id, None)
        process = self._process(said, now)
        process.facts = _with_shared_names(said, process.facts.report)
        process.bus_at = now

    def departed(self, service_id: str, now: float) -> None:
        """A node left in order; a row of it that is still in the registry is not believed."""
        self._trust.heard(now)
        self._processes.pop(service_id, None)
        self._departed[service_id] = now
        if len(self._departed) > MOST_PROCESSES:
            self._departed.pop(next(iter(self._departed)))

    def listed(self, beats: Iterable[Beat], now: float) -> list[str]:
        """The registry's processes; answers whose rows must be read to know what they say."""
        wanted, listed = [], set()
        for beat in beats:
            if beat.kind != "node" or beat.service_id in self._departed:
                continue
            listed.add(beat.service_id)
            process = self._processes.get(beat.service_id)
            if process is None:
                if beat.age_seconds <= FORGOTTEN_SECONDS:
                    wanted.append(beat.service_id)
                continue
            process.in_table = True
            process.table_at = max(process.table_at, now - beat.age_seconds)
            if process.table_at > process.bus_at + LOST_SECONDS:
                wanted.append(beat.service_id)
        self._drop_missing(listed, now)
        return wanted

    def described(self, rows: Sequence[ServiceRow], now: float) -> None:
        """The rows that were asked for."""
        for row in rows:
            report = decode_report(row.report)
            facts = Reported(row.service_id, row.address, row.version, row.started_at, report)
            process = self._process(facts, now)
            process.facts = _with_shared_names(facts, process.facts.report)
            process.table_at = max(process.table_at, now - row.age_seconds)
            process.in_table = True

    def nodes(self, now: float) -> dict[str, Node]:
        """One node a name, its youngest process, by name; a lost one for an hour."""
        self._forget(now)
        patience = LOST_SECONDS if self._trust.holds(now) else LOST_WITHOUT_BUS_SECONDS
        by_name: dict[str, Node] = {}
        for process in self._processes.values():
            node = _node(process, now, patience)
            known = by_name.get(node.name)
            if known is None or _newer(node, known):
                by_name[node.name] = node
        return {name: by_name[name] for name in sorted(by_name)}

    def names(self) -> dict[str, str]:
        """The name behind every process's id, the lost ones' too."""
        return {service_id: process.name for service_id, process in self._processes.items()}

    def _process(self, facts: Reported, now: float) -> _Process:
        process = self._processes.get(facts.service_id)
        if process is None:
            process = self._processes[facts.service_id] = _Process(facts)
            process.bus_at = process.table_at = _NEVER
            self._make_room(now)
        return process

    def _make_room(self, now: float) -> None:
        excess = len(self._processes) - MOST_PROCESSES
        if excess <= 0:
            return
        silent = [
            (process.seen_at, service_id)
            for service_id, process in self._processes.items()
            if process.seen_at != _NEVER
        ]
        logger.warning("more than %d nodes: the longest silent are not shown", MOST_PROCESSES)
        for _, service_id in heapq.nsmallest(max(excess, MOST_PROCESSES // 50), silent):
            del self._processes[service_id]

    def _drop_missing(self, listed: set[str], now: float) -> None:
        """Who was in the registry, is not any more, says nothing on the bus: left in order."""
        gone = [
            service_id
            for service_id, process in self._processes.items()
            if process.in_table and service_id not in listed and now - process.bus_at > LOST_SECONDS
        ]
        for service_id in gone:
            del self._processes[service_id]

    def _forget(self, now: float) -> None:
        old = [
            service_id
            for service_id, process in self._processes.items()
            if now - process.seen_at > FORGOTTEN_SECONDS
        ]
        for service_id in old:
            del self._processes[service_id]


def _node(process: _Process, now: float, patience: float) -> Node:
    facts = process.facts
    age = max(0.0, now - process.seen_at)
    return Node(
        id=facts.service_id,
        name=process.name,
        state=_state(age, patience, facts.report),
        address=facts.address,
        version=facts.version,
        started_at=facts.started_at,
        age_seconds=round(age, 3),
        report=facts.report,
    )


def _state(age_seconds: float, patience: float, report: NodeReport) -> NodeState:
    if age_seconds > patience:
        return "lost"
    return "draining" if report.draining else "up"


def _newer(node: Node, known: Node) -> bool:
    alive = (node.state != "lost", known.state != "lost")
    return alive[0] if alive[0] != alive[1] else node.started_at > known.started_at


def _with_shared_names(said: Reported, before: NodeReport) -> Reported:
    """The names of tools are kept once a node, not once a report."""
    if said.report.tools != before.tools or said.report.tools is before.tools:
        return said
    return msgspec.structs.replace(
        said, report=msgspec.structs.replace(said.report, tools=before.tools)
    )
