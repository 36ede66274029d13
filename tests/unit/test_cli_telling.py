"""A turn told on a terminal: the answer as data, all else beside it."""

import pytest

from redshank_console.cli.output import printable
from redshank_console.cli.telling import Teller, waits_for_a_person
from redshank_shared.client.stream import Frame, Notice, Streamed
from redshank_shared.domain.events import (
    ApprovalRequested,
    AskedCall,
    CallFinished,
    MessageAnswered,
    MessagePosted,
    Preview,
    Recorded,
    WaitFor,
)

AT = "2026-11-30T08:00:00.000Z"


def told(*frames: Frame) -> tuple[str, list[str]]:
    written: list[str] = []
    said: list[str] = []
    teller = Teller(written.append, said.append)
    for frame in frames:
        teller.take(frame)
    return "".join(written), said


def answered(seq: int, text: str, *calls: AskedCall) -> Recorded:
    return Recorded(seq, AT, MessageAnswered(text=text, calls=calls))


def test_an_answer_that_was_not_streamed_is_written_whole() -> None:
    assert told(answered(4, "hello")) == ("hello\n", [])


def test_streamed_pieces_are_written_once_though_the_answer_holds_them_too() -> None:
    pieces = [Streamed("hel", step=2), Streamed("lo", step=2, offset=3)]
    assert told(*pieces, answered(4, "hello")) == ("hello\n", [])


def test_pieces_that_overlap_are_cut() -> None:
    pieces = [
        Streamed("hel", step=2),
        Streamed("hello w", step=2),
        Streamed("o wo", step=2, offset=4),
    ]
    assert told(*pieces, answered(4, "hello world")) == ("hello world\n", [])


def test_a_gap_in_the_pieces_is_filled_by_the_answer() -> None:
    pieces = [Streamed("hel", step=2), Streamed("world", step=2, offset=6)]
    assert told(*pieces, answered(4, "hello world")) == ("hello world\n", [])


def test_a_piece_that_comes_after_its_answer_is_not_written_again() -> None:
    assert told(answered(4, "hello"), Streamed("hello", step=2)) == ("hello\n", [])


def test_reasoning_output_and_notices_are_not_the_answer() -> None:
    frames = (Streamed("hm", channel="reasoning"), Streamed("x", channel="output"), Notice("ping"))
    assert told(*frames, Recorded(1, AT, MessagePosted("hi"))) == ("", [])


def test_calls_are_told_beside_the_data() -> None:
    call = AskedCall("c1", "bash", '{"command":"ls"}')
    ended = CallFinished("c1", "bash", False, "a.txt", "ok", duration_ms=12)
    text, said = told(answered(3, "", call), Recorded(6, AT, ended))
    assert text == ""
    assert said == ['> bash {"command":"ls"}', "< bash ok (12 ms)"]


def test_a_call_that_waits_is_told_with_its_preview() -> None:
    asked = ApprovalRequested("ap_1", "c1", "bash", "{}", "d", Preview("run ls", "command"))
    assert told(Recorded(5, AT, asked)) == ("", ["? bash waits for a person: run ls"])


@pytest.mark.parametrize(
    ("kind", "a_person"),
    [("approval", True), ("question", True), ("child", False), ("wake", False)],
)
def test_only_a_persons_part_counts_as_waiting_for_a_person(kind: str, a_person: bool) -> None:
    wait = WaitFor(kind, AT)  # type: ignore[arg-type]  # a parametrised literal
    assert waits_for_a_person((wait,)) is a_person


def test_text_of_others_cannot_steer_the_terminal() -> None:
    assert printable("a\x1b]0;title\x07b\x9bc\r\u202ed\n\te") == "a]0;titlebcd\n\te"
