"""Counts what a process does, under labels whose values are bounded sets (F32)."""

from collections.abc import Collection

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    PlatformCollector,
    ProcessCollector,
    generate_latest,
)

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
OTHER = "other"
_OUTCOMES = ("ok", "error", "denied", "refused", "timeout", "cancelled", "interrupted")
_ENDS = ("idle", "waiting", "failed", "closed", "handed_over", "fenced")
_SECONDS = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300)


class Metrics:
    """The counters of one process. A name outside the given sets is counted as `other`."""

    def __init__(self, *, tools: Collection[str] = (), models: Collection[str] = ()) -> None:
        self._tools = frozenset(tools)
        self._models = frozenset(models)
        self.registry = CollectorRegistry()
        ProcessCollector(registry=self.registry)
        PlatformCollector(registry=self.registry)
        self._turns = self._counter("turns", "Turns that came to an end.", "end")
        self._steps = self._counter("steps", "Answers of a model.", "model")
        self._calls = self._counter("calls", "Tool calls that have a result.", "tool", "outcome")
        self._failures = self._counter("model_failures", "Attempts without an answer.", "model")
        self._lost = self._counter("leases_lost", "Leases that went to another holder.")
        self._running = self._gauge("turns_running", "Turns in hand.")
        self._streams = self._gauge("streams", "Event streams that are open.")
        self._call_seconds = self._histogram("call_seconds", "A tool call's run time.", "tool")
        self._model_seconds = self._histogram("model_seconds", "A model's time to answer.", "model")

    def turn_started(self) -> None:
        """A turn was taken up."""
        self._running.inc()

    def turn_ended(self, end: str) -> None:
        """A turn that was started came to rest, or left this node."""
        self._running.dec()
        self._turns.labels(end if end in _ENDS else OTHER).inc()

    def model_answered(self, model: str, seconds: float) -> None:
        """A model gave a whole answer after so many seconds."""
        label = model if model in self._models else OTHER
        self._steps.labels(label).inc()
        self._model_seconds.labels(label).observe(seconds)

    def model_failed(self, model: str) -> None:
        """One attempt brought no answer."""
        self._failures.labels(model if model in self._models else OTHER).inc()

    def call_finished(self, tool: str, outcome: str, seconds: float) -> None:
        """A call, under its tool's canonical name, has its result after so many seconds."""
        label = tool if tool in self._tools else OTHER
        self._calls.labels(label, outcome if outcome in _OUTCOMES else OTHER).inc()
        self._call_seconds.labels(label).observe(seconds)

    def lease_lost(self) -> None:
        """A turn in hand was fenced off."""
        self._lost.inc()

    def stream_opened(self) -> None:
        """A watcher came."""
        self._streams.inc()

    def stream_closed(self) -> None:
        """A watcher that came has gone."""
        self._streams.dec()

    def text(self) -> bytes:
        """Everything in the exposition format; its type is CONTENT_TYPE."""
        return generate_latest(self.registry)

    def _counter(self, name: str, says: str, *labels: str) -> Counter:
        return Counter(name, says, labels, namespace="redshank", registry=self.registry)

    def _gauge(self, name: str, says: str) -> Gauge:
        return Gauge(name, says, namespace="redshank", registry=self.registry)

    def _histogram(self, name: str, says: str, *labels: str) -> Histogram:
        return Histogram(
            name, says, labels, namespace="redshank", registry=self.registry, buckets=_SECONDS
        )
