"""Shows readings of the cluster as gauges of Prometheus."""

from collections.abc import Iterator

from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from redshank_console.services.cluster_reading import Readings
from redshank_shared.wire.views import OverviewView

_NODE_STATES = ("up", "lost", "draining")


class ClusterGauges(Collector):
    """Shows nothing while the cluster could not be read: an old figure would pass for a new one."""

    def __init__(self) -> None:
        self._readings: Readings | None = None

    def show(self, readings: Readings | None) -> None:
        """What the next scrape gets."""
        self._readings = readings

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """Labels are few: states, kinds (F32)."""
        if self._readings is None:
            return
        yield from _work(self._readings)
        yield from _waits(self._readings)
        yield from _members(self._readings.overview)
        yield from _queue(self._readings.overview)
        yield from _sums(self._readings.overview)


def _work(readings: Readings) -> Iterator[GaugeMetricFamily]:
    waiting = readings.waiting
    yield _gauge("cluster_slots", "Turns at once of the nodes that are up.", readings.slots)
    yield _gauge("cluster_running", "Workstreams that a node holds.", waiting.running)
    yield _gauge("cluster_waiting", "Workstreams that wait for a node.", waiting.without_node)
    yield _gauge(
        "cluster_waiting_oldest_seconds",
        "For how long the first of them waits.",
        waiting.without_node_seconds,
    )
    yield _gauge("cluster_demand_ratio", "(waiting + running) / slots.", readings.demand_ratio)


def _waits(readings: Readings) -> Iterator[GaugeMetricFamily]:
    waiting = readings.waiting
    yield _gauge("approvals_waiting", "Approvals that wait for a person.", waiting.approvals)
    yield _gauge(
        "approvals_oldest_seconds",
        "For how long the first of them waits.",
        readings.approvals_oldest_seconds,
    )
    yield _gauge("due_overdue", "Schedules that are due without a run.", waiting.overdue)
    yield _gauge(
        "due_overdue_seconds", "For how long the first of them is due.", waiting.overdue_seconds
    )
    yield _gauge("due_runs_open", "Recorded runs that are not done.", waiting.runs_open)


def _members(overview: OverviewView) -> Iterator[GaugeMetricFamily]:
    states = {state: getattr(overview.nodes, state) for state in _NODE_STATES}
    yield _labelled("nodes", "Nodes by state.", "state", states)
    by_state = overview.workstreams.model_dump()
    yield _labelled("workstreams", "Workstreams by state.", "state", by_state)
    yield _gauge("needs_you", "Workstreams that wait for a person.", overview.needs_you)
    yield _gauge("cluster_versions", "Versions that run side by side.", len(overview.versions))


def _queue(overview: OverviewView) -> Iterator[GaugeMetricFamily]:
    queues = overview.queues
    if queues.depth is None or queues.oldest_seconds is None:
        return
    yield _gauge("queue_depth", "Hand-overs that no node took yet.", queues.depth)
    yield _gauge(
        "queue_oldest_seconds", "For how long the first of them waits.", queues.oldest_seconds
    )


def _sums(overview: OverviewView) -> Iterator[GaugeMetricFamily]:
    totals = overview.totals
    tokens = {"input": totals.input_tokens, "output": totals.output_tokens}
    yield _labelled("cluster_tokens", "Tokens of all workstreams.", "kind", tokens)
    yield _gauge("cluster_calls", "Tool calls of all workstreams.", totals.calls)
    offers = overview.mcp.model_dump()
    yield _labelled("cluster_mcp", "What the MCP servers offer.", "kind", offers)


def _gauge(name: str, says: str, value: float) -> GaugeMetricFamily:
    return GaugeMetricFamily(f"redshank_{name}", says, value=value)


def _labelled(name: str, says: str, label: str, values: dict[str, int]) -> GaugeMetricFamily:
    family = GaugeMetricFamily(f"redshank_{name}", says, labels=(label,))
    for key, value in values.items():
        family.add_metric((key,), value)
    return family
