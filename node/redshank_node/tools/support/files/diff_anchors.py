"""Finds what stays between two long lists of lines, by the lines that each has once."""

import difflib
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence

# (tag, from, to in the old list, from, to in the new one), as difflib has them.
Opcode = tuple[str, int, int, int, int]

_MATCHED_LINES = 1500
_MOST_MATCHED_LINES = 30_000


def opcodes(old: Sequence[str], new: Sequence[str]) -> list[Opcode]:
    """What makes the new lines of the old ones; in bounded time: what differs much between two
    lines that stay is one piece.
    """
    pieces: list[Opcode] = []
    left = _MOST_MATCHED_LINES
    at_old, at_new = 0, 0
    for stay_old, stay_new in [*_staying(old, new), (len(old), len(new))]:
        size = stay_old - at_old + stay_new - at_new
        matched = size <= min(_MATCHED_LINES, left)
        if matched:
            left -= size
        pieces.extend(_between(old[at_old:stay_old], new[at_new:stay_new], at_old, at_new, matched))
        if stay_old < len(old):
            pieces.append(("equal", stay_old, stay_old + 1, stay_new, stay_new + 1))
        at_old, at_new = stay_old + 1, stay_new + 1
    return _joined(pieces)


def grouped(pieces: Sequence[Opcode], context: int) -> Iterator[list[Opcode]]:
    """The pieces by hunks, each with so many lines that stay around it."""
    group: list[Opcode] = []
    for place, (tag, i1, i2, j1, j2) in enumerate(pieces):
        if tag != "equal":
            group.append((tag, i1, i2, j1, j2))
            continue
        kept = i2 - i1
        before = context if place else 0
        behind = context if place < len(pieces) - 1 else 0
        if kept <= before + behind:
            group.append((tag, i1, i2, j1, j2))
            continue
        if group:
            yield [*group, (tag, i1, i1 + before, j1, j1 + before)]
        group = [(tag, i2 - behind, i2, j2 - behind, j2)]
    if any(tag != "equal" for tag, *_ in group):
        yield group


def _between(
    old: Sequence[str], new: Sequence[str], at_old: int, at_new: int, matched: bool
) -> Iterator[Opcode]:
    """The pieces between two lines that stay; `at_old` and `at_new` is where the lists begin."""
    if not matched or not old or not new:
        tag = "replace" if old and new else "delete" if old else "insert"
        if old or new:
            yield tag, at_old, at_old + len(old), at_new, at_new + len(new)
        return
    for tag, i1, i2, j1, j2 in difflib.SequenceMatcher(None, old, new).get_opcodes():
        yield tag, at_old + i1, at_old + i2, at_new + j1, at_new + j2


def _joined(pieces: Sequence[Opcode]) -> list[Opcode]:
    """The same with neighbours of one tag as one piece."""
    joined: list[Opcode] = []
    for tag, i1, i2, j1, j2 in pieces:
        if joined and joined[-1][0] == tag:
            _, first_old, _, first_new, _ = joined.pop()
            joined.append((tag, first_old, i2, first_new, j2))
        else:
            joined.append((tag, i1, i2, j1, j2))
    return joined


def _staying(old: Sequence[str], new: Sequence[str]) -> list[tuple[int, int]]:
    """Places (old, new) of lines that both have once, the longest row of them that is in order."""
    in_old, in_new = Counter(old), Counter(new)
    place_in_new = {line: place for place, line in enumerate(new) if in_new[line] == 1}
    pairs = [
        (place, place_in_new[line])
        for place, line in enumerate(old)
        if in_old[line] == 1 and line in place_in_new
    ]
    # The last pair of the best row of each length, by its place in the new list.
    ends: list[int] = []
    chosen: list[int] = []
    before: list[int] = []
    for number, (_, place) in enumerate(pairs):
        length = bisect_left(ends, place)
        before.append(chosen[length - 1] if length else -1)
        if length == len(ends):
            ends.append(place)
            chosen.append(number)
        else:
            ends[length] = place
            chosen[length] = number
    row: list[tuple[int, int]] = []
    number = chosen[-1] if chosen else -1
    while number >= 0:
        row.append(pairs[number])
        number = before[number]
    return row[::-1]
