"""How large an image is, by its own bytes."""

import struct

import pytest

from redshank_node.tools.support.files.textfiles import image_kind
from redshank_node.tools.support.media.image_sizes import pixels

JPEG = (
    b"\xff\xd8\xff\xe0\x00\x04ab\xff\xc4\x00\x02\xff\xff\xc2\x00\x0b\x08"
    + struct.pack(">HH", 30, 40)
    + b"\x03"
)
TIFF_ENTRIES = struct.pack("<HHHII", 2, 256, 3, 1, 40) + struct.pack("<HHII", 257, 4, 1, 30)
TIFF_LARGE = struct.pack(">HHHIHH", 2, 256, 3, 1, 40, 0) + struct.pack(">HHII", 257, 4, 1, 30)
WEBP = b"RIFF\x00\x00\x00\x00WEBP"
IMAGES = {
    "PNG": b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" + struct.pack(">II", 40, 30),
    "GIF": b"GIF89a" + struct.pack("<HH", 40, 30),
    "BMP": b"BM" + bytes(12) + struct.pack("<Iii", 40, 40, -30),
    "ICO": b"\x00\x00\x01\x00\x01\x00" + bytes([40, 30]) + bytes(14),
    "JPEG": JPEG,
    "TIFF": b"II*\x00\x08\x00\x00\x00" + TIFF_ENTRIES,
}


@pytest.mark.req("T-22")
@pytest.mark.parametrize("kind", IMAGES)
def test_the_pixels_of_each_format_are_read(kind: str) -> None:
    assert image_kind(IMAGES[kind]) == kind
    assert pixels(kind, IMAGES[kind]) == (40, 30)


@pytest.mark.req("T-22")
@pytest.mark.parametrize(
    ("kind", "body"),
    [
        ("WebP", WEBP + b"VP8X" + bytes(8) + b"\x27\x00\x00\x1d\x00\x00"),
        ("WebP", WEBP + b"VP8L" + bytes(4) + b"\x2f" + struct.pack("<I", 39 | 29 << 14)),
        ("WebP", WEBP + b"VP8 " + bytes(10) + struct.pack("<HH", 40, 30)),
        ("TIFF", b"MM\x00*\x00\x00\x00\x08" + TIFF_LARGE),
        ("BMP", b"BM" + bytes(12) + struct.pack("<IHH", 12, 40, 30)),
    ],
)
def test_other_forms_of_a_format_are_read_too(kind: str, body: bytes) -> None:
    assert pixels(kind, body) == (40, 30)


@pytest.mark.parametrize("kind", IMAGES)
def test_a_damaged_image_has_no_size(kind: str) -> None:
    for length in range(6, len(IMAGES[kind])):
        assert pixels(kind, IMAGES[kind][:length]) in (None, (40, 30))
    assert pixels(kind, IMAGES[kind][:9]) is None
