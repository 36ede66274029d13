"""Counts what a process does, under labels whose values are bounded sets (F32)."""

import hmac
from collections.abc import Collection
from typing import Literal

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    PlatformCollector,
    ProcessCollector,
    disable_created_metrics,
    generate_latest,
)

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
OTHER = "other"
MCP = "mcp"
MOST_SERVERS = 200
TokenKind = Literal["input", "output", "cached"]
_OUTCOMES = frozenset(("ok", "error", "denied", "refused", "timeout", "cancelled"))
_ENDS = frozenset(("idle", "waiting", "failed", "closed", "handed_over", "fenced"))
_POLLS = frozenset(("ok", "fired", "failed"))
_CHANNELS = frozenset(("terminal", "discord"))
# `unauthorized`: the gateway refused the service's token, which would else hide among the failed.
_STATUSES = frozenset(("sent", "no_adapter", "timeout", "failed", "unauthorized"))
_SECONDS = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300)
_LATE_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 3600)


class Metrics:
    """The counters of one process.

    A value outside the given sets is counted as `other`: the configuration says how many series
    there can be, never a model, a server or a user.
    """

    def __init__(
        self,
        *,
        tools: Collection[str] = (),
        models: Collection[str] = (),
        servers: Collection[str] = (),
    ) -> None:
        self._tools = frozenset(tools)
        self._models = frozenset(models)
        self._servers = set(servers)
        # A second series for each counter, which says when it began: nobody asks for those.
        disable_created_metrics()  # type: ignore[no-untyped-call]  # the library left it bare
        self.registry = CollectorRegistry()
        ProcessCollector(registry=self.registry)
        PlatformCollector(registry=self.registry)
        self._count_turns()
        self._count_models()
        self._count_calls()
        self._count_due()
        self._streams = self._gauge("streams", "Event streams that are open.")
        self._notifications = self._counter(
            "notifications", "Notifications by what became of them.", "channel", "status"
        )

    def turn_started(self) -> None:
        """A turn was taken up."""
        self._running.inc()

    def turn_ended(self, end: str) -> None:
        """A turn that was started came to rest, or left this node."""
        self._running.dec()
        self._turns.labels(_known(end, _ENDS)).inc()

    def lease_lost(self) -> None:
        """A turn in hand was fenced off."""
        self._lost.inc()

    def model_answered(self, model: str, seconds: float) -> None:
        """A model gave a whole answer after so many seconds."""
        label = _known(model, self._models)
        self._steps.labels(label).inc()
        self._model_seconds.labels(label).observe(seconds)

    def model_failed(self, model: str) -> None:
        """One attempt brought no answer."""
        self._failures.labels(_known(model, self._models)).inc()

    def tokens_used(
        self, model: str, input_tokens: int, output_tokens: int, cached_tokens: int
    ) -> None:
        """What one answer took; `cached_tokens`: the part of the input that the provider had kept.

        A provider that reports less than nothing is not counted.
        """
        label = _known(model, self._models)
        spent: tuple[tuple[TokenKind, int], ...] = (
            ("input", input_tokens),
            ("output", output_tokens),
            ("cached", cached_tokens),
        )
        for kind, count in spent:
            self._tokens.labels(label, kind).inc(max(0, count))

    def know_servers(self, servers: Collection[str]) -> None:
        """MCP servers that an operator added since the start count under their names too, as long
        as there are not more than MOST_SERVERS.
        """
        for server in servers:
            if len(self._servers) < MOST_SERVERS:
                self._servers.add(server)

    def call_finished(self, tool: str, outcome: str, seconds: float, server: str = "") -> None:
        """A call, under its tool's canonical name, has its result after so many seconds. One of an
        MCP `server`'s tools counts as MCP, and for its server.
        """
        label = MCP if server else _known(tool, self._tools)
        if server:
            self.mcp_called(server, outcome, seconds)
        self._calls.labels(label, _known(outcome, _OUTCOMES)).inc()
        self._call_seconds.labels(label).observe(seconds)

    def mcp_called(self, server: str, outcome: str, seconds: float) -> None:
        """A configured MCP server answered a tool call, or did not, after so many seconds."""
        label = _known(server, self._servers)
        self._mcp_calls.labels(label, _known(outcome, _OUTCOMES)).inc()
        self._mcp_seconds.labels(label).observe(seconds)

    def due_fired(self, lateness_seconds: float) -> None:
        """A node acts on a recorded run, so long after it was due (F30, F41).

        To be called behind the commit that holds the run: what was rolled back fired nothing.
        Clocks that disagree can make it negative; that is counted as in time.
        """
        self._due_seconds.observe(max(0.0, lateness_seconds))

    def poll_ended(self, outcome: str) -> None:
        """A watch was polled: ok (nothing to tell), fired, or failed."""
        self._polls.labels(_known(outcome, _POLLS)).inc()

    def notification_settled(self, channel: str, status: str) -> None:
        """A notification will not be tried again here (F42: `unauthorized` names the cause)."""
        self._notifications.labels(_known(channel, _CHANNELS), _known(status, _STATUSES)).inc()

    def stream_opened(self) -> None:
        """A watcher came."""
        self._streams.inc()

    def stream_closed(self) -> None:
        """A watcher that came has gone."""
        self._streams.dec()

    def text(self) -> bytes:
        """Everything in the exposition format; its type is CONTENT_TYPE."""
        return generate_latest(self.registry)

    def _count_turns(self) -> None:
        self._turns = self._counter("turns", "Turns that came to an end.", "end")
        self._running = self._gauge("turns_running", "Turns in hand.")
        self._lost = self._counter("leases_lost", "Leases that went to another holder.")

    def _count_models(self) -> None:
        self._steps = self._counter("steps", "Answers of a model.", "model")
        self._failures = self._counter("model_failures", "Attempts without an answer.", "model")
        self._tokens = self._counter("tokens", "Tokens of answers.", "model", "kind")
        self._model_seconds = self._histogram("model_seconds", "A model's time to answer.", "model")

    def _count_calls(self) -> None:
        self._calls = self._counter("calls", "Tool calls that ran.", "tool", "outcome")
        self._call_seconds = self._histogram("call_seconds", "A tool call's run time.", "tool")
        self._mcp_calls = self._counter("mcp_calls", "Calls to MCP servers.", "server", "outcome")
        self._mcp_seconds = self._histogram(
            "mcp_call_seconds", "An MCP server's time to answer a call.", "server"
        )

    def _count_due(self) -> None:
        self._due_seconds = Histogram(
            "due_lateness_seconds",
            "From a due time to the node that acts on its run.",
            namespace="redshank",
            registry=self.registry,
            buckets=_LATE_SECONDS,
        )
        self._polls = self._counter("watch_polls", "Polls of watches.", "outcome")

    def _counter(self, name: str, says: str, *labels: str) -> Counter:
        return Counter(name, says, labels, namespace="redshank", registry=self.registry)

    def _gauge(self, name: str, says: str) -> Gauge:
        return Gauge(name, says, namespace="redshank", registry=self.registry)

    def _histogram(self, name: str, says: str, *labels: str) -> Histogram:
        return Histogram(
            name, says, labels, namespace="redshank", registry=self.registry, buckets=_SECONDS
        )


def may_scrape(authorization: str, token: str) -> bool:
    """Whether a request with this Authorization header may read /metrics; without a token all may
    (F32).
    """
    scheme, _, said = authorization.partition(" ")
    if not token:
        return True
    told = said.strip().encode("utf-8", "surrogateescape")
    return scheme.lower() == "bearer" and hmac.compare_digest(told, token.encode())


def _known(value: str, known: Collection[str]) -> str:
    return value if value in known else OTHER
