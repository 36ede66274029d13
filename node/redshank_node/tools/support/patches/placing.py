"""Places the hunks of a patch in a text by their context."""

import re
from collections.abc import Callable, Sequence

import msgspec

from redshank_node.tools.support.edits.indent import indents, reindented
from redshank_node.tools.support.edits.refusals import first_difference, nearest_lines
from redshank_node.tools.support.files.textfiles import Newline, newline_of
from redshank_node.tools.support.patches.parts import Hunk, PatchLine
from redshank_node.tools.tool import BadArguments

_LISTED = 8


def _without_tail(text: str) -> str:
    return text.rstrip(" \t")


def _loose(text: str) -> str:
    return re.sub("[ \t]+", " ", text).strip(" ")


_LOOSENINGS: tuple[Callable[[str], str], ...] = (str, _without_tail, _loose)


class _Line(msgspec.Struct, frozen=True):
    text: str
    end: str


class _Placed(msgspec.Struct, frozen=True):
    hunk: Hunk
    start: int

    @property
    def end(self) -> int:
        return self.start + len(self.hunk.old)

    @property
    def first(self) -> int:
        """The first line that changes; the context before may be that of another hunk too."""
        return self.start + _context(self.hunk.lines)

    @property
    def last(self) -> int:
        """The line behind the last one that changes."""
        return self.end - _context(self.hunk.lines[::-1])

    def meets(self, other: "_Placed") -> bool:
        """Whether both change the same lines, or put something into the same place."""
        same = (self.first, self.last) == (other.first, other.last)
        return same or (self.first < other.last and other.first < self.last)


def _context(lines: Sequence[PatchLine]) -> int:
    """How many lines at the beginning stay."""
    return next((at for at, line in enumerate(lines) if line.mark != " "), len(lines))


def patched(text: str, hunks: Sequence[Hunk]) -> str:
    """The text with all hunks applied, each where its context is, whatever line it says.

    Context is taken as it is, else with other blanks; what stays, stays as it is in the file, what
    comes gets the line ends and the indentation of its place. Raises BadArguments that names the
    hunk: its lines are nowhere, or in several places. The end of the last line stays as it was but
    where the patch says otherwise (F16, F33).
    """
    lines = _lines(text)
    haystack = _Haystack(lines)
    placed: list[_Placed] = []
    for hunk in hunks:
        placed.append(_placed(haystack, hunk, placed))
    placed.sort(key=lambda each: (each.first, each.last))
    made: list[_Line] = []
    at = 0
    for each in placed:
        if each.first < at:
            raise BadArguments(
                f"patch: {each.hunk.name} and another overlap at line {each.first + 1}; join them"
            )
        made += lines[at : each.first]
        made += _applied(lines, each)
        at = each.last
    made += lines[at:]
    ended = not lines or lines[-1].end != ""
    if made and any(line is made[-1] for line in lines):
        ended = made[-1].end != ""
    for each in placed:
        if each.hunk.end_newline is not None:
            ended = each.hunk.end_newline
    return _joined(made, ended, newline_of(text))


class _Haystack:
    """A file's lines, to be found by strict or loose comparison."""

    def __init__(self, lines: list[_Line]) -> None:
        self.lines = lines
        self._loosened: dict[int, tuple[list[str], dict[str, list[int]]]] = {}

    def starts(self, hunk: Hunk) -> list[int]:
        """Where the hunk's old lines are, by the strictest comparison that finds them."""
        for level, loosened in enumerate(_LOOSENINGS):
            found = self._found(level, [loosened(text) for text in hunk.old], hunk.at_end)
            if found:
                return found
        return []

    def _found(self, level: int, wanted: list[str], at_end: bool) -> list[int]:
        if level not in self._loosened:
            have = [_LOOSENINGS[level](line.text) for line in self.lines]
            places: dict[str, list[int]] = {}
            for number, text in enumerate(have):
                places.setdefault(text, []).append(number)
            self._loosened[level] = (have, places)
        have, places = self._loosened[level]
        # By its rarest line: most lines of a file are there once or twice.
        rarest = min(range(len(wanted)), key=lambda number: len(places.get(wanted[number], ())))
        first = max(len(have) - len(wanted), 0) if at_end else 0
        return [
            start
            for start in (number - rarest for number in places.get(wanted[rarest], ()))
            if start >= first and have[start : start + len(wanted)] == wanted
        ]


def _placed(haystack: _Haystack, hunk: Hunk, before: list[_Placed]) -> _Placed:
    lines = haystack.lines
    if not hunk.old:
        return _Placed(hunk, _insertion(lines, hunk))
    # Hunks may share context: they come in order of what they change.
    after = before[-1].last - _context(hunk.lines) if before else 0
    free = [
        start
        for start in haystack.starts(hunk)
        if not any(_Placed(hunk, start).meets(each) for each in before)
    ]
    if hunk.anchors and free:
        free = _behind_anchors(lines, hunk, free, after)
    if len(free) > 1:
        free = [start for start in free if start >= after] or free
    if len(free) > 1 and hunk.line is not None:
        free = [start for start in free if start == hunk.line - 1] or free
    if len(free) == 1:
        return _Placed(hunk, free[0])
    if free:
        listed = ", ".join(str(start + 1) for start in free[:_LISTED])
        raise BadArguments(
            f"patch: {hunk.name} matches {len(free)} places, at lines {listed}; add context lines "
            "until it is unique, or @@ with a line that stands before it"
        )
    raise BadArguments(_nowhere(lines, hunk))


def _behind_anchors(lines: list[_Line], hunk: Hunk, starts: list[int], after: int) -> list[int]:
    """The first start behind the anchors, for each place where they are; all where a unified diff's
    anchor, which is but a remark, is not there.
    """
    at = [-1]
    for anchor in hunk.anchors:
        wanted = _loose(anchor)
        found = [number for number, line in enumerate(lines) if _loose(line.text) == wanted]
        found = found or [n for n, line in enumerate(lines) if wanted in _loose(line.text)]
        at = [number for number in found if number > at[0]]
        if not at:
            if hunk.line is not None:
                return starts
            raise BadArguments(
                f"patch: {hunk.name}: its @@ line {anchor!r} is not in the file; read the file, "
                "then send the patch anew"
            )
    # Of several anchors the one behind the last hunk is meant, as hunks come in order.
    behind = [number for number in at if number >= after] or at
    firsts = {
        min(start for start in starts if start >= number)
        for number in behind
        if any(start >= number for start in starts)
    }
    return sorted(firsts) or starts


def _insertion(lines: list[_Line], hunk: Hunk) -> int:
    """Where lines without any context go: behind their anchor, at their line, at the end."""
    if hunk.anchors and hunk.line is None:
        wanted = _loose(hunk.anchors[-1])
        found = [number for number, line in enumerate(lines) if _loose(line.text) == wanted]
        if len(found) != 1:
            where = f"in {len(found)} places" if found else "not in the file"
            raise BadArguments(f"patch: {hunk.name}: its @@ line {hunk.anchors[-1]!r} is {where}")
        return found[0] + 1
    if hunk.line is not None and lines:
        if hunk.line > len(lines):
            raise BadArguments(
                f"patch: {hunk.name} is not in the file: it has no context and its line "
                f"{hunk.line} is past the end; add context lines"
            )
        return hunk.line
    return len(lines)


def _applied(lines: list[_Line], placed: _Placed) -> list[_Line]:
    hunk = placed.hunk
    found = [line.text for line in lines[placed.start : placed.end]]
    pairs = indents(_as_meant(hunk, found), found)
    coming = [each.text for each in hunk.lines if each.mark == "+"]
    come = iter(reindented(coming, pairs, _nearest(hunk)))
    made: list[_Line] = []
    at = placed.start
    for each in hunk.lines:
        if each.mark == "+":
            made.append(_Line(next(come), _end_at(lines, at)))
            continue
        if each.mark == " ":
            made.append(lines[at])
        at += 1
    return made[_context(hunk.lines) : len(made) - _context(hunk.lines[::-1])]


def _as_meant(hunk: Hunk, found: list[str]) -> list[str]:
    """The hunk's old lines; one that stays and came without the blank in front is the file's own,
    its first blank was taken for that.
    """
    old = [line for line in hunk.lines if line.mark != "+"]
    return [
        there if line.mark == " " and f" {line.text}".rstrip() == there.rstrip() else line.text
        for line, there in zip(old, found, strict=True)
    ]


def _nearest(hunk: Hunk) -> list[int]:
    """For each line that comes the place, among those there that are not blank, of the one that it
    replaces or comes behind.
    """
    places: list[int] = []
    before, going = 0, 0
    for each in hunk.lines:
        if each.mark == "+":
            places.append(max(before - max(going, 1), 0))
            going -= 1
        elif each.text.strip(" \t"):
            before += 1
            going = max(going, 0) + 1 if each.mark == "-" else 0
    return places


def _end_at(lines: list[_Line], at: int) -> str:
    """The line end of the line before, else of the line itself: what stands around a new line."""
    for number in (at - 1, at):
        if 0 <= number < len(lines) and lines[number].end:
            return lines[number].end
    return ""


def _lines(text: str) -> list[_Line]:
    made = [
        _Line(line.removesuffix("\r"), "\r\n" if line.endswith("\r") else "\n")
        for line in text.split("\n")
    ]
    last = text.rpartition("\n")[2]
    if last == "":
        made.pop()
    else:
        made[-1] = _Line(last, "")
    return made


def _joined(lines: list[_Line], ended: bool, newline: Newline) -> str:
    """The lines as text; all but the last have an end."""
    pieces = [line.text + (line.end or newline) for line in lines[:-1]]
    if lines:
        last = lines[-1]
        pieces.append(last.text + ((last.end or newline) if ended else ""))
    return "".join(pieces)


def _nowhere(lines: list[_Line], hunk: Hunk) -> str:
    said = f"patch: {hunk.name} is not in the file"
    if hunk.at_end:
        said += ", at its end"
    differs = first_difference([line.text for line in lines], hunk.old)
    if differs:
        return f"{said}: its first line is line {differs[0]}, then {differs[1]}; send it anew"
    wanted = next((text for text in hunk.old if text.strip()), "")
    near = nearest_lines("\n".join(line.text for line in lines), wanted) if wanted else []
    listed = "; ".join(f"line {number} is {text[:200]!r}" for number, text in near)
    return (
        f"{said}: read the file, copy its lines, send the patch anew"
        f"{'; nearest to its first line: ' + listed if listed else ''}"
    )
