"""Durations, moments as a model writes them: read exactly or refused with the field."""

import pytest

from redshank_node.tools.support.timing import times
from redshank_node.tools.tool import BadArguments


@pytest.mark.req("K-22", "T-50")
@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("1s", 1),
        ("90s", 90),
        ("10m", 600),
        ("1h30m", 5400),
        ("1h 30m", 5400),
        ("2D", 172_800),
        ("1d1h1m1s", 90_061),
        ("366d", 31_622_400),
    ],
)
def test_a_duration_is_read_in_days_hours_minutes_seconds(text: str, seconds: int) -> None:
    assert times.duration_seconds(text, "delay") == seconds


@pytest.mark.parametrize(
    "text",
    ["", " ", "10", "m", "-5m", "1.5h", "5 minutes", "30m1h", "1h1h", "٣m", "1e3s", "5m\x00"],
)
def test_what_is_no_duration_is_refused_with_the_field_and_an_example(text: str) -> None:
    with pytest.raises(BadArguments, match="delay must be a duration like 90s, 10m"):
        times.duration_seconds(text, "delay")


@pytest.mark.parametrize("text", ["0s", "0d0h", "367d", "999999999d"])
def test_a_duration_out_of_range_is_refused_with_the_range(text: str) -> None:
    with pytest.raises(BadArguments, match="delay must be from 1s to 366d"):
        times.duration_seconds(text, "delay")


@pytest.mark.req("K-22")
@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("1970-01-01T00:00:01Z", 1.0),
        ("2026-11-30T08:00:00Z", 1_796_025_600.0),
        ("2026-11-30T09:00:00+01:00", 1_796_025_600.0),
        ("2026-11-30t08:00:00.5z", 1_796_025_600.5),
        ("2026-11-29 22:30:00-09:30", 1_796_025_600.0),
    ],
)
def test_a_moment_is_read_with_its_offset(text: str, seconds: float) -> None:
    assert times.moment(text, "at") == seconds


@pytest.mark.req("K-22")
@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("tomorrow", "at must be an RFC 3339 time like 2027-01-31T09:00:00Z, not 'tomorrow'"),
        ("2027-01-31", "at must be an RFC 3339 time"),
        ("1796025600", "at must be an RFC 3339 time"),
        ("2027-01-31T09:00:00", r"at lacks its offset; write 2027-01-31T09:00:00Z for UTC"),
        ("2027-02-30T09:00:00Z", "at is no time of a calendar"),
        ("2027-01-31T25:00:00Z", "at is no time of a calendar"),
        ("1969-12-31T23:59:59Z", "at must lie between 1970 and 2200"),
        ("9999-12-31T23:59:59-12:00", "at must lie between 1970 and 2200"),
        ("0001-01-01T00:00:00+14:00", "at must lie between 1970 and 2200"),
    ],
)
def test_what_is_no_moment_is_refused_with_the_field_and_the_mend(text: str, said: str) -> None:
    with pytest.raises(BadArguments, match=said):
        times.moment(text, "at")


@pytest.mark.parametrize("text", ["1s", "1m", "1h30m", "5m", "24h", "1d1h1m1s"])
def test_a_duration_that_is_shown_reads_as_the_same(text: str) -> None:
    seconds = times.duration_seconds(text, "delay")
    assert times.duration_seconds(times.shown_duration(seconds), "delay") == seconds
