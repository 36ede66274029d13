"""Counts what this console does, shows the cluster's figures to Prometheus."""

from prometheus_client import Counter, Gauge

from redshank_shared.metrics import Metrics
from redshank_shared.wire.views import OverviewView

_METHODS = ("GET", "POST", "PUT", "DELETE", "HEAD", "OPTIONS", "PATCH")


class Gauges:
    """Labels are few: methods, classes of status, states (F32)."""

    def __init__(self, metrics: Metrics) -> None:
        self._metrics = metrics
        registry = metrics.registry
        self._requests = Counter(
            "requests",
            "HTTP requests that were answered.",
            ("method", "status"),
            namespace="redshank",
            registry=registry,
        )
        self._nodes = Gauge(
            "nodes", "Nodes by state.", ("state",), namespace="redshank", registry=registry
        )
        self._workstreams = Gauge(
            "workstreams",
            "Workstreams by state.",
            ("state",),
            namespace="redshank",
            registry=registry,
        )
        self._needs_you = Gauge(
            "needs_you",
            "Workstreams that wait for a person.",
            namespace="redshank",
            registry=registry,
        )
        self._depth = Gauge(
            "queue_depth",
            "Hand-overs that no node took yet.",
            namespace="redshank",
            registry=registry,
        )

    def answered(self, method: str, status: int) -> None:
        """A request got this status."""
        known = method if method in _METHODS else "other"
        self._requests.labels(known, f"{status // 100}xx").inc()

    def stream_opened(self) -> None:
        """A watcher came."""
        self._metrics.stream_opened()

    def stream_closed(self) -> None:
        """A watcher that came has gone."""
        self._metrics.stream_closed()

    def text(self, overview: OverviewView | None) -> bytes:
        """Everything in the exposition format; the cluster's figures where they could be read."""
        if overview is not None:
            for state in ("up", "lost", "draining"):
                self._nodes.labels(state).set(getattr(overview.nodes, state))
            for state, count in overview.workstreams.model_dump().items():
                self._workstreams.labels(state).set(count)
            self._needs_you.set(overview.needs_you)
            if overview.queues.depth is not None:
                self._depth.set(overview.queues.depth)
        return self._metrics.text()
