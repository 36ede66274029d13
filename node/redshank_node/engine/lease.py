"""The right to advance one workstream, as its holder sees it."""

from collections.abc import Callable

# Effects stop this long before the lease can have run out (protocol, "Hold").
MARGIN_SECONDS = 2.0


class Lease:
    """An epoch, and until when it surely holds by this process's own monotonic clock (seconds)."""

    def __init__(self, epoch: int, holds_until: float, monotonic: Callable[[], float]) -> None:
        self.epoch = epoch
        self.holds_until = holds_until
        self._monotonic = monotonic

    def allows_effect(self) -> bool:
        """Whether an effect may still begin: looked at just before it does."""
        return self._monotonic() < self.holds_until - MARGIN_SECONDS
