"""Words for a model about an edit that fits nowhere, or in several places (C32)."""

import difflib
import re

_LISTED_LINES = 8
_SHOWN_PLACES = 4
_AROUND = 2
_SEARCHED_LINES = 20_000
_LINE_CHARACTERS = 200
_NUMBERED = re.compile(r"\s*\d+(\t|→|: )")


def ambiguous(view: str, name: str, lines: list[int]) -> str:
    """Says how many places there are, at which lines, with two lines on each side of the first."""
    listed = ", ".join(map(str, lines[:_LISTED_LINES]))
    more = ", ..." if len(lines) > _LISTED_LINES else ""
    every = view.split("\n")
    shown = "\n--\n".join(_around(every, line) for line in lines[:_SHOWN_PLACES])
    return (
        f"{name} matches {len(lines)} places, at lines {listed}{more}; "
        "add lines around it until it is unique, or say which is meant by its line, or replace "
        f"all of them\n{shown}"
    )


def not_found(view: str, name: str, old: str, where: str = "") -> str:
    """Says that the text is not there, with the lines that come nearest to its first line."""
    message = f"{name} is not in the file{where}"
    said = [line for line in old.split("\n") if line.strip()]
    if said and all(_NUMBERED.match(line) for line in said):
        return f"{message}; leave out the line numbers that read_file shows"
    near = nearest_lines(view, said[0]) if said else []
    if not near:
        return f"{message}; read_file shows what is"
    number, line = near[0]
    if _loose(line) == _loose(said[0]):
        begins = (
            f"line {number} is its first line but for blanks: copy it exactly, "
            f"it reads {line[:_LINE_CHARACTERS]!r}"
        )
        differs = first_difference(view.split("\n"), old.strip("\n").split("\n"))
        if differs:
            begins = f"its first line is line {differs[0]}, then {differs[1]}"
        elif line == said[0]:
            begins = f"its first line is line {number}, " + (
                "outside of these" if where else "but its last one does not end as the file's does"
            )
        return f"{message}; {begins}"
    listed = "\n".join(f"{number:>6}\t{line[:_LINE_CHARACTERS]}" for number, line in near)
    return f"{message}; these lines come nearest to its first line:\n{listed}"


def first_difference(lines: list[str], wanted: list[str]) -> tuple[int, str] | None:
    """Where the first of the wanted lines stand, from 1, and in words where the file goes on
    otherwise; the place where most of them stand. None where not even the first line is there.
    """
    loose = [_loose(line) for line in wanted[:_SEARCHED_LINES]]
    best, most = 0, 0
    for start, line in enumerate(lines[:_SEARCHED_LINES]):
        if not loose[0] or _loose(line) != loose[0]:
            continue
        same = 1
        for one, other in zip(loose[1:], lines[start + 1 : start + len(loose)], strict=False):
            if one != _loose(other):
                break
            same += 1
        best, most = (start, same) if same > most else (best, most)
    if not 0 < most < len(wanted):
        return None
    at = best + most
    there = f"reads {lines[at][:_LINE_CHARACTERS]!r}" if at < len(lines) else "does not exist"
    return best + 1, f"line {at + 1} {there}, not {wanted[most][:_LINE_CHARACTERS]!r}"


def nearest_lines(view: str, wanted: str, most: int = 3) -> list[tuple[int, str]]:
    """Lines with their numbers that are most like the wanted one, best first; only those that are
    like it at all. Looks at the first 20,000 lines.
    """
    lines = view.split("\n", _SEARCHED_LINES)[:_SEARCHED_LINES]
    loose = _loose(wanted)
    same = [(number, line) for number, line in enumerate(lines, 1) if _loose(line) == loose]
    if same:
        exact = [pair for pair in same if pair[1] == wanted]
        return (exact or same)[:1]
    matcher = difflib.SequenceMatcher(autojunk=False)
    matcher.set_seq2(loose[:_LINE_CHARACTERS])
    ranked: list[tuple[float, int, str]] = []
    for number, line in enumerate(lines, 1):
        matcher.set_seq1(_loose(line[:_LINE_CHARACTERS]))
        if matcher.real_quick_ratio() > 0.6 and matcher.quick_ratio() > 0.6:
            ratio = matcher.ratio()
            if ratio > 0.6:
                ranked.append((-ratio, number, line))
    return [(number, line) for _, number, line in sorted(ranked)[:most]]


def _around(lines: list[str], line: int) -> str:
    first = max(line - 1 - _AROUND, 0)
    return "\n".join(
        f"{'>' if number == line else ' '}{number:>6}\t{text[:_LINE_CHARACTERS]}"
        for number, text in enumerate(lines[first : line + _AROUND], first + 1)
    )


def _loose(line: str) -> str:
    return " ".join(line.split())
