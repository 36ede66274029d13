"""Keeps the latest of a text that comes faster than it is shown."""

LEFT_OUT = "[...]\n"


class LatestLines:
    """At most so many characters of what came since the last `take`. Where some are left out the
    text goes on from the beginning of a line: half a secret would not be known as one.
    """

    def __init__(self, most_characters: int) -> None:
        self._most_characters = most_characters
        self._waiting = ""
        self._within_line = False

    def __bool__(self) -> bool:
        return bool(self._waiting)

    def add(self, text: str) -> None:
        """A piece came."""
        self._waiting += self._from_line(text)
        if len(self._waiting) > self._most_characters:
            latest = self._waiting[-self._most_characters // 2 :]
            self._within_line = True
            self._waiting = LEFT_OUT + self._from_line(latest)

    def take(self) -> str:
        """All that waits, once."""
        text, self._waiting = self._waiting, ""
        return text

    def _from_line(self, text: str) -> str:
        if not self._within_line:
            return text
        _, line_end, rest = text.partition("\n")
        self._within_line = not line_end
        return rest
