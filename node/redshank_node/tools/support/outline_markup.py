"""Finds the tags of an XML or HTML text that have an id or a name (C-20)."""

import re
from html.parser import HTMLParser

from redshank_node.tools.support.outline_section import Mark

_TAG = re.compile(r"<\s*([^\s/>]+)")


def named_tags(lines: list[str]) -> list[Mark]:
    """The tags in their order, each labelled `tag#id`; broken markup gives what can be read."""
    reader = _Reader()
    reader.feed("\n".join(lines))
    reader.close()
    return reader.marks


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.marks: list[Mark] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        name = given.get("id") or given.get("name")
        if name:
            # The parser writes tags small; XML tells Item from item.
            written = _TAG.match(self.get_starttag_text() or "")
            shown = written[1] if written else tag
            self.marks.append(Mark(f"{shown}#{name}", self.getpos()[0], shown))
