"""What a section of a file is: its id, its label, the lines it spans."""

import re
from collections.abc import Sequence

import msgspec

_NOT_IN_AN_ID = re.compile("[^a-z0-9]+")


class Mark(msgspec.Struct, frozen=True):
    """Where a section begins: `line` counts from 1, `level` from 1 for the highest; 0: sections of
    this kind have no children.
    """

    label: str
    line: int
    type: str
    level: int = 0


class Section(msgspec.Struct, frozen=True):
    """`lines` is how many there are up to the next section (C-20); `through` the last line of what
    is shown of it, its children among it (C-21).
    """

    id: str
    label: str
    line: int
    lines: int
    type: str
    through: int


def sections_of(marks: Sequence[Mark], line_count: int) -> tuple[Section, ...]:
    """The sections that begin at these marks, in their order, each id once: a second one gets `-2`
    (C-21).
    """
    taken: dict[str, int] = {}
    ends = _ends(marks, line_count)
    sections = []
    for place, mark in enumerate(marks):
        following = marks[place + 1].line if place + 1 < len(marks) else line_count + 1
        sections.append(
            Section(
                id=_unused(slug(mark.label), taken),
                label=mark.label,
                line=mark.line,
                lines=max(following - mark.line, 1),
                type=mark.type,
                through=max(ends[place], mark.line),
            )
        )
    return tuple(sections)


def lines_of(text: str) -> list[str]:
    """The lines of a text without their ends, counted as read_file counts them."""
    lines = [line.removesuffix("\r") for line in text.split("\n")]
    return lines if lines[-1] else lines[:-1]


def slug(label: str) -> str:
    """The id that a label makes: small letters, digits, everything else one hyphen."""
    return _NOT_IN_AN_ID.sub("-", label.lower()).strip("-") or "section"


def _ends(marks: Sequence[Mark], line_count: int) -> list[int]:
    """The last line of each section: the one before the next of the same or a higher level."""
    ends = [line_count] * len(marks)
    still_open: list[int] = []
    for place, mark in enumerate(marks):
        while still_open and marks[still_open[-1]].level >= mark.level:
            ends[still_open.pop()] = mark.line - 1
        still_open.append(place)
    return ends


def _unused(wanted: str, taken: dict[str, int]) -> str:
    """`taken`: each id that stands, with how often it was wanted."""
    found = wanted
    while found in taken:
        taken[wanted] += 1
        found = f"{wanted}-{taken[wanted]}"
    taken[found] = 1
    return found
