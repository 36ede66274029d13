"""Turns what a server sent into text that a model reads."""

import asyncio
import codecs
import email.message
import logging
import os
import re
import sys
from typing import Literal

from redshank_node.tools.support.entities import unescaped
from redshank_node.tools.support.web.client import Fetched

logger = logging.getLogger(__name__)

_PROGRAM = (sys.executable, "-P", "-m", "redshank_node.tools.support.web.article")
_ARTICLE_SECONDS = 8.0
_MOST_HTML = 2 * 1024 * 1024
_LOOKED_AT_BYTES = 4096
_CHARSET = re.compile(rb"""(?:charset|encoding)\s*=\s*["']?\s*([A-Za-z0-9._:-]{2,40})""", re.I)
_HIDDEN = re.compile(r"<(script|style|svg|template|noscript)\b.*?(?:</\1\s*>|\Z)", re.I | re.S)
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.S)
_BLOCK = re.compile(r"<(?:br|/?(?:p|div|li|tr|h[1-6]|section|table|ul|ol|pre))\b", re.I)
_TAG = re.compile(r"<[^<>]*>")
_TEXTS = frozenset(
    {
        "application/json",
        "application/xml",
        "application/javascript",
        "application/ecmascript",
        "application/x-ndjson",
        "application/yaml",
        "application/x-yaml",
        "application/toml",
        "application/x-sh",
        "application/sql",
        "image/svg+xml",
    }
)
_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)

Kind = Literal["html", "text", "binary"]


def media_type(content_type: str) -> tuple[str, str]:
    """(type/subtype, charset) of a Content-Type header, lower-case, empty where it does not say."""
    if not content_type.strip():
        return "", ""
    header = email.message.Message()
    header["Content-Type"] = content_type[:500].replace("\r", " ").replace("\n", " ")
    charset = header.get_param("charset", "")
    return header.get_content_type(), charset.strip().lower() if isinstance(charset, str) else ""


def kind_of(content_type: str, body: bytes) -> Kind:
    """What a body is, by its header; by itself where that says nothing, or text of what holds NUL.

    UTF-16 that says so with a mark is text.
    """
    name, _ = media_type(content_type)
    if name in ("text/html", "application/xhtml+xml"):
        return "html"
    looked_at = body[:_LOOKED_AT_BYTES]
    is_marked = any(body.startswith(mark) for mark, _ in _MARKS)
    says_text = name.startswith("text/") or name in _TEXTS or name.endswith(("+json", "+xml"))
    if name and not says_text:
        return "binary"
    if b"\0" in looked_at and not is_marked:
        return "binary"
    if not name and re.match(rb"\s*(?:<!doctype html|<html)", looked_at, re.I):
        return "html"
    return "text"


def decoded(content_type: str, body: bytes) -> str:
    """The body as text: by its mark, by its header, by what it says of itself, else as UTF-8, at
    last as Windows-1252. What fits nowhere becomes the replacement character.
    """
    for mark, encoding in _MARKS:
        if body.startswith(mark):
            return body.decode(encoding, "replace")
    inner = _CHARSET.search(body[:_LOOKED_AT_BYTES])
    for said in (media_type(content_type)[1], inner.group(1).decode() if inner else ""):
        if encoding := _known(said):
            return body.decode(encoding, "replace")
    try:
        return body.decode()
    except UnicodeDecodeError as error:
        if error.end == len(body) and error.reason == "unexpected end of data":
            return body.decode(errors="replace")
        return body.decode("cp1252", "replace")


async def readable(fetched: Fetched) -> str:
    """The text of a page: HTML as Markdown without what stands around an article, else as it is.

    What is hidden from a person (scripts, comments) is left out; nothing binary comes here. A page
    that takes too long to look through is stripped to the text between its tags.
    """
    text = decoded(fetched.content_type, fetched.body)
    if kind_of(fetched.content_type, fetched.body) != "html":
        return text.strip()
    bare = await asyncio.to_thread(_bare, text)
    found = await _article(bare, fetched.url) if len(bare) <= _MOST_HTML else ""
    if not found:
        return await asyncio.to_thread(_plain, bare)
    title = _title(bare)
    return f"# {title}\n\n{found}" if title and title not in found[:500] else found


async def _article(source: str, url: str) -> str:
    """What the program beside this module finds, empty where it finds nothing in time. It sees
    nothing of this process's environment.
    """
    program = await asyncio.create_subprocess_exec(
        *_PROGRAM,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        cwd="/",
        env={"PYTHONPATH": os.pathsep.join(filter(None, sys.path)), "PYTHONUTF8": "1"},
    )
    try:
        async with asyncio.timeout(_ARTICLE_SECONDS):
            found, _ = await program.communicate(f"{url}\n{source}".encode(errors="replace"))
    except TimeoutError:
        logger.warning("a page takes longer than %g s to look through: %s", _ARTICLE_SECONDS, url)
        return ""
    finally:
        if program.returncode is None:
            program.kill()
            await program.wait()
    return found.decode(errors="replace") if program.returncode == 0 else ""


def _bare(source: str) -> str:
    return _COMMENT.sub("", _HIDDEN.sub("", source))


def _title(source: str) -> str:
    found = re.search(r"<title[^<>]*>([^<]*)</title", source[:65536], re.I)
    return " ".join(unescaped(found.group(1)).split())[:200] if found else ""


def _plain(source: str) -> str:
    """The text between the tags, a line a block."""
    text = unescaped(_TAG.sub(" ", _BLOCK.sub("\n<", source)))
    lines = (" ".join(line.split()) for line in text.splitlines())
    return "\n".join(line for line in lines if line)


def _known(encoding: str) -> str:
    """The name of a text encoding that Python has, as the web means it; empty for any other."""
    try:
        name = codecs.lookup(encoding).name if encoding else ""
    except (LookupError, ValueError):
        return ""
    # The web calls Windows' superset by the name of the standard.
    name = {"iso8859-1": "cp1252", "ascii": "cp1252"}.get(name, name)
    try:
        # Not every codec of Python's is one of texts, nor bears what it cannot read.
        b"a\xff".decode(name or "ascii", "replace").encode()
    except (LookupError, ValueError, AttributeError):
        return ""
    return name
