"""Keeps the last warnings about a server, bounded."""

import collections
from collections.abc import Callable

_LINES = 20
_CHARACTERS = 300


class KeptWarnings:
    """The last twenty, each of at most 300 characters, redacted; one that comes again stands once,
    counted.
    """

    def __init__(self, redact: Callable[[str], str]) -> None:
        self._redact = redact
        self._counts: collections.OrderedDict[str, int] = collections.OrderedDict()

    def add(self, warning: str) -> None:
        """Keep it."""
        # Cut generously first: a secret that is cut in two would no longer be known as one.
        line = self._redact(warning[: _CHARACTERS * 4])[:_CHARACTERS]
        self._counts[line] = self._counts.pop(line, 0) + 1
        while len(self._counts) > _LINES:
            self._counts.popitem(last=False)

    def lines(self) -> tuple[str, ...]:
        """Oldest first."""
        return tuple(
            line if count == 1 else f"{line} (x{count})" for line, count in self._counts.items()
        )
