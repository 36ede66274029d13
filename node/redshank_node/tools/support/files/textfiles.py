"""Tells text from other bytes, decodes it so that every byte can be written back."""

import codecs
import re
from typing import Literal

import msgspec

Newline = Literal["\n", "\r\n"]

_BOMS: tuple[tuple[bytes, str], ...] = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_IMAGES: tuple[tuple[bytes, str], ...] = (
    (b"\x89PNG\r\n\x1a\n", "PNG"),
    (b"\xff\xd8\xff", "JPEG"),
    (b"GIF87a", "GIF"),
    (b"GIF89a", "GIF"),
    (b"BM", "BMP"),
    (b"II*\x00", "TIFF"),
    (b"MM\x00*", "TIFF"),
    (b"\x00\x00\x01\x00", "ICO"),
)
_OTHERS: tuple[tuple[bytes, str], ...] = (
    (b"%PDF-", "PDF document"),
    (b"PK\x03\x04", "ZIP archive"),
    (b"\x1f\x8b", "gzip archive"),
    (b"\xfd7zXZ\x00", "xz archive"),
    (b"BZh", "bzip2 archive"),
    (b"\x28\xb5\x2f\xfd", "zstd archive"),
    (b"\x7fELF", "ELF program"),
    (b"SQLite format 3\x00", "SQLite database"),
)


_CONTROL = re.compile("[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f]")


class NotText(Exception):
    """The bytes are no text. `kind` says in words what they are, as in 'PDF document'."""

    def __init__(self, kind: str) -> None:
        super().__init__(kind)
        self.kind = kind


class Encoding(msgspec.Struct, frozen=True):
    """How a text stands in its file.

    The codec of what follows the byte order mark, if there is one.
    """

    codec: str
    bom: bytes = b""

    @property
    def name(self) -> str:
        """The encoding in words, as in 'UTF-8 with byte order mark'."""
        name = "Latin-1" if self.codec == "latin-1" else self.codec.upper()
        return f"{name} with byte order mark" if self.bom else name


class TextFile(msgspec.Struct, frozen=True):
    """A file's text with its line ends as they are; `encoded` gives the same bytes back."""

    text: str
    encoding: Encoding


def image_kind(head: bytes) -> str | None:
    """The image format that these first bytes begin, by its usual name (T-22).

    None for anything else.
    """
    if head[:4] == b"RIFF" and head[8:12] == b"WEBP":
        return "WebP"
    for magic, kind in _IMAGES:
        if head.startswith(magic) and (kind != "BMP" or b"\x00" in head[:14]):
            return kind
    return None


def sniffed(head: bytes, *, whole: bool) -> Encoding:
    """The encoding of a text that begins so; raises NotText.

    Without `whole`, the last character may be cut off.
    """
    kind = image_kind(head)
    if kind is not None:
        raise NotText(f"{kind} image")
    for magic, other in _OTHERS:
        if head.startswith(magic) and not (magic == b"BZh" and head.isascii()):
            raise NotText(other)
    for bom, codec in _BOMS:
        if head.startswith(bom):
            return Encoding(codec, bom)
    if b"\x00" in head:
        return _wide(head, whole=whole)
    try:
        codecs.getincrementaldecoder("utf-8")().decode(head, final=whole)
    except UnicodeDecodeError:
        return Encoding("latin-1")
    return Encoding("utf-8")


def _wide(head: bytes, *, whole: bool) -> Encoding:
    """UTF-16 without a mark, where every second byte of most characters is zero, the others are
    those of a text; else NotText.
    """
    zeros = (head[0::2].count(0), head[1::2].count(0))
    little = zeros[1] > zeros[0]
    codec = "utf-16-le" if little else "utf-16-be"
    if min(zeros) or max(zeros) * 3 < len(head) // 2 or (whole and len(head) % 2):
        raise NotText("binary file")
    try:
        text = codecs.getincrementaldecoder(codec)().decode(head, final=whole)
    except UnicodeDecodeError:
        raise NotText("binary file") from None
    if _CONTROL.search(text):
        raise NotText("binary file")
    return Encoding(codec)


def decoded(data: bytes) -> TextFile:
    """The bytes as text: UTF-8, UTF-16 or UTF-32 by their marks, else Latin-1.

    Raises NotText (F33, F15).
    """
    encoding = sniffed(data, whole=True)
    try:
        return TextFile(data[len(encoding.bom) :].decode(encoding.codec), encoding)
    except UnicodeDecodeError:
        raise NotText(f"damaged {encoding.name} text") from None


def encoded(text: str, encoding: Encoding) -> bytes:
    """The bytes of the text in that encoding.

    Raises UnicodeEncodeError where it has no such character.
    """
    return encoding.bom + text.encode(encoding.codec)


def newline_of(text: str) -> Newline:
    """The line end that most lines of the text have."""
    windows = text.count("\r\n")
    return "\r\n" if windows * 2 > text.count("\n") else "\n"


def with_newlines(text: str, newline: Newline) -> str:
    """The text with each bare LF written as that line end; a CRLF that is there stays."""
    if newline == "\n" or "\n" not in text:
        return text
    return text.replace("\r\n", "\n").replace("\n", "\r\n")
