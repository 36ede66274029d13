"""Remembers how long a server asked to be left alone, place by place."""

EVERYWHERE = ""


class Pauses:
    """Moments are seconds of one monotonic clock. A pause outlives the request that met it."""

    def __init__(self) -> None:
        self._until: dict[str, float] = {}

    def ask(self, place: str, seconds: float, now: float) -> None:
        """Nothing is to be sent to this place, or EVERYWHERE, for so long from now."""
        self._until = {each: until for each, until in self._until.items() if until > now}
        self._until[place] = max(self._until.get(place, now), now + seconds)

    def left(self, place: str, now: float) -> float:
        """Seconds until something may be sent to this place; 0 when it may be now."""
        until = max(self._until.get(place, now), self._until.get(EVERYWHERE, now))
        return max(0.0, until - now)
