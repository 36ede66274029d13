"""Tells as what bytes can be shown to a person beside a conversation."""

import csv
import io
import re

import msgspec

from redshank_node.tools.support.files import textfiles
from redshank_node.tools.support.web import pages as web_pages
from redshank_shared.domain.artifact_events import PreviewKind

MEGABYTE = 1024 * 1024
# T-33
MOST_BYTES: dict[PreviewKind, int] = {
    "web": 4 * MEGABYTE,
    "pdf": 32 * MEGABYTE,
    "image": 4 * MEGABYTE,
    "table": 2 * MEGABYTE,
    "text": 512 * 1024,
    "markdown": 512 * 1024,
}
MOST_OF_ANY = max(MOST_BYTES.values())

IMAGE_TYPES = {
    "PNG": "image/png",
    "JPEG": "image/jpeg",
    "GIF": "image/gif",
    "WebP": "image/webp",
    "BMP": "image/bmp",
    "ICO": "image/x-icon",
}
_SUFFIXES: dict[str, PreviewKind] = {
    "htm": "web",
    "html": "web",
    "xhtml": "web",
    "svg": "image",
    "csv": "table",
    "tsv": "table",
    "tab": "table",
    "json": "table",
    "md": "markdown",
    "markdown": "markdown",
    "txt": "text",
}
_TYPES: dict[str, PreviewKind] = {
    "text/html": "web",
    "application/xhtml+xml": "web",
    "image/svg+xml": "image",
    "text/csv": "table",
    "text/tab-separated-values": "table",
    "application/json": "table",
    "text/markdown": "markdown",
    "text/x-markdown": "markdown",
}
# Each comment ends at its first end: to try later ones takes for ever where there are many.
_COMMENTS = r"(?><!--.*?-->\s*)*+"
_HTML = re.compile(rf"\s*{_COMMENTS}<(?:!doctype html|html|head|body)\b", re.I | re.S)
_SVG = re.compile(
    rf"\s*(?:<\?xml[^>]*>\s*)?{_COMMENTS}(?:<!doctype svg[^>]*>\s*)?{_COMMENTS}<svg\b", re.I | re.S
)
_LOOKED_AT_CHARACTERS = 4096


class Unshowable(Exception):
    """These bytes cannot be shown so. The message says why with the mend; it goes to the model."""


class Source(msgspec.Struct, frozen=True):
    """Bytes with what is known of them: the `name` of the file or the path of the URL, what a
    server or an asset says they are; `is_whole` unless more was there than was read.
    """

    body: bytes
    name: str = ""
    content_type: str = ""
    is_whole: bool = True


class Shown(msgspec.Struct, frozen=True):
    """What a person is shown. Text is UTF-8, whatever it was before."""

    kind: PreviewKind
    media_type: str
    body: bytes


def shown(source: Source, wanted: PreviewKind | None = None) -> Shown:
    """The bytes as a preview of the wanted kind, or of the kind that their content says (T-33).

    Unshowable where they are too large, or are not of that kind.
    """
    if not source.body:
        raise Unshowable("it is empty; there is nothing to show")
    by_magic = _by_magic(source.body)
    if by_magic is not None:
        made = Shown(*by_magic, source.body)
        _check_wanted(made.kind, wanted)
    else:
        made = _of_text(source, wanted)
    _check_size(made.kind, source, len(made.body))
    return made


def _check_size(kind: PreviewKind, source: Source, made_bytes: int = 0) -> None:
    most = MOST_BYTES[kind]
    if source.is_whole and max(made_bytes, len(source.body)) <= most:
        return
    size = f"{'' if source.is_whole else 'more than '}{len(source.body)} bytes"
    raise Unshowable(f"it has {size}, at most {most} are shown as {kind}; show a part of it")


def _by_magic(body: bytes) -> tuple[PreviewKind, str] | None:
    if body[:1024].lstrip().startswith(b"%PDF-"):
        return "pdf", "application/pdf"
    image = textfiles.image_kind(body[:64])
    if image is None:
        return None
    if image not in IMAGE_TYPES:
        raise Unshowable(f"it is a {image} image, which browsers do not show; convert it to PNG")
    return "image", IMAGE_TYPES[image]


def _check_wanted(found: PreviewKind, wanted: PreviewKind | None) -> None:
    if wanted not in (None, found):
        raise Unshowable(f"its content is {found}, not {wanted}; leave kind out")


def _of_text(source: Source, wanted: PreviewKind | None) -> Shown:
    text = _text(source)
    suffix = source.name.rpartition(".")[2].lower() if "." in source.name else ""
    said = web_pages.media_type(source.content_type)[0]
    kind = wanted or _kind(text, suffix, said)
    if kind in ("pdf", "image") and not (kind == "image" and _SVG.match(text)):
        raise Unshowable(f"its content is text, not {kind}; leave kind out")
    _check_size(kind, source)
    if kind == "image":
        return Shown("image", "image/svg+xml", text.encode())
    if kind == "table":
        return _table(text, suffix, said, must_be=wanted == "table")
    types = {"web": "text/html", "markdown": "text/markdown", "text": "text/plain"}
    return Shown(kind, f"{types[kind]}; charset=utf-8", text.encode(errors="replace"))


def _text(source: Source) -> str:
    try:
        if source.content_type:
            if b"\0" in source.body[:_LOOKED_AT_CHARACTERS]:
                textfiles.decoded(source.body)
            return web_pages.decoded(source.content_type, source.body)
        return textfiles.decoded(source.body).text
    except textfiles.NotText as other:
        raise Unshowable(
            f"it is a {other.kind}; web pages, PDF, images, tables, text, Markdown are shown"
        ) from None


def _kind(text: str, suffix: str, said: str) -> PreviewKind:
    """By the name, then by what a server says, then by the first words."""
    head = text[:_LOOKED_AT_CHARACTERS]
    kind = _SUFFIXES.get(suffix) or _TYPES.get(said)
    if kind == "image" and not _SVG.match(head):
        kind = None
    if kind is not None:
        return kind
    if _SVG.match(head):
        return "image"
    return "web" if _HTML.match(head) else "text"


def _table(text: str, suffix: str, said: str, *, must_be: bool) -> Shown:
    """JSON that is no table is text, unless a table was asked for."""
    if "\n" not in text:
        text = text.replace("\r", "\n")
    if suffix == "json" or "json" in said or text.lstrip()[:1] in ("[", "{"):
        if _is_table(text):
            return Shown("table", "application/json", text.encode(errors="replace"))
        if suffix == "json" or "json" in said or must_be:
            return _no_table(text, must_be=must_be)
    if suffix in ("tsv", "tab") or said == "text/tab-separated-values":
        return Shown("table", "text/tab-separated-values; charset=utf-8", _rows(text, "\t"))
    first = text.split("\n", 1)[0]
    delimiter = max(",;\t", key=first.count)
    if delimiter == "\t":
        return Shown("table", "text/tab-separated-values; charset=utf-8", _rows(text, "\t"))
    if delimiter == ";":
        return Shown("table", "text/csv; charset=utf-8", _rewritten(text, ";"))
    return Shown("table", "text/csv; charset=utf-8", _rows(text, ","))


def _no_table(text: str, *, must_be: bool) -> Shown:
    if must_be:
        raise Unshowable(
            "its JSON is no table; show a list of objects or a list of lists, or leave kind out"
        )
    return Shown("text", "text/plain; charset=utf-8", text.encode(errors="replace"))


def _is_table(text: str) -> bool:
    """A list of objects, or a list of lists."""
    try:
        rows = msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError, UnicodeEncodeError):
        return False
    if not isinstance(rows, list) or not rows:
        return False
    return all(isinstance(row, dict) for row in rows) or all(isinstance(row, list) for row in rows)


def _rows(text: str, delimiter: str) -> bytes:
    _check_rows(text, delimiter)
    return text.encode(errors="replace")


def _rewritten(text: str, delimiter: str) -> bytes:
    """The same rows with commas between their fields."""
    rows = _check_rows(text, delimiter)
    written = io.StringIO()
    csv.writer(written, lineterminator="\n").writerows(rows)
    return written.getvalue().encode(errors="replace")


def _check_rows(text: str, delimiter: str) -> list[list[str]]:
    try:
        return list(csv.reader(io.StringIO(text), delimiter=delimiter))
    except csv.Error as error:
        raise Unshowable(f"its rows cannot be told apart: {error}; show it as text") from error
