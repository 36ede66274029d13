"""Tells whether an image has come to its end, by its own bytes.

A server that refuses an image refuses every later question with it too: one that was cut off on its
way must not reach a model.
"""

import struct
import zlib
from collections.abc import Callable, Mapping

# Wider or higher ones are refused by some servers.
MOST_PIXELS = 8000

_JPEG_END = b"\xff\xd9"
_GIF_COLOURS = 0x80


def is_whole(kind: str, body: bytes) -> bool:
    """Whether an image of this kind, as textfiles.image_kind names it, is whole. Kinds that no
    server of a large provider takes are not looked into.
    """
    check = _CHECKS.get(kind)
    try:
        return check is None or check(body)
    except (struct.error, IndexError):
        return False


def _png(body: bytes) -> bool:
    """Its chunks add up, from its head to its end, with pixels among them."""
    place, has_pixels = 8, False
    while True:
        length, name = struct.unpack_from(">I4s", body, place)
        (checksum,) = struct.unpack_from(">I", body, place + 8 + length)
        if zlib.crc32(body[place + 4 : place + 8 + length]) != checksum:
            return False
        has_pixels = has_pixels or name == b"IDAT"
        if name == b"IEND":
            return has_pixels
        place += 12 + length


def _jpeg(body: bytes) -> bool:
    """Behind its segments begins a scan, behind that it ends."""
    place = 2
    while True:
        mark, kind, length = struct.unpack_from(">BBH", body, place)
        if mark != 0xFF:
            return False
        if kind == 0xFF:
            place += 1
        elif kind == 0xDA:
            return body.find(_JPEG_END, place + length) >= 0
        else:
            place += 2 + max(length, 2)


def _gif(body: bytes) -> bool:
    """Its blocks lead to its trailer, with an image among them."""
    place, has_image = 13 + _gif_colours(body[10]), False
    while body[place] != 0x3B:
        if body[place] == 0x2C:
            has_image = True
            place = _behind_blocks(body, place + 11 + _gif_colours(body[place + 9]))
        elif body[place] == 0x21:
            place = _behind_blocks(body, place + 2)
        else:
            return False
    return has_image


def _gif_colours(flags: int) -> int:
    """The bytes of a table of colours, where these flags say that there is one."""
    return 3 << ((flags & 7) + 1) if flags & _GIF_COLOURS else 0


def _behind_blocks(body: bytes, place: int) -> int:
    while body[place]:
        place += body[place] + 1
    return place + 1


def _webp(body: bytes) -> bool:
    (size,) = struct.unpack_from("<I", body, 4)
    return int(size) + 8 <= len(body)


_CHECKS: Mapping[str, Callable[[bytes], bool]] = {
    "PNG": _png,
    "JPEG": _jpeg,
    "GIF": _gif,
    "WebP": _webp,
}
