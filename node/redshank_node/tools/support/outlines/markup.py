"""Finds the tags of an XML or HTML text that have an id or a name (C-20).

Read in one pass: the parser of the standard library takes minutes for a hostile kilobyte.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator

from redshank_node.tools.support.entities import unescaped
from redshank_node.tools.support.outlines.section import Mark

_NAME = re.compile(r"<([A-Za-z_:][^\s/>]{0,199})")
_ATTRIBUTE = re.compile(
    r"""[\s/]*(?:([^\s=>"'/<]+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s>"'<]*)))?|(>))"""
)
_TAG_CHARACTERS = 4096
# What is passed over as a whole, with its end.
_PASSED_OVER = (("<!--", "-->"), ("<![CDATA[", "]]>"), ("<?", ">"), ("<!", ">"))
_RAW = ("script", "style")
_RAW_END = re.compile("</(?:script|style)", re.IGNORECASE)


def named_tags(lines: list[str]) -> list[Mark]:
    """The tags in their order, each labelled `tag#id`; broken markup gives what can be read."""
    text = "\n".join(lines)
    begins = [0]
    for line in lines:
        begins.append(begins[-1] + len(line) + 1)
    return [
        Mark(f"{tag}#{unescaped(name)}", bisect_right(begins, place), tag)
        for place, tag, name in _tags(text)
        if name
    ]


def _tags(text: str) -> Iterator[tuple[int, str, str]]:
    """(where it begins, tag, its id or name or nothing) of each tag that opens."""
    place = text.find("<")
    while place >= 0:
        found = _NAME.match(text, place)
        if found is None:
            place = _behind(text, place)
        else:
            attributes, end = _attributes(text, found.end())
            yield place, found[1], attributes.get("id") or attributes.get("name") or ""
            place = end
            if found[1].lower() in _RAW:
                ended = _RAW_END.search(text, end)
                place = ended.start() if ended else -1
        place = text.find("<", place) if place >= 0 else -1


def _behind(text: str, place: int) -> int:
    """Where to go on behind what begins here and is no tag that opens; -1 where it has no end."""
    for begin, end in _PASSED_OVER:
        if text.startswith(begin, place):
            return text.find(end, place + len(begin))
    return place + 1


def _attributes(text: str, place: int) -> tuple[dict[str, str], int]:
    """The attributes by their names in small letters, up to the tag's end; where to go on."""
    most = place + _TAG_CHARACTERS
    attributes: dict[str, str] = {}
    while found := _ATTRIBUTE.match(text, place, most):
        if found[5]:
            return attributes, found.end()
        attributes.setdefault(found[1].lower(), found[2] or found[3] or found[4] or "")
        place = found.end()
    return attributes, max(place, most if place + 1 >= most else place)
