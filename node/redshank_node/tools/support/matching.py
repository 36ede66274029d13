"""Finds where edits apply in a text, exactly."""

import bisect
import re

import msgspec

from redshank_node.tools.support.textfiles import newline_of, with_newlines
from redshank_node.tools.tool import BadArguments

_LISTED_LINES = 8


class Edit(msgspec.Struct, frozen=True):
    """One replacement as it was asked for. `name` is the argument that holds its old text."""

    name: str
    old: str
    new: str
    near_line: int | None = None
    replace_all: bool = False


class Span(msgspec.Struct, frozen=True):
    """Characters `start` to `end` of a text become `new`."""

    start: int
    end: int
    new: str


def located_edits(text: str, edits: tuple[Edit, ...]) -> tuple[Span, ...]:
    """Where all edits apply in this one text, in its order (T-25).

    Raises BadArguments that names the edit: nothing found, several places, no change, two edits on
    the same text. A text with CRLF is matched also by old text with LF; what is put in gets the
    line ends of its place (F16, F33).
    """
    document = _Document(text)
    found = [(span, edit) for edit in edits for span in document.spans(edit)]
    found.sort(key=lambda pair: pair[0].start)
    for (one, first), (two, second) in zip(found, found[1:], strict=False):
        if two.start < one.end:
            raise BadArguments(
                f"{first.name} and {second.name} overlap at line {document.line_at(two.start)}; "
                "join them into one edit"
            )
    return tuple(span for span, _ in found)


def replaced(text: str, spans: tuple[Span, ...]) -> str:
    """The text with all spans replaced, from the end backwards."""
    for span in reversed(spans):
        text = text[: span.start] + span.new + text[span.end :]
    return text


class _Document:
    """A text, with a view of it in which each line end is LF."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._newline = newline_of(text)
        self._windows = [found.start() for found in re.finditer("\r\n", text)]
        self._plain = text.replace("\r\n", "\n") if self._windows else text
        # The n-th CRLF stands n characters further left in the plain view.
        self._shifts = [start - number for number, start in enumerate(self._windows)]

    def line_at(self, position: int) -> int:
        return self._text.count("\n", 0, position) + 1

    def spans(self, edit: Edit) -> list[Span]:
        if not edit.old:
            raise BadArguments(f"{edit.name} must not be empty; write_file makes a new file")
        if edit.old == edit.new:
            raise BadArguments(f"{edit.name} and its new text are the same: nothing would change")
        places = self._places(edit.old, step_over=edit.replace_all)
        if not places:
            raise BadArguments(self._not_found(edit))
        if len(places) > 1 and not edit.replace_all:
            places = [self._nearest(edit, places)]
        return [self._span(start, end, edit.new) for start, end in places]

    def _places(self, old: str, step_over: bool) -> list[tuple[int, int]]:
        exact = _occurrences(self._text, old, step_over)
        if exact or "\n" not in old:
            return [(start, start + len(old)) for start in exact]
        plain = old.replace("\r\n", "\n")
        starts = _occurrences(self._plain, plain, step_over)
        return [(self._real(start), self._real(start + len(plain))) for start in starts]

    def _real(self, position: int) -> int:
        return position + bisect.bisect_left(self._shifts, position)

    def _span(self, start: int, end: int, new: str) -> Span:
        region = self._text[start:end]
        newline = newline_of(region) if "\n" in region else self._newline
        return Span(start, end, with_newlines(new, newline))

    def _nearest(self, edit: Edit, places: list[tuple[int, int]]) -> tuple[int, int]:
        lines = [self.line_at(start) for start, _ in places]
        if edit.near_line is not None:
            near = edit.near_line
            ranked = sorted(range(len(places)), key=lambda place: abs(lines[place] - near))
            best, second = ranked[0], ranked[1]
            if abs(lines[best] - near) < abs(lines[second] - near):
                return places[best]
        listed = ", ".join(map(str, lines[:_LISTED_LINES]))
        more = ", ..." if len(lines) > _LISTED_LINES else ""
        raise BadArguments(
            f"{edit.name} matches {len(places)} places, at lines {listed}{more}; "
            "add lines around it until it is unique, or give near_line, or replace_all"
        )

    def _not_found(self, edit: Edit) -> str:
        message = f"{edit.name} is not in the file"
        if re.match(r"\s*\d+\t", edit.old):
            return f"{message}; leave out the line numbers that read_file shows"
        wanted = [_loose(line) for line in edit.old.splitlines() if line.strip()]
        for number, line in enumerate(self._plain.split("\n"), 1):
            if wanted and _loose(line) == wanted[0]:
                return (
                    f"{message}; line {number} is its first line but for blanks: copy it exactly, "
                    f"it reads {line[:200]!r}"
                )
        return f"{message}; read_file shows what is"


def _occurrences(text: str, old: str, step_over: bool) -> list[int]:
    found = []
    start = text.find(old)
    while start >= 0:
        found.append(start)
        start = text.find(old, start + (len(old) if step_over else 1))
    return found


def _loose(line: str) -> str:
    return " ".join(line.split())
