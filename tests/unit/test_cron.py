"""Cron expressions are read as O23 and K-87 say, or refused with the field to blame."""

import pytest

from redshank_shared.domain.cron import days_in, fires_closer_than, parse
from redshank_shared.domain.errors import Invalid


@pytest.mark.req("O23")
def test_five_fields_have_their_unix_meaning() -> None:
    pattern = parse("15 9 * * 1")

    assert (pattern.seconds, pattern.minutes, pattern.hours) == ((0,), (15,), (9,))
    assert pattern.weekdays == (1,), "Monday, counted from Sunday as 0"


@pytest.mark.req("K-87")
def test_six_fields_begin_with_the_second_and_count_weekdays_from_sunday_as_one() -> None:
    pattern = parse("5 15 9 * * 1")

    assert (pattern.seconds, pattern.minutes, pattern.hours) == ((5,), (15,), (9,))
    assert pattern.weekdays == (0,)


@pytest.mark.req("K-87")
@pytest.mark.parametrize("weekday", ["MON", "mon", "Monday"])
@pytest.mark.parametrize("front", ["0 9 * *", "0 0 9 * *"])
def test_the_name_of_a_weekday_is_the_same_day_in_both_forms(weekday: str, front: str) -> None:
    assert parse(f"{front} {weekday}").weekdays == (1,)


@pytest.mark.req("O23")
@pytest.mark.parametrize("weekday", ["0", "7", "SUN"])
def test_sunday_is_zero_or_seven_with_five_fields(weekday: str) -> None:
    assert parse(f"0 9 * * {weekday}").weekdays == (0,)


@pytest.mark.req("K-87")
@pytest.mark.parametrize(
    ("field", "minutes"),
    [
        ("*/20", (0, 20, 40)),
        ("5/20", (5, 25, 45)),
        ("10-14/2", (10, 12, 14)),
        ("3,1,2-4", (1, 2, 3, 4)),
        ("7-7", (7,)),
    ],
)
def test_lists_ranges_steps_are_read(field: str, minutes: tuple[int, ...]) -> None:
    assert parse(f"{field} * * * *").minutes == minutes


@pytest.mark.req("K-87")
@pytest.mark.parametrize(
    ("word", "same_as"),
    [
        ("@hourly", "0 0 * * * *"),
        ("@daily", "0 0 0 * * *"),
        ("@midnight", "0 0 0 * * *"),
        ("@weekly", "0 0 0 * * 1"),
        ("@monthly", "0 0 0 1 * *"),
        ("@yearly", "0 0 0 1 1 *"),
        ("@Annually", "0 0 0 1 1 *"),
    ],
)
def test_a_word_is_the_cron_that_it_names(word: str, same_as: str) -> None:
    assert parse(word) == parse(same_as)


@pytest.mark.req("O23")
def test_a_day_matches_by_number_or_weekday_when_both_are_restricted() -> None:
    pattern = parse("0 0 0 13 * FRI")

    assert days_in(pattern, 2027, 8) == [6, 13, 20, 27]
    assert days_in(pattern, 2027, 9) == [3, 10, 13, 17, 24]


@pytest.mark.req("O23")
@pytest.mark.parametrize("day", ["*", "?"])
def test_only_the_weekday_counts_when_the_day_is_open(day: str) -> None:
    assert days_in(parse(f"0 0 0 {day} * FRI"), 2027, 9) == [3, 10, 17, 24]


@pytest.mark.req("K-87")
@pytest.mark.parametrize(
    ("expression", "says"),
    [
        ("", "empty"),
        ("* * * *", "4 fields"),
        ("* * * * * * * *", "8 fields"),
        ("60 * * * *", "minute: 60 is outside 0 to 59"),
        ("0 24 * * *", "hour: 24"),
        ("0 0 32 * *", "day of month: 32"),
        ("0 0 * 13 *", "month: 13"),
        ("0 0 * foo *", "month: 'foo'"),
        ("0 0 * * 8", "weekday: 8"),
        ("0 0 0 * * 0", "1 is Sunday"),
        ("0 0 0 * * * 1969", "year: 1969"),
        ("*/0 * * * *", "step '0'"),
        ("*/61 * * * *", "step '61'"),
        ("*/x * * * *", "step 'x'"),
        ("5-1 * * * *", "runs backwards"),
        ("1,,2 * * * *", "minute: ''"),
        ("-1 * * * *", "minute: '-1'"),
        ("0 0 L * *", "day of month: 'l'"),
        ("0 0 * * 5#3", "weekday: '5#3'"),
        ("? * * * *", "minute: ?"),
        ("٣ * * * *", "minute"),
        ("1-2-3 * * * *", "minute: '1-2-3'"),
        ("@reboot", "@hourly"),
        ("@daily 5", "no cadence"),
        ("1," * 300 + "1 * * * *", "500 characters"),
    ],
)
def test_what_is_no_cron_is_refused_in_words_that_name_the_field(
    expression: str, says: str
) -> None:
    with pytest.raises(Invalid) as refusal:
        parse(expression)

    assert refusal.value.field == "expression"
    assert says in refusal.value.detail


@pytest.mark.req("K-87")
@pytest.mark.parametrize(
    ("expression", "close"),
    [
        ("* * * * * *", True),
        ("*/4 * * * * *", True),
        ("*/5 * * * * *", False),
        ("0,58 * * * * *", True),
        ("0,58 0 * * * *", False),
        ("0,58 0,59 * * * *", True),
        ("0,58 0,59 9 * * *", False),
        ("0,58 0,59 23,0 * * *", True),
        ("0 * * * * *", False),
        ("* * * * *", False),
    ],
)
def test_fires_closer_than_five_seconds_are_seen(expression: str, close: bool) -> None:
    assert fires_closer_than(parse(expression), 5) is close
