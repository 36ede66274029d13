"""Lengths of time on the command line."""

import pytest

from redshank_console.cli.durations import seconds_in
from redshank_shared.domain.errors import Invalid


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("90", 90), ("90s", 90), ("5m", 300), ("1h", 3600), ("2d", 172_800), (" 5 m ", 300)],
)
def test_a_length_is_read_with_its_unit_or_as_seconds(text: str, seconds: int) -> None:
    assert seconds_in(text, "--every") == seconds


@pytest.mark.parametrize("text", ["", "m", "-5m", "1.5h", "5 weeks", "5mm", "1h30m", "٣m"])
def test_what_is_no_length_is_refused_by_its_option(text: str) -> None:
    with pytest.raises(Invalid, match="--poll-every must be") as caught:
        seconds_in(text, "--poll-every")
    assert caught.value.field == "poll-every"
