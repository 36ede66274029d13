"""Finds an old text in a text: as it is, else with its blanks taken loosely (C29, C30, C31)."""

import bisect
import re

import msgspec

from redshank_node.tools.support.edits.indent import indent_of
from redshank_node.tools.support.files.textfiles import Newline, newline_of

_BLANKS = " \t"


class Place(msgspec.Struct, frozen=True):
    """Characters `start` to `end` of the view with LF. `inside_line`: something other than blanks
    stands before it in its line.
    """

    start: int
    end: int
    inside_line: bool = False


class Document:
    """A text, with a view of it in which each line end is LF."""

    def __init__(self, text: str, first: int = 0) -> None:
        """Nothing before character `first` of the text is found."""
        self.text = text
        windows = []
        if "\r" in text:
            windows = [found.start() for found in re.finditer("\r\n", text)]
        self.view = text.replace("\r\n", "\n") if windows else text
        # The n-th CRLF stands n characters further left in the view.
        self._shifts = [start - number for number, start in enumerate(windows)]
        self._first = first - bisect.bisect_left(windows, first)

    def lines_at(self, places: list[int]) -> list[int]:
        """The lines of these places in the view, from 1; the places stand in its order."""
        lines: list[int] = []
        line, at = 1, 0
        for place in places:
            line += self.view.count("\n", at, place)
            at = place
            lines.append(line)
        return lines

    def real(self, place: int) -> int:
        """Where a place of the view is in the text: before a CRLF, never within it."""
        return place + bisect.bisect_left(self._shifts, place)

    def newline(self, start: int, end: int) -> Newline:
        """The line end for what is put there: that of the lines replaced, of the line itself, of
        the line before it, of most lines.
        """
        region = self.text[self.real(start) : self.real(end)]
        if "\n" in region:
            return newline_of(region)
        at = self.view.find("\n", end)
        if at < 0:
            at = self.view.rfind("\n", 0, start)
        if at < 0:
            return "\n"
        real = self.real(at)
        return "\r\n" if self.text[real : real + 1] == "\r" else "\n"

    def exact(self, old: str, *, step_over: bool) -> list[Place]:
        """Where the text stands as it is; with `step_over` no two places overlap."""
        found = []
        start = self.view.find(old, self._first)
        while start >= 0:
            found.append(Place(start, start + len(old)))
            start = self.view.find(old, start + (len(old) if step_over else 1))
        return found

    def loose(self, old: str) -> list[Place]:
        """Where the text stands but for blanks: lines trimmed, runs of blanks as one, line ends as
        they are. A hit at the beginning of a line holds that line's indentation (C30). Places may
        overlap.
        """
        pattern = loose_pattern(old)
        if pattern is None:
            return []
        places = []
        search = re.compile(pattern).search
        found = search(self.view, self._first)
        while found is not None:
            places.append(self._widened(old, found.start(), found.end()))
            found = search(self.view, found.start() + 1)
        return places

    def _widened(self, old: str, start: int, end: int) -> Place:
        blank = start
        while blank > 0 and self.view[blank - 1] in _BLANKS:
            blank -= 1
        begins_line = blank == 0 or self.view[blank - 1] == "\n"
        if begins_line or indent_of(old):
            start = blank
        return Place(start, end, not begins_line)


def loose_pattern(old: str) -> str | None:
    """The expression that finds a text but for its blanks; None where nothing else is in it."""
    lines = [line.strip(_BLANKS) for line in old.split("\n")]
    if not any(lines):
        return None
    parts = ["[ \t]+".join(map(re.escape, re.split("[ \t]+", line))) for line in lines]
    # Looked for once in a run of blanks, not at each of them: it must stay quick.
    pattern = parts[0] or "(?<![ \t])"
    for part in parts[1:]:
        # Blanks between two line ends stand in it once, for the same reason.
        pattern += (r"\n" if pattern.endswith("[ \t]*") else r"[ \t]*\n") + "[ \t]*" + part
    # What follows a last line end is kept: the next line's indentation.
    return pattern[: -len("[ \t]*")] if not parts[-1] and len(parts) > 1 else pattern
