"""Judges whether silence on the bus is the silence of a node."""

MOST_SILENCE_SECONDS = 1.25
SETTLING_SECONDS = 2.0


class Trust:
    """Everything heard on the bus shows that it carries; the console's own pulses see to that.

    After a gap the nodes get SETTLING_SECONDS to be heard again. Times: seconds on a steady clock.
    """

    def __init__(self) -> None:
        self._last = float("-inf")
        self._since = float("inf")

    def heard(self, now: float) -> None:
        """Something came."""
        if now - self._last > MOST_SILENCE_SECONDS:
            self._since = now
        self._last = now

    def interrupted(self) -> None:
        """The connection was lost: what was said meanwhile is not known."""
        self._last = float("-inf")

    def holds(self, now: float) -> bool:
        """Whether a node that is not heard is silent."""
        if now - self._last > MOST_SILENCE_SECONDS:
            return False
        return now - self._since >= SETTLING_SECONDS
