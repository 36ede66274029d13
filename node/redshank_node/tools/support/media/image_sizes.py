"""Reads how many pixels an image has from its own bytes (T-22)."""

import struct
from collections.abc import Callable, Mapping

from redshank_shared.domain.images import ImageType

MEDIA_TYPES: Mapping[str, ImageType] = {
    "PNG": "image/png",
    "JPEG": "image/jpeg",
    "GIF": "image/gif",
    "WebP": "image/webp",
    "BMP": "image/bmp",
    "TIFF": "image/tiff",
    "ICO": "image/x-icon",
}
_NO_FRAME = (0xC4, 0xC8, 0xCC)
_TIFF_WIDTH, _TIFF_HEIGHT = 256, 257


def pixels(kind: str, body: bytes) -> tuple[int, int] | None:
    """(width, height) of an image of this kind, as textfiles.image_kind names it; None where the
    bytes do not say: the image is damaged.
    """
    try:
        width, height = _READERS[kind](body)
    except (struct.error, IndexError, ValueError, KeyError):
        return None
    return (width, height) if width > 0 and height > 0 else None


def _png(body: bytes) -> tuple[int, int]:
    width, height = struct.unpack_from(">II", body, 16)
    return width, height


def _gif(body: bytes) -> tuple[int, int]:
    width, height = struct.unpack_from("<HH", body, 6)
    return width, height


def _bmp(body: bytes) -> tuple[int, int]:
    (header,) = struct.unpack_from("<I", body, 14)
    width, height = struct.unpack_from("<HH" if header == 12 else "<ii", body, 18)
    return width, abs(height)


def _ico(body: bytes) -> tuple[int, int]:
    """Of its first image; 0 stands for 256."""
    struct.unpack_from("<16s", body, 6)
    return body[6] or 256, body[7] or 256


def _webp(body: bytes) -> tuple[int, int]:
    form = body[12:16]
    if form == b"VP8X":
        return _three(body, 24) + 1, _three(body, 27) + 1
    if form == b"VP8L":
        (bits,) = struct.unpack_from("<I", body, 21)
        return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    if form == b"VP8 ":
        width, height = struct.unpack_from("<HH", body, 26)
        return width & 0x3FFF, height & 0x3FFF
    raise ValueError(form)


def _three(body: bytes, place: int) -> int:
    low, high = struct.unpack_from("<HB", body, place)
    return int(low | high << 16)


def _jpeg(body: bytes) -> tuple[int, int]:
    """From the first segment that begins a frame."""
    place = 2
    while True:
        mark, kind, length = struct.unpack_from(">BBH", body, place)
        if mark != 0xFF:
            raise ValueError(mark)
        if kind == 0xFF:
            place += 1
        elif 0xC0 <= kind <= 0xCF and kind not in _NO_FRAME:
            height, width = struct.unpack_from(">HH", body, place + 5)
            return width, height
        else:
            place += 2 + max(length, 2)


def _tiff(body: bytes) -> tuple[int, int]:
    order = "<" if body[:2] == b"II" else ">"
    (place,) = struct.unpack_from(f"{order}I", body, 4)
    (count,) = struct.unpack_from(f"{order}H", body, place)
    found: dict[int, int] = {}
    for entry in range(place + 2, place + 2 + 12 * count, 12):
        tag, kind = struct.unpack_from(f"{order}HH", body, entry)
        (found[tag],) = struct.unpack_from(f"{order}{'H' if kind == 3 else 'I'}", body, entry + 8)
    return found[_TIFF_WIDTH], found[_TIFF_HEIGHT]


_READERS: Mapping[str, Callable[[bytes], tuple[int, int]]] = {
    "PNG": _png,
    "JPEG": _jpeg,
    "GIF": _gif,
    "WebP": _webp,
    "BMP": _bmp,
    "TIFF": _tiff,
    "ICO": _ico,
}
