"""Finds the headings of a Markdown text (C-20, C-21)."""

import re
from collections.abc import Iterator

from redshank_node.tools.support.outlines.section import Mark

_ATX = re.compile(r" {0,3}(#{1,6})(?=[ \t]|$)")
_UNDERLINE = re.compile(r" {0,3}(=+|-+)")
_FENCE = re.compile(r" {0,3}(`{3,}(?=[^`]*$)|~{3,})")
_NO_PARAGRAPH = re.compile(r"[ \t]*$| {4}|\t| {0,3}(?:[-*+>|]|\d+[.)][ \t]|<)")
_LINK = re.compile(r"!?\[([^\[\]]*)\](?:\([^()]*(?:\([^()]*\)[^()]*)*\)|\[[^\[\]]*\])?")


def headings(lines: list[str]) -> list[Mark]:
    """The headings in their order; underlined ones count only where none has `#` before it. Code
    between fences, what stands before the text as front matter hold none.
    """
    prose = list(_prose(lines))
    marks = [_atx(number, found, line) for number, line in prose if (found := _ATX.match(line))]
    return marks or list(_underlined(prose))


def _prose(lines: list[str]) -> Iterator[tuple[int, str]]:
    """The lines outside fences with their numbers."""
    fence = ""
    begin = _front_matter(lines)
    for number, line in enumerate(lines[begin:], begin + 1):
        found = _FENCE.match(line)
        if fence:
            if found and found[1].startswith(fence) and not line[found.end() :].strip():
                fence = ""
        elif found:
            fence = found[1]
        else:
            yield number, line


def _front_matter(lines: list[str]) -> int:
    """How many lines of front matter there are."""
    if lines and lines[0].rstrip() in ("---", "+++"):
        mark = lines[0].rstrip()
        for number, line in enumerate(lines[1:], 2):
            if line.rstrip() == mark:
                return number
    return 0


def _atx(number: int, found: re.Match[str], line: str) -> Mark:
    level = len(found[1])
    words = line[found.end() :].strip()
    open_end = words.rstrip("#")
    if not open_end or open_end[-1] in " \t":
        words = open_end.rstrip()
    return Mark(_label(words), number, f"h{level}", level)


def _underlined(prose: list[tuple[int, str]]) -> Iterator[Mark]:
    for (number, line), (below, underline) in zip(prose, prose[1:], strict=False):
        found = _UNDERLINE.fullmatch(underline.rstrip())
        if found and below == number + 1 and not _NO_PARAGRAPH.match(line):
            level = 1 if found[1][0] == "=" else 2
            yield Mark(_label(line), number, f"h{level}", level)


def _label(text: str) -> str:
    """A heading's words: of a link its label, not where it leads."""
    return _LINK.sub(lambda found: found[1], text).strip()
