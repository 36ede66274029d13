"""Counts notifications by channel, by what became of them."""

from collections.abc import Collection

from prometheus_client import (
    CollectorRegistry,
    Counter,
    PlatformCollector,
    ProcessCollector,
    generate_latest,
)

OTHER = "other"


class Counts:
    """A channel outside the given names is counted as `other`: labels are bounded (F32)."""

    def __init__(self, channels: Collection[str]) -> None:
        self._channels = frozenset(channels)
        self._registry = CollectorRegistry()
        ProcessCollector(registry=self._registry)
        PlatformCollector(registry=self._registry)
        self._notifications = Counter(
            "notifications",
            "Notifications by channel, by status.",
            ("channel", "status"),
            namespace="redshank",
            registry=self._registry,
        )

    def delivered(self, channel: str, status: str) -> None:
        """One target of a notification has its status."""
        known = channel if channel in self._channels else OTHER
        self._notifications.labels(known, status).inc()

    def text(self) -> bytes:
        """Everything in the exposition format."""
        return generate_latest(self._registry)
