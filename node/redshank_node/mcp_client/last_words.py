"""Keeps the end of what a command writes to standard error."""

_KEPT_BYTES = 8192
_LINES = 5


class LastWords:
    """The last lines since they were asked for; everything before is gone."""

    def __init__(self) -> None:
        self._tail = b""
        self._is_cut = False

    def add(self, data: bytes) -> None:
        """Take in what came."""
        self._tail += data
        if len(self._tail) > _KEPT_BYTES:
            self._tail = self._tail[-_KEPT_BYTES:]
            self._is_cut = True

    def said(self, *, last: bool = False) -> list[str]:
        """The last lines, at most five; the one that has no end yet only when it is the `last`.

        A line whose beginning is gone is none: half a secret in it would not be known as one.
        """
        text, newline, rest = self._tail.rpartition(b"\n")
        if last:
            text, rest = self._tail, b""
        elif not newline:
            return []
        lines = text.decode(errors="replace").splitlines()
        if self._is_cut:
            lines = lines[1:]
        self._tail, self._is_cut = rest, False
        return [line for line in lines if line.strip()][-_LINES:]
