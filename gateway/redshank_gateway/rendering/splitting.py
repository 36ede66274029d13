"""Cuts a text into messages that a chat takes."""

from collections.abc import Sequence

from redshank_gateway.rendering.fences import FENCE, Block, blocks

_CLOSE = f"\n{FENCE}"


def split(text: str, longest: int) -> tuple[str, ...]:
    """Pieces of at most `longest` characters (code points, 100 or more), none of them blank.

    Cut behind a line, else behind a word, else anywhere. Code that is cut is closed in one piece
    and opened again, under its language, in the next (F62).
    """
    found = blocks(text)
    pieces: list[str] = []
    at, prefix = 0, ""
    while len(prefix) + len(text) - at > longest:
        cut = _cut(text, at, at + longest - len(prefix) - len(_CLOSE))
        cut, inside = _clear_of_fences(found, at, cut)
        pieces.append(prefix + text[at:cut] + (_closing(text[at:cut]) if inside else ""))
        at, prefix = cut, inside.opening if inside else ""
    pieces.append(prefix + text[at:])
    return tuple(piece for piece in pieces if piece.strip())


def _cut(text: str, at: int, end: int) -> int:
    """Behind the last line end in the second half of the room, else the last space, else `end`."""
    half = at + (end - at) // 2
    for mark in ("\n", " "):
        found = text.rfind(mark, half, end)
        if found >= 0:
            return found + 1
    return end


def _clear_of_fences(found: Sequence[Block], at: int, cut: int) -> tuple[int, Block | None]:
    """The cut moved off any fence, with the code that it still falls into."""
    for block in found:
        if block.start < cut < block.end:
            if cut < block.content and block.start > at:
                return block.start, None
            # The room that was kept for a fence takes the code's own.
            if cut >= block.closing:
                return block.end, None
            return max(cut, block.content), block
    return cut, None


def _closing(piece: str) -> str:
    return FENCE if piece.endswith("\n") else _CLOSE
