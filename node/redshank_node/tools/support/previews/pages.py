"""Makes a web page fit to be shown away from where it came from."""

import html
import re

from redshank_node.tools.support.entities import unescaped

_BASE = re.compile(r"<base\b", re.I)
_HEAD = re.compile(r"<head\b[^<>]*>", re.I)
_START = re.compile(r"\s*<!doctype[^>]*>", re.I)
_TITLE = re.compile(r"<title[^<>]*>([^<]*)</title", re.I)
_LOOKED_AT_CHARACTERS = 65536


def based(source: str, url: str) -> str:
    """The page with its own address in it, so that what it loads is found once a viewer lets it."""
    head = source[:_LOOKED_AT_CHARACTERS]
    if _BASE.search(head):
        return source
    place = _HEAD.search(head) or _START.match(head)
    at = place.end() if place else 0
    return f'{source[:at]}<base href="{html.escape(url)}">{source[at:]}'


def title_of(source: str) -> str:
    """What the page calls itself, on one line, at most 200 characters; empty where it does not."""
    found = _TITLE.search(source[:_LOOKED_AT_CHARACTERS])
    return " ".join(unescaped(found.group(1)).split())[:200] if found else ""
