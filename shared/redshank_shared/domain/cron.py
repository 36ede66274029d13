"""Reads a cron expression into the local times that it matches."""

import calendar
import functools
import re
from collections.abc import Mapping

import msgspec

from redshank_shared.domain.errors import Invalid

FIRST_YEAR, LAST_YEAR = 1970, 2199
LONGEST_EXPRESSION = 500

_MONTHS = {name.lower(): number for number, name in enumerate(calendar.month_name) if name}
_WEEKDAYS = {
    name: number
    for number, name in enumerate(
        ("sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday")
    )
}
_WORDS = {
    "@yearly": "0 0 0 1 1 *",
    "@annually": "0 0 0 1 1 *",
    "@monthly": "0 0 0 1 * *",
    "@weekly": "0 0 0 * * SUN",
    "@daily": "0 0 0 * * *",
    "@midnight": "0 0 0 * * *",
    "@hourly": "0 0 * * * *",
}
_VALUE = "[0-9]{1,4}|[a-z]+"
_TERM = re.compile(
    rf"(?:(?P<any>[*?])|(?P<low>{_VALUE})(?:-(?P<high>{_VALUE}))?)(?:/(?P<step>.*))?"
)
_STEP = re.compile("[0-9]{1,4}")


class Pattern(msgspec.Struct, frozen=True):
    """Local times, each field in rising order; weekdays count from Sunday as 0. With `either_day` a
    day matches by its number or by its weekday, else it must match by both (O23).
    """

    seconds: tuple[int, ...]
    minutes: tuple[int, ...]
    hours: tuple[int, ...]
    days: tuple[int, ...]
    months: tuple[int, ...]
    weekdays: tuple[int, ...]
    years: tuple[int, ...]
    either_day: bool


class _Field(msgspec.Struct, frozen=True):
    name: str
    low: int
    high: int
    names: Mapping[str, int] = {}
    hint: str = ""


def _abbreviated(names: Mapping[str, int], first: int) -> dict[str, int]:
    numbered = {name: number + first for name, number in names.items()}
    return numbered | {name[:3]: number for name, number in numbered.items()}


_TIMES = (_Field("second", 0, 59), _Field("minute", 0, 59), _Field("hour", 0, 23))
_DATES = (_Field("day of month", 1, 31), _Field("month", 1, 12, _abbreviated(_MONTHS, 0)))
_UNIX_WEEKDAY = _Field(
    "weekday", 0, 7, _abbreviated(_WEEKDAYS, 0), " (with five fields 0 and 7 are Sunday)"
)
_COUNTED_WEEKDAY = _Field(
    "weekday", 1, 7, _abbreviated(_WEEKDAYS, 1), " (with seconds in front 1 is Sunday, 7 Saturday)"
)
_YEAR = _Field("year", FIRST_YEAR, LAST_YEAR)
_EVERY_YEAR = tuple(range(FIRST_YEAR, LAST_YEAR + 1))


@functools.lru_cache(maxsize=512)
def parse(expression: str) -> Pattern:
    """The pattern of five fields read the Unix way (O23), of six or seven fields with the second
    first and the year last (K-87), or of a word from @hourly to @yearly. Weekday 1 is Monday with
    five fields and Sunday with more. Raises Invalid on `expression` with the field to blame.
    """
    if len(expression) > LONGEST_EXPRESSION:
        raise _refused(f"the cron expression is longer than {LONGEST_EXPRESSION} characters")
    texts = _spelled_out(expression.lower().split())
    if len(texts) == 5:
        read = _read((*_TIMES[1:], *_DATES, _UNIX_WEEKDAY), texts)
        return _pattern([(0,), *read], texts[2], texts[4], sunday=0)
    if len(texts) in (6, 7):
        read = _read((*_TIMES, *_DATES, _COUNTED_WEEKDAY, _YEAR)[: len(texts)], texts)
        return _pattern(read, texts[3], texts[5], sunday=1)
    raise _refused(
        f"the cron expression has {len(texts)} fields; give 5 (minute, hour, day, month, weekday), "
        "6 (second in front) or 7 (year at the end)"
    )


def fires_closer_than(pattern: Pattern, seconds: int) -> bool:
    """Whether two neighbouring local times can lie less than this many seconds (at most 60)
    apart (K-87).
    """
    moments = pattern.seconds
    if any(later - earlier < seconds for earlier, later in zip(moments, moments[1:], strict=False)):
        return True
    over_the_minute = 60 - moments[-1] + moments[0]
    return over_the_minute < seconds and _has_neighbours(pattern)


def days_in(pattern: Pattern, year: int, month: int) -> list[int]:
    """The days of this month that match, in rising order."""
    first_weekday, length = calendar.monthrange(year, month)
    matched = []
    for day in range(1, length + 1):
        by_number = day in pattern.days
        by_weekday = (first_weekday + day) % 7 in pattern.weekdays
        if (by_number or by_weekday) if pattern.either_day else (by_number and by_weekday):
            matched.append(day)
    return matched


def _spelled_out(texts: list[str]) -> list[str]:
    if not texts:
        raise _refused("the cron expression is empty; give 5, 6 or 7 fields, or a word like @daily")
    if not texts[0].startswith("@"):
        return texts
    if len(texts) > 1 or texts[0] not in _WORDS:
        raise _refused(f"{' '.join(texts)!r} is no cadence; the words are {', '.join(_WORDS)}")
    return _WORDS[texts[0]].lower().split()


def _read(fields: tuple[_Field, ...], texts: list[str]) -> list[tuple[int, ...]]:
    return [_values(field, text) for field, text in zip(fields, texts, strict=True)]


def _pattern(read: list[tuple[int, ...]], day: str, weekday: str, sunday: int) -> Pattern:
    seconds, minutes, hours, days, months, weekdays, *years = read
    return Pattern(
        seconds=seconds,
        minutes=minutes,
        hours=hours,
        days=days,
        months=months,
        weekdays=tuple(sorted({(number - sunday) % 7 for number in weekdays})),
        years=years[0] if years else _EVERY_YEAR,
        # crontab(5): a field is restricted when it does not begin with a star.
        either_day=day[0] not in "*?" and weekday[0] not in "*?",
    )


def _values(field: _Field, text: str) -> tuple[int, ...]:
    return tuple(sorted({value for term in text.split(",") for value in _term(field, term)}))


def _term(field: _Field, term: str) -> range:
    found = _TERM.fullmatch(term)
    if found is None:
        raise _refused(
            f"{field.name}: {term!r} is not understood; give *, a value, a range a-b, "
            "a step like */5, or these with commas between"
        )
    if found["any"]:
        if found["any"] == "?" and field.name not in ("day of month", "weekday"):
            raise _refused(f"{field.name}: ? stands only for a day; give *")
        low, high = field.low, field.high
    else:
        low = _value(field, found["low"])
        high = _value(field, found["high"]) if found["high"] else low
        if found["step"] is not None and not found["high"]:
            high = field.high
    if low > high:
        raise _refused(
            f"{field.name}: the range {term!r} runs backwards; give two ranges with a comma between"
        )
    return range(low, high + 1, _step(field, found["step"]))


def _value(field: _Field, text: str) -> int:
    if not text.isdigit():
        if text not in field.names:
            raise _refused(
                f"{field.name}: {text!r} is no number"
                + (" or name" if field.names else "")
                + f" from {field.low} to {field.high}{field.hint}"
            )
        return field.names[text]
    number = int(text)
    if not field.low <= number <= field.high:
        raise _refused(f"{field.name}: {number} is outside {field.low} to {field.high}{field.hint}")
    return number


def _step(field: _Field, text: str | None) -> int:
    if text is None:
        return 1
    widest = field.high - field.low + 1
    if not _STEP.fullmatch(text) or not 1 <= int(text) <= widest:
        raise _refused(f"{field.name}: the step {text!r} must be a number from 1 to {widest}")
    return int(text)


def _has_neighbours(pattern: Pattern) -> bool:
    minutes = set(pattern.minutes)
    if any(minute + 1 in minutes for minute in minutes):
        return True
    hours = set(pattern.hours)
    return {59, 0} <= minutes and any((hour + 1) % 24 in hours for hour in hours)


def _refused(reason: str) -> Invalid:
    return Invalid(reason, field="expression")
