"""Finds the fenced code in a text."""

import re

FENCE = "```"
# As Discord reads it: a language is a word alone behind the fence; what is never closed is no code.
_BLOCK = re.compile(r"```([A-Za-z0-9+#._-]{1,30}\n|\n?)(?:(?!```)[\s\S])*```")


class Block:
    """One piece of fenced code: `start` and `end` in the text, fences included."""

    def __init__(self, found: re.Match[str]) -> None:
        self.start, self.end = found.span()
        language = found[1].strip("\n")
        self.opening = f"{FENCE}{language}\n"
        self.content = self.start + len(FENCE) + len(found[1])
        self.closing = self.end - len(FENCE)


def blocks(text: str) -> list[Block]:
    """Every piece of fenced code, in order."""
    return [Block(found) for found in _BLOCK.finditer(text)]
