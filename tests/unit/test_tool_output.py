"""Bounded output: bytes are counted, characters stay whole, nothing breaks the decoder."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from redshank_node.tools.support.commands.output import GatheredOutput
from redshank_node.tools.support.truncate import HeadAndTail, head_of

LIMIT = 1000


def gathered(*pieces: tuple[str, bytes], limit: int = LIMIT) -> str:
    output = GatheredOutput(limit)
    for stream, data in pieces:
        output.feed("stderr" if stream == "stderr" else "stdout", data)
    output.feed("stdout", b"", last=True)
    output.feed("stderr", b"", last=True)
    return output.text()[0]


@pytest.mark.req("T-21")
@pytest.mark.parametrize(
    ("pieces", "expected"),
    [
        ([("stdout", b"a\nb\n")], "a\nb\n"),
        ([("stderr", b"a\nb\n")], "[stderr] a\n[stderr] b\n"),
        ([("stderr", b"a"), ("stderr", b"b\n\nc")], "[stderr] ab\n[stderr] \n[stderr] c"),
        ([("stdout", b"one"), ("stderr", b"two\n"), ("stdout", b" line\n")], None),
        ([("stdout", "\u00e9".encode()[:1]), ("stdout", "\u00e9".encode()[1:])], "\u00e9"),
        ([("stdout", b"a\x00b\xff\n")], "a\ufffdb\ufffd\n"),
        ([("stdout", "\u20ac".encode()[:2])], "\ufffd"),
    ],
)
def test_streams_become_lines_in_order(
    pieces: list[tuple[str, bytes]], expected: str | None
) -> None:
    assert gathered(*pieces) == (expected or "[stderr] two\none line\n")


@pytest.mark.req("T-21")
def test_a_long_line_is_taken_over_in_parts_and_another_stream_begins_a_new_line() -> None:
    long = b"x" * 9000
    text = gathered(("stdout", long), ("stderr", b"e\n"), ("stdout", b"y\n"), limit=100_000)
    assert text == "x" * 9000 + "\n[stderr] e\ny\n"


@pytest.mark.fault("F15")
@pytest.mark.req("T-21")
def test_over_the_limit_head_and_tail_are_kept_with_a_notice_between() -> None:
    kept = HeadAndTail(LIMIT)
    for number in range(1000):
        kept.add(f"{number}\n")
    text, cut = kept.text()
    assert cut
    assert len(text.encode()) <= LIMIT
    assert text.startswith("0\n1\n2\n")
    assert text.endswith("\n998\n999\n")
    assert "bytes left out here" in text


@pytest.mark.fault("F15")
@given(
    st.lists(st.text(max_size=400), max_size=12),
    st.integers(min_value=0, max_value=200),
    st.integers(min_value=200, max_value=900),
)
def test_no_text_breaks_the_bound_or_a_character(
    pieces: list[str], reserve: int, limit: int
) -> None:
    kept = HeadAndTail(limit)
    for piece in pieces:
        kept.add(piece)
    whole = "".join(pieces).encode(errors="replace").decode()
    text, cut = kept.text(reserve)
    assert cut == (len(whole.encode()) > limit - reserve)
    if not cut:
        assert text == whole
        return
    assert len(text.encode()) <= max(limit - reserve, 60)
    first, _, rest = text.partition("\n[... ")
    last = rest.partition(" bytes left out here ...]\n")[2]
    assert whole.startswith(first)
    assert whole.endswith(last)


@pytest.mark.fault("F15")
@given(st.text(max_size=300), st.lists(st.integers(min_value=1, max_value=7), max_size=200))
def test_bytes_split_anywhere_give_the_same_text(text: str, sizes: list[int]) -> None:
    data = text.encode(errors="replace")
    pieces = []
    for size in sizes:
        pieces.append(("stdout", data[:size]))
        data = data[size:]
    split = gathered(*pieces, ("stdout", data), limit=10_000)
    assert split == text.encode(errors="replace").decode().replace("\x00", "\ufffd")


@pytest.mark.fault("F43")
def test_memory_stays_bounded_under_fifty_megabytes() -> None:
    output = GatheredOutput(LIMIT)
    for _ in range(800):
        output.feed("stdout", b"\x00" * 65536)
    text, cut = output.text()
    assert cut
    assert len(text.encode()) <= LIMIT


def test_a_head_never_ends_within_a_character() -> None:
    assert head_of("a\u20ac", 3) == "a"
    assert head_of("a\u20ac", 4) == "a\u20ac"
