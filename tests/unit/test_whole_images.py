"""Whether an image has come to its end, by its own bytes."""

import struct

import pytest

from redshank_node.tools.support.files.textfiles import image_kind
from redshank_node.tools.support.media.whole_images import is_whole
from tests.fakes.small_images import whole_png

FRAME = b"\xff\xc0\x00\x0b\x08" + struct.pack(">HH", 1, 1) + b"\x01\x01\x11\x00"
IMAGES = {
    "PNG": whole_png(3, 2),
    "GIF": b"GIF89a"
    + struct.pack("<HHBBB", 1, 1, 0x80, 0, 0)
    + bytes(6)
    + b"!\xf9\x04\x00\x00\x00\x00\x00"
    + b","
    + struct.pack("<HHHHB", 0, 0, 1, 1, 0)
    + b"\x02\x02D\x01\x00;",
    "JPEG": b"\xff\xd8\xff\xe0\x00\x04ab"
    + FRAME
    + b"\xff\xda\x00\x08\x01\x01\x00\x00\x3f\x00\xd2\xcf\xff\xd9",
    "WebP": b"RIFF" + struct.pack("<I", 26) + b"WEBPVP8L" + struct.pack("<I", 13) + bytes(14),
}


@pytest.mark.req("T-22")
@pytest.mark.parametrize("kind", IMAGES)
def test_an_image_is_whole_until_its_end_is_cut_off(kind: str) -> None:
    body = IMAGES[kind]
    assert image_kind(body) == kind
    assert is_whole(kind, body)
    assert is_whole(kind, body + b"what programs pass over")
    assert [length for length in range(13, len(body)) if is_whole(kind, body[:length])] == []


@pytest.mark.req("T-22")
def test_a_png_with_a_changed_byte_or_without_pixels_is_not_whole() -> None:
    png = IMAGES["PNG"]
    place = png.index(b"IDAT") + 5
    assert not is_whole("PNG", png[:place] + bytes([png[place] ^ 1]) + png[place + 1 :])
    begin, end = png.index(b"IDAT") - 4, png.index(b"IEND") - 4
    assert not is_whole("PNG", png[:begin] + png[end:])


def test_a_kind_that_no_large_provider_takes_is_not_looked_into() -> None:
    assert is_whole("TIFF", b"II*\x00")
