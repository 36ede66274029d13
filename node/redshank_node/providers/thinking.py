"""Tells a model's leaked thinking (`<think>…</think>`) from its text, while it streams."""

import re

from redshank_node.providers.provider import Delta

_OPEN = "<think>"
_CLOSE = "</think>"
_LONE_CLOSE = re.compile(r"(?<!`)</think>[ \t]*(?=\n|$)")


class ThinkFilter:
    """Sorts pieces of text into text and reasoning (F-46).

    A tag in backticks or in a fenced block is text. A tag may be cut anywhere between two pieces.
    """

    def __init__(self) -> None:
        self._text: list[str] = []
        self._reasoning: list[str] = []
        self._held = ""
        self._thinking = False
        self._last = ""
        self._fences = 0
        self._ticks = ""
        self._trim = False
        self._opened_late = False

    def feed(self, piece: str) -> list[Delta]:
        """What can be shown of the answer so far, in order."""
        shown: list[Delta] = []
        rest = self._held + piece
        self._held = ""
        while rest:
            tag = _CLOSE if self._thinking else _OPEN
            at = rest.find(tag)
            if at < 0:
                kept = _possible_start(rest, tag)
                self._held = rest[len(rest) - kept :]
                self._put(rest[: len(rest) - kept], shown)
                break
            self._put(rest[:at], shown)
            if self._is_literal():
                self._put(tag, shown)
            else:
                self._turn()
            rest = rest[at + len(tag) :]
        return shown

    def close(self) -> tuple[list[Delta], str, str]:
        """The last pieces to show, then the whole text, then the whole reasoning."""
        shown: list[Delta] = []
        self._put(self._held, shown)
        self._held = ""
        text, reasoning = "".join(self._text), "".join(self._reasoning)
        if self._thinking and self._opened_late:
            return shown, f"{text}{_OPEN}{reasoning}", ""
        if not reasoning and _CLOSE in text:
            # Templates that open the tag in the prompt leave only its end in the answer.
            match = _LONE_CLOSE.search(text)
            if match and text.count("```", 0, match.start()) % 2 == 0:
                return shown, text[match.end() :].lstrip("\n"), text[: match.start()].strip()
        return shown, text, reasoning.strip()

    def _turn(self) -> None:
        if not self._thinking:
            self._opened_late = not self._reasoning and bool("".join(self._text).strip())
        self._thinking = not self._thinking
        self._trim = True

    def _is_literal(self) -> bool:
        return not self._thinking and (self._last == "`" or self._fences % 2 == 1)

    def _put(self, piece: str, shown: list[Delta]) -> None:
        if self._trim:
            piece = piece.lstrip("\n")
        if not piece:
            return
        self._trim = False
        if self._thinking:
            self._reasoning.append(piece)
            shown.append(Delta("reasoning", piece))
            return
        self._text.append(piece)
        self._last = piece[-1]
        self._count_fences(piece)
        shown.append(Delta("text", piece))

    def _count_fences(self, piece: str) -> None:
        ticked = self._ticks + piece
        self._fences += ticked.count("```")
        run = len(ticked) - len(ticked.rstrip("`"))
        self._ticks = "`" * (run % 3)


def _possible_start(text: str, tag: str) -> int:
    """How many last characters of the text could be the beginning of the tag."""
    for size in range(min(len(tag) - 1, len(text)), 0, -1):
        if text.endswith(tag[:size]):
            return size
    return 0
