"""Says when a server that failed is tried again."""

from collections.abc import Callable

import msgspec

SHORTEST_SECONDS = 0.25
LONGEST_SECONDS = 30.0
FAILURES_TO_OPEN = 5


def delay_seconds(failures: int, random: Callable[[], float]) -> float:
    """How long to wait after so many failures in a row: doubled each time from 0.25 to 30 s, then
    between half of that and all of it, so that nodes do not come back together.

    `random` gives a number from 0 to below 1.
    """
    longest = min(SHORTEST_SECONDS * 2.0 ** min(max(failures - 1, 0), 16), LONGEST_SECONDS)
    return longest / 2 + longest / 2 * random()


def stream_patience_seconds(quick_ends: int) -> float:
    """How long to wait before an event stream is asked for that ended at once so often: a server
    that ends each at once is asked more and more rarely, at last once a minute.
    """
    return 0.0 if quick_ends < 2 else min(2.0 ** (min(quick_ends, 16) - 1), 60.0)


class Breaker(msgspec.Struct, frozen=True):
    """How often a server failed in a row; open, calls fail at once with the cause."""

    failures: int = 0
    cause: str = ""

    def failed(self, cause: str) -> "Breaker":
        """After one failure more."""
        return Breaker(self.failures + 1, cause)

    @property
    def is_open(self) -> bool:
        """Whether calls no longer start tries of their own: only the waiting time does."""
        return self.failures >= FAILURES_TO_OPEN
