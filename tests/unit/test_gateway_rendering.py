"""A model's text as a chat shows it: in pieces that fit, without power."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from redshank_gateway.rendering.inert import inert_markdown
from redshank_gateway.rendering.splitting import split
from redshank_gateway.rendering.written import Notification, written

LIMIT = 2000
SMALL = 120
MARKS = st.sampled_from(["```", "```py\n", "`", "\n", " ", "word ", "é", "🦆", "x" * 50, "``"])
TEXTS = st.lists(MARKS, max_size=60).map("".join)


def without_marks(text: str) -> str:
    """What is left when fences, their languages, white space are gone."""
    return re.sub(r"\s+", "", re.sub(r"```(?:py\n)?", "", text))


def test_a_text_that_fits_stays_one_piece() -> None:
    assert split("a" * LIMIT, LIMIT) == ("a" * LIMIT,)


@pytest.mark.fault("F62")
def test_characters_are_code_points_none_is_halved() -> None:
    assert split("🦆" * (LIMIT + 1), LIMIT) == ("🦆" * (LIMIT - 4), "🦆" * 5)


def test_a_cut_falls_behind_a_line_else_behind_a_word() -> None:
    lines = "line\n" * 30
    assert all(piece.endswith("line\n") for piece in split(lines, SMALL))
    words = "word " * 30
    assert all(piece.endswith("word ") for piece in split(words, SMALL))


@pytest.mark.fault("F62")
def test_code_that_is_cut_is_closed_and_opened_again_under_its_language() -> None:
    text = "before\n```py\n" + "x = 1\n" * 30 + "```\nbehind"
    pieces = split(text, SMALL)
    assert pieces[0].startswith("before\n```py\nx = 1\n")
    assert all(piece.endswith("x = 1\n```") for piece in pieces[:-1])
    assert all(piece.startswith("```py\nx = 1\n") for piece in pieces[1:])
    assert pieces[-1].endswith("```\nbehind")


def test_a_fence_that_is_never_closed_is_text() -> None:
    pieces = split("```" + "word " * 40, SMALL)
    assert [piece.count("```") for piece in pieces] == [1, 0]


@pytest.mark.fault("F62")
@given(TEXTS)
def test_pieces_fit_are_not_blank_and_lose_nothing(text: str) -> None:
    pieces = split(text, SMALL)
    assert all(0 < len(piece) <= SMALL and piece.strip() for piece in pieces)
    assert without_marks("".join(pieces)) == without_marks(text)


@pytest.mark.fault("F62")
@given(st.lists(st.sampled_from(["word ", "\n", "x" * 70, "`a`"]), min_size=1, max_size=60))
def test_every_piece_of_one_block_of_code_is_a_block_of_code(parts: list[str]) -> None:
    pieces = split(f"```py\n{''.join(parts)}```", SMALL)
    assert all(piece.startswith("```py\n") for piece in pieces)
    assert all(piece.endswith("```") and piece.count("```") == 2 for piece in pieces)


@pytest.mark.fault("F62")
@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("[Approve](https://evil.example)", r"\[Approve\](https://evil.example)"),
        ("[a] (b) [c](d)", r"\[a\] (b) \[c\](d)"),
        ("<@222> <@&3> <#20> </allow:1> <t:1> <id:guide>",
         r"\<@222> \<@&3> \<#20> \</allow:1> \<t:1> \<id:guide>"),
        ("a < b, x[1] > 2, list(int)", "a < b, x[1] > 2, list(int)"),
        (r"\[a](b)", r"\\\[a\](b)"),
        ("`<@222> [a](b)`", "`<@222> [a](b)`"),
        ("```\n<@222>\n``` <@222>", "```\n<@222>\n``` \\<@222>"),
        ("a\x1b[31mred\u202eoder", "a\ufffd[31mred\ufffdoder"),
        ("line\r\nline\ttab", "line\nline\ttab"),
    ],
)  # fmt: skip
def test_links_show_their_address_and_mentions_are_words(text: str, shown: str) -> None:
    assert inert_markdown(text) == shown


@pytest.mark.req("T-43")
def test_a_title_is_a_bold_line_that_text_cannot_leave() -> None:
    (text,) = written(Notification("body", "a **b**\n@c"), "discord")
    assert text == "**a \\*\\*b\\*\\* @c**\nbody"


def test_the_workstream_stands_below() -> None:
    (text,) = written(Notification("body", workstream="ws_1"), "discord")
    assert text == "body\n-# from workstream ws\\_1"


@pytest.mark.fault("F62")
def test_a_terminal_gets_one_text_that_steers_nothing() -> None:
    told = Notification("body\x1b]0;x\x07", "Ti\ntle", "ws_1")
    assert written(told, "terminal") == ("[ws_1] Ti tle: body\ufffd]0;x\ufffd",)
