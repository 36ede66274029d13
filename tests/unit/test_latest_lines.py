"""What is kept of a text that comes faster than it is shown."""

import pytest

from redshank_node.tools.support.commands.latest_lines import LEFT_OUT, LatestLines


def test_what_can_be_shown_in_time_is_kept_whole() -> None:
    latest = LatestLines(20)
    for piece in ("low\n", "wat", "er"):
        latest.add(piece)

    assert latest.take() == "low\nwater"
    assert not latest
    assert latest.take() == ""


@pytest.mark.fault("F-12")
def test_behind_a_gap_the_text_goes_on_from_the_beginning_of_a_line() -> None:
    latest = LatestLines(20)
    latest.add("a long time ago\nkey is abcdef\nhigh\n")
    assert latest.take() == f"{LEFT_OUT}high\n"

    latest.add("one word that is far too long ")
    latest.add("and still the same line")
    latest.add("; its end\nnext\n")
    assert latest.take() == f"{LEFT_OUT}next\n"
