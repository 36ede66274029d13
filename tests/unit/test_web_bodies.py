"""Bodies as servers pack them."""

import gzip
import zlib

import pytest

from redshank_node.tools.support.web.bodies import UnknownEncoding, Unpacker
from redshank_node.tools.support.web.client import Fetched
from redshank_node.tools.support.web.pages import decoded, readable

TEXT = b"The redshank calls before anybody else does. " * 40
MOST = 1 << 20


def unpacked(encoding: str, packed: bytes, step: int, most: int = MOST) -> Unpacker:
    made = Unpacker(encoding, most)
    for place in range(0, len(packed), step):
        made.feed(packed[place : place + step])
    return made


@pytest.mark.req("K-13")
@pytest.mark.parametrize("step", [1, 7, 100_000])
@pytest.mark.parametrize(
    ("encoding", "packed"),
    [
        ("gzip", gzip.compress(TEXT)),
        ("x-gzip", gzip.compress(TEXT[:90]) + gzip.compress(TEXT[90:])),
        ("gzip", gzip.compress(TEXT) + b"what stands behind it"),
        ("deflate", zlib.compress(TEXT)),
        ("identity", TEXT),
    ],
    ids=["gzip", "two members", "something behind", "deflate", "identity"],
)
def test_a_body_comes_out_whole_however_it_comes_in(
    encoding: str, packed: bytes, step: int
) -> None:
    made = unpacked(encoding, packed, step)
    assert made.body() == TEXT
    assert (made.is_full, made.is_unfinished) == (False, False)


@pytest.mark.req("K-13")
def test_a_packed_body_that_breaks_off_is_known_to() -> None:
    whole = gzip.compress(bytes(range(256)) * 40)
    made = unpacked("gzip", whole[:-200], 100)
    assert made.is_unfinished
    assert unpacked("gzip", whole + whole[:-200], 100).is_unfinished


@pytest.mark.req("K-13")
def test_no_more_comes_out_than_was_asked_for() -> None:
    made = unpacked("gzip", gzip.compress(bytes(900)) + gzip.compress(bytes(900)), 10_000, 1000)
    assert (made.is_full, len(made.body())) == (True, 1000)
    with pytest.raises(UnknownEncoding, match="more than 256 parts"):
        unpacked("gzip", gzip.compress(b"") * 300, 10_000)
    with pytest.raises(UnknownEncoding, match="damaged"):
        unpacked("gzip", gzip.compress(b"a") + b"\x1f\x8b\x08no gzip at all", 10_000)


@pytest.mark.fault("F15")
@pytest.mark.parametrize(
    "charset", ["idna", "punycode", "rot13", "unicode_escape", "zlib", "x-odd"]
)
def test_a_charset_that_is_none_leaves_the_text_to_its_bytes(charset: str) -> None:
    assert decoded(f"text/plain; charset={charset}", "F\u00f6hr".encode()).isprintable()


@pytest.mark.fault("F15")
async def test_a_page_is_read_whatever_numbers_it_writes_its_characters_with() -> None:
    endless = f"&#{'9' * 5000};"
    page = f"<html><head><title>a{endless}b</title></head><body>c{endless}d</body></html>"
    found = await readable(Fetched("http://a.example/", 200, "text/html", page.encode()))
    assert "a\ufffdb" in found
    assert "c\ufffdd" in found
