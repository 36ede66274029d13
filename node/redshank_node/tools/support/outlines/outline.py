"""Outlines a large text file by its sections, so that a part of it can be asked for."""

import fnmatch
import logging
import math
from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from redshank_node.tools.support.outlines.markdown import headings
from redshank_node.tools.support.outlines.markup import named_tags
from redshank_node.tools.support.outlines.section import Mark, Section, lines_of, sections_of

logger = logging.getLogger(__name__)

LARGE_TOKENS = 2000


class Extractor(msgspec.Struct, frozen=True):
    """How sections are found in files whose name matches, the higher priority first."""

    pattern: str
    find: Callable[[list[str]], Sequence[Mark]]
    priority: int = 0


EXTRACTORS: tuple[Extractor, ...] = (
    Extractor("*.md", headings),
    Extractor("*.xml", named_tags),
    Extractor("*.html", named_tags),
)


def estimated_tokens(text: str) -> int:
    """About how many tokens a model makes of the text: a third of its characters (C-19)."""
    return math.ceil(len(text) / 3)


def sections_in(
    name: str, text: str, extractors: Sequence[Extractor] = EXTRACTORS
) -> tuple[Section, ...]:
    """The sections of a file with this name; () where no extractor finds any. One that fails is
    passed over (C-20).
    """
    lines = lines_of(text)
    last = name.rpartition("/")[2].lower()
    for extractor in sorted(extractors, key=lambda extractor: -extractor.priority):
        if not fnmatch.fnmatchcase(last, extractor.pattern):
            continue
        try:
            marks = extractor.find(lines)
        except Exception:  # noqa: BLE001 - the file can be read without an outline
            logger.exception("no outline of %s: its extractor failed", last)
            continue
        if marks:
            return sections_of(marks, len(lines))
    return ()


def outlined(name: str, text: str) -> tuple[Section, ...]:
    """The sections that stand in place of the text; () where it is short or has none (C-19)."""
    return sections_in(name, text) if estimated_tokens(text) > LARGE_TOKENS else ()


def described(path: str, text: str, sections: Sequence[Section]) -> dict[str, Any]:
    """The outline as a tool's result shows it (C-19)."""
    return {
        "path": path,
        "lines": len(lines_of(text)),
        "estTokens": estimated_tokens(text),
        "sections": [
            {
                "id": section.id,
                "label": section.label,
                "line": section.line,
                "lines": section.lines,
                "type": section.type,
            }
            for section in sections
        ],
    }


def section_text(text: str, section: Section) -> str:
    """The lines of a section, its children among them."""
    return "\n".join(lines_of(text)[section.line - 1 : section.through])
