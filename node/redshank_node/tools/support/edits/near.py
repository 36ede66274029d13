"""Where in a text an edit may apply, by its anchors (C34)."""

import re
from collections.abc import Callable
from typing import Literal

import msgspec

from redshank_node.tools.tool import BadArguments

RADIUS = 15

Places = Callable[[str], list[int]]
LinesAt = Callable[[list[int]], list[int]]
# First to last line, both counted from 1, both included.
Lines = tuple[int, int]


class TextAnchor(msgspec.Struct, frozen=True):
    """Within 15 lines of a text, wherever it stands."""

    name: str
    text: str


class LinesAnchor(msgspec.Struct, frozen=True):
    """Within these lines, counted from 1."""

    name: str
    start: int
    end: int


class SymbolAnchor(msgspec.Struct, frozen=True):
    """Within `radius` lines before, behind or around a word: the one nearest to `line`, or the
    `index`-th from 1, or the only one.
    """

    name: str
    symbol: str
    line: int | None = None
    index: int | None = None
    direction: Literal["", "before", "after"] = ""
    radius: int = RADIUS


Anchor = TextAnchor | LinesAnchor | SymbolAnchor


def windows(
    text: str, anchors: tuple[Anchor, ...], places: Places, lines_at: LinesAt
) -> tuple[Lines, ...] | None:
    """The lines that all anchors leave, None for all of them. `places` finds a text with its blanks
    taken loosely, as line numbers; `lines_at` turns places into these. Raises BadArguments that
    names the anchor.
    """
    if not anchors:
        return None
    last = text.count("\n") + (not text.endswith("\n"))
    left: tuple[Lines, ...] = ((1, max(last, 1)),)
    for anchor in anchors:
        left = _shared(left, _of(anchor, text, max(last, 1), places, lines_at))
        if not left:
            raise BadArguments(
                f"{anchor.name}: no line is near all of its anchors; leave one of them out"
            )
    return left


def _of(
    anchor: Anchor, text: str, last: int, places: Places, lines_at: LinesAt
) -> tuple[Lines, ...]:
    match anchor:
        case LinesAnchor():
            if not 1 <= anchor.start <= anchor.end <= last:
                raise BadArguments(
                    f"{anchor.name}: startLine {anchor.start} to endLine {anchor.end} do not lie "
                    f"in the file, which has {last} line(s)"
                )
            return ((anchor.start, anchor.end),)
        case TextAnchor():
            lines = places(anchor.text)
            if not lines:
                raise BadArguments(f"{anchor.name}: {anchor.text[:80]!r} is not in the file")
            return _merged([(line - RADIUS, line + RADIUS) for line in lines])
        case SymbolAnchor():
            line = _symbol_line(anchor, text, lines_at)
            before = 0 if anchor.direction == "after" else anchor.radius
            after = 0 if anchor.direction == "before" else anchor.radius
            return ((line - before, line + after),)


def _symbol_line(anchor: SymbolAnchor, text: str, lines_at: LinesAt) -> int:
    word = rf"(?<!\w){re.escape(anchor.symbol)}(?!\w)"
    lines = lines_at([found.start() for found in re.finditer(word, text)])
    if not lines:
        raise BadArguments(f"{anchor.name}: the symbol {anchor.symbol!r} is not in the file")
    if anchor.index is not None:
        if anchor.index > len(lines):
            raise BadArguments(
                f"{anchor.name}: index {anchor.index}, but {anchor.symbol!r} stands in "
                f"{len(lines)} place(s)"
            )
        return lines[anchor.index - 1]
    if anchor.line is None:
        if len(lines) > 1:
            raise BadArguments(
                f"{anchor.name}: {anchor.symbol!r} stands at lines "
                f"{', '.join(map(str, lines[:8]))}; give line or index"
            )
        return lines[0]
    wanted = anchor.line
    ranked = sorted(lines, key=lambda line: abs(line - wanted))
    if len(ranked) > 1 and abs(ranked[0] - wanted) == abs(ranked[1] - wanted):
        raise BadArguments(
            f"{anchor.name}: {anchor.symbol!r} at lines {ranked[0]} and {ranked[1]} is as near to "
            f"line {wanted}; give another line, or index"
        )
    return ranked[0]


def _merged(ranges: list[Lines]) -> tuple[Lines, ...]:
    merged: list[Lines] = []
    for start, end in sorted(ranges):
        if merged and start <= merged[-1][1] + 1:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return tuple(merged)


def _shared(one: tuple[Lines, ...], other: tuple[Lines, ...]) -> tuple[Lines, ...]:
    return tuple(
        (max(first, start), min(last, end))
        for first, last in one
        for start, end in other
        if max(first, start) <= min(last, end)
    )
