"""Counts what this console does, shows the cluster's figures to Prometheus."""

from prometheus_client import Counter

from redshank_console.services.cluster_gauges import ClusterGauges
from redshank_console.services.cluster_reading import ClusterReading
from redshank_shared.metrics import Metrics

_METHODS = ("GET", "POST", "PUT", "DELETE", "HEAD", "OPTIONS", "PATCH")
_CLASSES = (1, 2, 3, 4, 5)


class Gauges:
    """Labels are few: methods, classes of status, states (F32)."""

    def __init__(self, metrics: Metrics, reading: ClusterReading) -> None:
        self._metrics = metrics
        self._reading = reading
        self._cluster = ClusterGauges()
        metrics.registry.register(self._cluster)
        self._requests = Counter(
            "requests",
            "HTTP requests that were answered.",
            ("method", "status"),
            namespace="redshank",
            registry=metrics.registry,
        )

    def answered(self, method: str, status: int) -> None:
        """A request got this status."""
        known = method if method in _METHODS else "other"
        group = status // 100
        self._requests.labels(known, f"{group}xx" if group in _CLASSES else "other").inc()

    def stream_opened(self) -> None:
        """A watcher came."""
        self._metrics.stream_opened()

    def stream_closed(self) -> None:
        """A watcher that came has gone."""
        self._metrics.stream_closed()

    async def text(self) -> bytes:
        """Everything in the exposition format; the cluster's figures, at most 2 s old, where they
        could be read.
        """
        self._cluster.show(await self._reading.latest())
        return self._metrics.text()
