"""What an edit asks for, where it applies in a text."""

from typing import Literal

import msgspec

from redshank_node.tools.support.edits.near import Anchor

Match = Literal["exact", "fuzzy"]


class Edit(msgspec.Struct, frozen=True):
    """One replacement as it was asked for. `name` is the argument that holds its old text; `near`
    are anchors that all must hold (C34).
    """

    name: str
    old: str
    new: str
    near_line: int | None = None
    replace_all: bool = False
    near: tuple[Anchor, ...] = ()


class Span(msgspec.Struct, frozen=True):
    """Characters `start` to `end` of a text become `new`. `found` is all that the edit matched: it
    holds the span, which leaves out what is the same before and after. `edit` is the edit's place
    in its batch, from 0.
    """

    start: int
    end: int
    new: str
    found: tuple[int, int] = (0, 0)
    match: Match = "exact"
    edit: int = 0


def replaced(text: str, spans: tuple[Span, ...]) -> str:
    """The text with all spans replaced. They stand in its order and do not overlap."""
    pieces: list[str] = []
    start = 0
    for span in spans:
        pieces += [text[start : span.start], span.new]
        start = span.end
    pieces.append(text[start:])
    return "".join(pieces)
