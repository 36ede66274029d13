"""Finds where edits apply in a text: the one engine behind every tool that edits."""

from redshank_node.tools.support.edits import refusals
from redshank_node.tools.support.edits.indent import (
    indent_of,
    indents,
    places_of,
    reindented,
)
from redshank_node.tools.support.edits.near import Lines, windows
from redshank_node.tools.support.edits.places import Document, Place
from redshank_node.tools.support.edits.spans import Edit, Match, Span
from redshank_node.tools.support.files.textfiles import with_newlines
from redshank_node.tools.tool import BadArguments


def located_edits(
    text: str, edits: tuple[Edit, ...], *, loosely: bool = False, first: int = 0
) -> tuple[Span, ...]:
    """Where all edits apply in this one text, in its order (T-25, C33).

    With `loosely`, old text that is nowhere as it is may differ in its blanks (C29); what lies
    before character `first` is not looked at (C37). Raises BadArguments that names the edit:
    nothing found, several places, no change, two edits on the same text. Lines are matched whatever
    their ends are; what is put in gets the line ends of its place (C31, F16, F33).
    """
    finder = _Finder(Document(text, first), loosely)
    found: list[tuple[Span, Edit]] = []
    for number, edit in enumerate(edits):
        if edit.old and edit.old == edit.new and len(edits) > 1:
            continue
        found += [(span, edit) for span in finder.spans(edit, number)]
    found.sort(key=lambda pair: pair[0].found)
    for (one, before), (two, behind) in zip(found, found[1:], strict=False):
        if two.found[0] < one.found[1]:
            line = text.count("\n", 0, two.found[0]) + 1
            raise BadArguments(
                f"{before.name} and {behind.name} overlap at line {line}; join them into one edit"
            )
    spans = tuple(span for span, _ in found)
    if all(text[span.start : span.end] == span.new for span in spans):
        raise BadArguments(
            f"{edits[0].name} and its new text are the same for every edit: nothing would change"
        )
    return spans


class _Finder:
    def __init__(self, document: Document, loosely: bool) -> None:
        self._document = document
        self._loosely = loosely

    def spans(self, edit: Edit, number: int) -> list[Span]:
        if not edit.old:
            raise BadArguments(f"{edit.name} must not be empty; write_file makes a new file")
        if edit.old == edit.new:
            raise BadArguments(f"{edit.name} and its new text are the same: nothing would change")
        old, new = _plain(edit.old), _plain(edit.new)
        match, places = self._places(edit, old)
        if len(places) > 1 and not edit.replace_all:
            places = [self._nearest(edit, places)]
        if edit.replace_all:
            places = _apart(places)
        # Edits of line ends alone mean just that.
        raw = edit.new if old == new else None
        return [self._span(place, old, new, raw, match, number) for place in places]

    def _places(self, edit: Edit, old: str) -> tuple[Match, list[Place]]:
        document = self._document
        within = windows(document.view, edit.near, self._lines_of, document.lines_at)
        exact = self._within(document.exact(old, step_over=edit.replace_all), within)
        if exact:
            return "exact", exact
        loose = self._within(document.loose(old), within) if self._loosely else []
        if not loose:
            hint = "" if within is None else f" within lines {_named(within)}"
            raise BadArguments(refusals.not_found(document.view, edit.name, old, hint))
        return "fuzzy", loose

    def _lines_of(self, text: str) -> list[int]:
        plain = _plain(text)
        places = self._document.loose(plain) or self._document.exact(plain, step_over=True)
        return self._lines(places)

    def _lines(self, places: list[Place]) -> list[int]:
        return self._document.lines_at([place.start for place in places])

    def _within(self, places: list[Place], within: tuple[Lines, ...] | None) -> list[Place]:
        if within is None:
            return places
        return [
            place
            for place, line in zip(places, self._lines(places), strict=True)
            if any(first <= line <= last for first, last in within)
        ]

    def _nearest(self, edit: Edit, places: list[Place]) -> Place:
        lines = self._lines(places)
        if edit.near_line is not None:
            near = edit.near_line
            ranked = sorted(range(len(places)), key=lambda place: abs(lines[place] - near))
            best, second = ranked[0], ranked[1]
            if abs(lines[best] - near) < abs(lines[second] - near):
                return places[best]
        raise BadArguments(refusals.ambiguous(self._document.view, edit.name, lines))

    def _span(
        self, place: Place, old: str, new: str, raw: str | None, match: Match, number: int
    ) -> Span:
        document = self._document
        real = (document.real(place.start), document.real(place.end))
        if raw is not None:
            return Span(real[0], real[1], raw, real, match, number)
        found = document.view[place.start : place.end]
        if match == "fuzzy":
            new = _fitted(found, old, new, place)
        start, end = _same_ends(found, new)
        newline = document.newline(place.start, place.end)
        return Span(
            document.real(place.start + start),
            document.real(place.end - end),
            with_newlines(new[start : len(new) - end], newline),
            real,
            match,
            number,
        )


def _fitted(found: str, old: str, new: str, place: Place) -> str:
    """The new text with the indentation of its place; within a line, with the blanks before it."""
    old_lines, new_lines = old.split("\n"), new.split("\n")
    skip = 0
    if place.inside_line:
        skip = 1
        blanks = indent_of(old)
        if blanks and not indent_of(found) and new.startswith(blanks):
            new_lines[0] = new_lines[0][len(blanks) :]
    pairs = indents(old_lines[skip:], found.split("\n")[skip:])
    nearest = places_of(new_lines[skip:], old_lines[skip:]) if len(set(pairs)) > 1 else None
    return "\n".join([*new_lines[:skip], *reindented(new_lines[skip:], pairs, nearest)])


def _same_ends(found: str, new: str) -> tuple[int, int]:
    """How many characters are the same at the beginning and at the end, in whole lines."""
    if "\n" not in found:
        return 0, 0
    most = min(len(found), len(new))
    start = 0
    while start < most and found[start] == new[start]:
        start += 1
    start = found.rfind("\n", 0, start) + 1
    end = 0
    while end < most - start and found[-1 - end] == new[-1 - end]:
        end += 1
    # From a line's end on, which stays, or none at all.
    at = found.find("\n", len(found) - end) if end else -1
    return start, len(found) - at if at >= 0 else 0


def _apart(places: list[Place]) -> list[Place]:
    kept: list[Place] = []
    for place in places:
        if not kept or place.start >= kept[-1].end:
            kept.append(place)
    return kept


def _named(within: tuple[Lines, ...]) -> str:
    return ", ".join(f"{max(first, 1)}-{last}" for first, last in within[:4])


def _plain(text: str) -> str:
    return text.replace("\r\n", "\n")
