"""Due times rise strictly, agree with a walk over every minute, keep their bounds."""

import time
import zoneinfo
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from redshank_shared.domain.cadence import (
    LONGEST_INTERVAL_SECONDS,
    Cadence,
    Cron,
    Interval,
    Once,
    check,
    first_due,
    last_due,
    next_due,
)
from redshank_shared.domain.cron import Pattern, days_in, parse
from redshank_shared.domain.errors import Invalid

_NOW = datetime(2027, 2, 10, tzinfo=UTC).timestamp()
_ZONES = ["UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu"]
# Days around which the clocks of these zones change, with some on which none does.
_DAYS = ["2027-03-13", "2027-03-27", "2027-04-03", "2027-10-02", "2027-10-30", "2027-11-06"]


def _field(low: int, high: int) -> st.SearchStrategy[str]:
    values = st.integers(low, high)
    return st.one_of(
        st.just("*"),
        values.map(str),
        st.lists(values, min_size=1, max_size=3).map(lambda some: ",".join(map(str, some))),
        st.integers(1, high - low + 1).map(lambda step: f"*/{step}"),
    )


_EXPRESSIONS = st.tuples(
    _field(0, 59), _field(0, 23), _field(1, 31), st.just("*"), _field(0, 6)
).map(" ".join)
_CRONS = st.builds(Cron, _EXPRESSIONS, st.sampled_from(_ZONES))
_MOMENTS = st.builds(
    lambda day, seconds: datetime.fromisoformat(f"{day}T00:00:00Z").timestamp() + seconds,
    st.sampled_from(_DAYS),
    st.integers(0, 2 * 86_400),
)
_INTERVALS = st.builds(
    Interval, st.integers(5, LONGEST_INTERVAL_SECONDS), st.floats(0, 4_000_000_000)
)
_CADENCES: st.SearchStrategy[Cadence] = st.one_of(
    _CRONS, _INTERVALS, st.builds(Once, st.floats(1, 4_000_000_000))
)


def _matches(pattern: Pattern, local: datetime) -> bool:
    return (
        local.fold == 0
        and local.minute in pattern.minutes
        and local.hour in pattern.hours
        and local.day in days_in(pattern, local.year, local.month)
    )


def _walked(cadence: Cron, after: float, until: float) -> Iterator[float]:
    pattern, zone = parse(cadence.expression), zoneinfo.ZoneInfo(cadence.timezone)
    moment = (after // 60 + 1) * 60
    while moment <= until:
        if _matches(pattern, datetime.fromtimestamp(moment, zone)):
            yield moment
        moment += 60


@pytest.mark.req("K-87", "K-88", "O23")
@settings(max_examples=60, deadline=None)
@given(cadence=_CRONS, after=_MOMENTS)
def test_a_cron_agrees_with_a_walk_over_every_minute(cadence: Cron, after: float) -> None:
    until = after + 1.5 * 86_400
    walked = list(_walked(cadence, after, until))
    found: list[float] = []
    moment = next_due(cadence, after)
    while moment is not None and moment <= until:
        found.append(moment)
        moment = next_due(cadence, moment)

    assert found == walked


@settings(max_examples=200, deadline=None)
@given(cadence=_CADENCES, after=_MOMENTS)
def test_due_times_rise_strictly(cadence: Cadence, after: float) -> None:
    for _ in range(4):
        due = next_due(cadence, after)
        if due is None:
            return
        assert due > after
        after = due


@settings(max_examples=100, deadline=None)
@given(cadence=st.one_of(_CRONS, _INTERVALS), after=_MOMENTS, later=st.floats(0, 400_000))
def test_the_last_due_time_is_the_one_that_a_walk_ends_at(
    cadence: Cadence, after: float, later: float
) -> None:
    first = next_due(cadence, after)
    if first is None:
        return
    until = first + later
    found = last_due(cadence, first, until)

    assert first <= found <= until
    following = next_due(cadence, found)
    assert following is None or following > until


@pytest.mark.req("K-89")
def test_the_last_due_time_after_years_without_a_node_is_found_at_once() -> None:
    cadence = Cron("*/5 * * * * *")
    first = next_due(cadence, _NOW)
    assert first is not None
    began = time.process_time()
    found = last_due(cadence, first, _NOW + 10 * 366 * 86_400 + 3)

    assert found == _NOW + 10 * 366 * 86_400
    assert time.process_time() - began < 0.5


@pytest.mark.req("K-86")
def test_an_interval_keeps_its_beat_whatever_moment_is_asked() -> None:
    cadence = Interval(60, _NOW)

    assert first_due(cadence, _NOW) == _NOW + 60
    assert next_due(cadence, _NOW - 1_000) == _NOW + 60
    assert next_due(cadence, _NOW + 59.999) == _NOW + 60
    assert next_due(cadence, _NOW + 60) == _NOW + 120


@pytest.mark.req("K-86")
def test_a_single_moment_that_is_past_is_due_now() -> None:
    check(Once(_NOW - 5), _NOW)

    assert first_due(Once(_NOW - 5), _NOW) == _NOW
    assert first_due(Once(_NOW + 5), _NOW) == _NOW + 5
    assert next_due(Once(_NOW), _NOW) is None


@pytest.mark.req("K-86", "K-88")
@pytest.mark.parametrize(
    ("cadence", "field"),
    [
        (Once(0), "at"),
        (Once(-1), "at"),
        (Once(float("nan")), "at"),
        (Once(float("inf")), "at"),
        (Once(1_700_000_000_000), "at"),
        (Interval(0, _NOW), "every_seconds"),
        (Interval(4, _NOW), "every_seconds"),
        (Interval(LONGEST_INTERVAL_SECONDS + 1, _NOW), "every_seconds"),
        (Interval(10**30, _NOW), "every_seconds"),
        (Interval(60, float("nan")), "start"),
        (Cron("0 0 30 2 *"), "expression"),
        (Cron("*/2 * * * * *"), "expression"),
        (Cron("0 30 2 14 3 * 2027", "America/New_York"), "expression"),
        (Cron("@daily", ""), "timezone"),
        (Cron("@daily", "America"), "timezone"),
        (Cron("@daily", "../etc/passwd"), "timezone"),
        (Cron("@daily", "/etc/localtime"), "timezone"),
        (Cron("@daily", "localtime"), "timezone"),
        (Cron("@daily", "right/Europe/Berlin"), "timezone"),
        (Cron("@daily", "a\0b"), "timezone"),
        (Cron("@daily", "x" * 10_000), "timezone"),
        (Cron("@daily", "\ud800"), "timezone"),
    ],
    ids=str,
)
def test_a_cadence_out_of_bounds_is_refused_by_the_field_to_blame(
    cadence: Cadence, field: str
) -> None:
    with pytest.raises(Invalid) as refusal:
        check(cadence, _NOW)

    assert refusal.value.field == field
    assert len(refusal.value.detail) < 400


def test_an_unknown_zone_is_refused_with_the_one_that_looks_alike() -> None:
    with pytest.raises(Invalid, match="Europe/Berlin"):
        check(Cron("@daily", "Europe/Berln"), _NOW)


@pytest.mark.req("K-87")
@pytest.mark.parametrize(
    "expression", ["0 0 0 30 2 *", "0 0 0 31 2,4,6,9,11 *", "0 0 0 29 2 * 2027,2029,2030"]
)
def test_a_cron_that_never_fires_is_refused_in_well_under_a_second(expression: str) -> None:
    began = time.process_time()
    with pytest.raises(Invalid, match="never fires"):
        check(Cron(expression), _NOW)

    assert time.process_time() - began < 0.5
