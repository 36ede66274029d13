"""Masks what is left of a known secret where the middle of a text was left out."""

import re
from collections.abc import Sequence

from redshank_shared.vault.shapes import MASK

# As tools say it.
_CUT = re.compile(r"(\n\[\.\.\. \d+ bytes left out here \.\.\.\]\n)")
_SHORTEST_PIECE = 6


def masked_at_cuts(text: str, forms: Sequence[str]) -> str:
    """The text in which no beginning of a form, 6 characters or more, stands before a cut, and no
    end of one behind it.
    """
    parts = _CUT.split(text)
    last = len(parts) - 1
    for place in range(0, len(parts), 2):
        if place < last:
            parts[place] = _without_end(parts[place], forms)
        if place > 0:
            parts[place] = _without_beginning(parts[place], forms)
    return "".join(parts)


def _without_end(text: str, forms: Sequence[str]) -> str:
    longest = 0
    for form in forms:
        tail = text[-len(form) :]
        at = tail.find(form[:_SHORTEST_PIECE])
        while at != -1:
            if form.startswith(tail[at:]):
                longest = max(longest, len(tail) - at)
                break
            at = tail.find(form[:_SHORTEST_PIECE], at + 1)
    return text[: len(text) - longest] + MASK if longest else text


def _without_beginning(text: str, forms: Sequence[str]) -> str:
    longest = 0
    for form in forms:
        head = text[: len(form)]
        at = head.rfind(form[-_SHORTEST_PIECE:])
        while at != -1:
            end = at + _SHORTEST_PIECE
            if form.endswith(head[:end]):
                longest = max(longest, end)
                break
            at = head.rfind(form[-_SHORTEST_PIECE:], 0, end - 1)
    return MASK + text[longest:] if longest else text
