"""Counts what became of a server's calls."""

import collections
import statistics

_REMEMBERED = 32


class Figures:
    """Since this node started."""

    def __init__(self) -> None:
        self.calls = 0
        self.errors = 0
        self._latencies: collections.deque[float] = collections.deque(maxlen=_REMEMBERED)

    def answered(self, seconds: float) -> None:
        """A call was answered after so many seconds."""
        self._latencies.append(seconds)

    @property
    def latency_ms(self) -> float | None:
        """The median of the last answers, None before the first."""
        if not self._latencies:
            return None
        return round(statistics.median(self._latencies) * 1000, 3)
