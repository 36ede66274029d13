"""Output in progress: a secret that comes in two pieces does not slip through."""

import base64
import random

import pytest

from redshank_shared.vault.redaction import Redactor
from redshank_shared.vault.streaming import RedactedStream, redacted

SECRET = "canary of-the stream"
PEM = "-----BEGIN EC PRIVATE KEY-----\nMHcCAQEEIB\nabcdefgh==\n-----END EC PRIVATE KEY-----"
TEXT = (
    f"first line\nwith {SECRET} in it\n--token abcd1234 end\n{PEM}\n"
    f"key sk-proj-abcdefghij1234567890 here\nAuthorization: Bearer abcd1234efgh\n"
    f"https://me:passw0rd@h/x\n{SECRET}{SECRET}\nGITHUB_TOKEN=abcdefgh\nlast"
)


def cut(text: str, *places: int) -> list[str]:
    edges = [0, *sorted(places), len(text)]
    return [text[a:b] for a, b in zip(edges, edges[1:], strict=False)]


def shown(redactor: Redactor, pieces: list[str]) -> str:
    stream = RedactedStream(redactor)
    return "".join(map(stream.feed, pieces)) + stream.end()


@pytest.mark.fault("F-12")
def test_wherever_output_is_cut_it_shows_the_same() -> None:
    redactor = Redactor([SECRET])
    whole = redactor.of_output(TEXT)
    for hidden in (SECRET, "abcd1234", "MHcCAQ", "sk-proj", "passw0rd", "abcdefgh"):
        assert hidden not in whole
    for place in range(1, len(TEXT)):
        assert shown(redactor, cut(TEXT, place)) == whole


@pytest.mark.fault("F-12")
def test_output_that_comes_letter_by_letter_shows_the_same() -> None:
    redactor = Redactor([SECRET])
    assert shown(redactor, list(TEXT)) == redactor.of_output(TEXT)


def test_random_pieces_show_the_same() -> None:
    redactor = Redactor([SECRET])
    chance = random.Random(7)
    for _ in range(200):
        places = [chance.randrange(len(TEXT)) for _ in range(6)]
        assert shown(redactor, cut(TEXT, *places)) == redactor.of_output(TEXT)


@pytest.mark.fault("F-12")
@pytest.mark.parametrize("before", [b"", b"of the day: "])
def test_what_is_broken_over_lines_shows_the_same_wherever_it_is_cut(before: bytes) -> None:
    long = "-".join(f"part{number:02}of-a-long-token" for number in range(8))
    text = f"data:\n  {base64.encodebytes(before + long.encode() * 2).decode()}end of it\n"
    redactor = Redactor([long])
    whole = redactor.of_output(text)
    assert whole.count("***") == 2
    for place in range(1, len(text)):
        assert shown(redactor, cut(text, place)) == whole
    assert shown(redactor, list(text)) == whole


def test_long_lines_that_never_end_are_not_held_for_ever() -> None:
    stream = RedactedStream(Redactor([SECRET]))
    line = "A" * 76 + "\n"
    seen = "".join(stream.feed(line) for _ in range(1000))
    assert len(seen) > 50_000
    assert seen + stream.end() == line * 1000


def test_a_secret_in_lines_that_are_let_go_is_masked_all_the_same() -> None:
    long = "-".join(f"part{number:02}of-a-long-token" for number in range(8))
    redactor = RedactedStream(Redactor([long]))
    encoded = base64.encodebytes(long.encode() * 200).decode()
    pieces = [encoded[at : at + 1000] for at in range(0, len(encoded), 1000)]
    seen = "".join(map(redactor.feed, pieces)) + redactor.end()
    assert len(seen) < len(encoded) / 10


def test_whole_lines_are_shown_at_once() -> None:
    stream = RedactedStream(Redactor([SECRET]))
    assert stream.feed("one\n") == "one\n"
    assert stream.feed("two words") == "two "
    assert stream.feed(" more\n") == "words more\n"
    assert stream.end() == ""


def test_a_line_without_end_is_not_held_for_ever() -> None:
    stream = RedactedStream(Redactor())
    seen = "".join(stream.feed("=" * 1000) for _ in range(100))
    assert len(seen) > 50_000
    assert len(seen + stream.end()) == 100_000


@pytest.mark.fault("F-12")
async def test_a_long_text_is_masked_in_pieces_as_if_it_were_whole() -> None:
    text = "".join(f"line {n} with {SECRET}\n" for n in range(12_000))
    assert len(text) > 300_000
    assert await redacted(Redactor([SECRET]), text) == text.replace(SECRET, "***")


@pytest.mark.fault("F-12")
@pytest.mark.parametrize("kept", range(len(SECRET) + 1))
async def test_a_secret_that_a_cut_went_through_leaves_nothing_to_read(kept: int) -> None:
    notice = "\n[... 512 bytes left out here ...]\n"
    text = f"head {SECRET[:kept]}{notice}{SECRET[kept:]} tail"
    seen = await redacted(Redactor([SECRET]), text)
    for size in range(6, len(SECRET) + 1):
        for start in range(len(SECRET) - size + 1):
            assert SECRET[start : start + size] not in seen
    assert seen.startswith("head ")
    assert seen.endswith(" tail")
    assert notice in seen


async def test_a_cut_in_ordinary_text_stays_as_it_is() -> None:
    text = "head\n[... 512 bytes left out here ...]\ntail"
    assert await redacted(Redactor([SECRET]), text) == text
