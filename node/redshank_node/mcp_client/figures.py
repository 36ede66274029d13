"""Counts what became of a server's calls."""

import collections
import statistics
from collections.abc import Callable

import msgspec

_REMEMBERED = 32
_MINUTE_SECONDS = 60
_HOUR_MINUTES = 60


class Minute(msgspec.Struct):
    """What was counted in one minute of the monotonic clock."""

    number: int
    calls: int = 0
    errors: int = 0


class Figures:
    """Since this node started; the last hour of that by the minute. `monotonic`: in seconds."""

    def __init__(self, monotonic: Callable[[], float]) -> None:
        self.calls = 0
        self.errors = 0
        self._monotonic = monotonic
        self._latencies: collections.deque[float] = collections.deque(maxlen=_REMEMBERED)
        self._minutes: collections.deque[Minute] = collections.deque(maxlen=_HOUR_MINUTES)

    def asked(self) -> None:
        """A call begins."""
        self.calls += 1
        self._minute().calls += 1

    def failed(self) -> None:
        """A call ended in an error."""
        self.errors += 1
        self._minute().errors += 1

    def answered(self, seconds: float) -> None:
        """A call was answered after so many seconds."""
        self._latencies.append(seconds)

    def last_hour(self) -> tuple[int, int]:
        """The calls, the errors of this minute with the 59 before it."""
        first = self._now() - _HOUR_MINUTES
        recent = [minute for minute in self._minutes if minute.number > first]
        return sum(each.calls for each in recent), sum(each.errors for each in recent)

    @property
    def latency_ms(self) -> float | None:
        """The median of the last answers, None before the first."""
        if not self._latencies:
            return None
        return round(statistics.median(self._latencies) * 1000, 3)

    def _minute(self) -> Minute:
        now = self._now()
        if not self._minutes or self._minutes[-1].number != now:
            self._minutes.append(Minute(now))
        return self._minutes[-1]

    def _now(self) -> int:
        return int(self._monotonic() // _MINUTE_SECONDS)
