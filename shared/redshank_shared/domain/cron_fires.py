"""When a cron pattern comes next in a time zone."""

import difflib
import functools
import math
import zoneinfo
from bisect import bisect_left
from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta

from redshank_shared.domain.cron import LAST_YEAR, Pattern, days_in
from redshank_shared.domain.errors import Invalid

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_FIRST = -86_400.0
_LAST = (datetime(LAST_YEAR, 12, 31, tzinfo=UTC) - _EPOCH).total_seconds()
# What a machine's zone folder holds besides IANA's zones: its own local time, no zone at all, and
# clocks that count leap seconds.
_NOT_A_ZONE = ("localtime", "posixrules", "Factory", "posix/", "right/")


@functools.lru_cache(maxsize=512)
def zone_named(name: str) -> zoneinfo.ZoneInfo:
    """The IANA zone of this name; raises Invalid on `timezone`, with the names that look alike."""
    zone = None if name.startswith(_NOT_A_ZONE) else _loaded(name)
    if zone is not None:
        return zone
    alike = difflib.get_close_matches(name[:60], sorted(zoneinfo.available_timezones()), n=3)
    raise Invalid(
        f"there is no time zone {name[:60]!r}; give an IANA name, as "
        f"{' or '.join(alike) or 'UTC or Europe/Berlin'}",
        field="timezone",
    )


def next_fire(pattern: Pattern, zone: zoneinfo.ZoneInfo, after: float) -> float | None:
    """The first fire strictly later than `after`, in seconds since 1970, or None when none is left
    up to the year 2199. A local time that does not exist is left out; one that comes twice fires
    the first time only (K-88).
    """
    if not _FIRST <= after <= _LAST:
        return None if after > _LAST else next_fire(pattern, zone, _FIRST)
    passed = _EPOCH + timedelta(seconds=math.floor(after))
    start = passed.astimezone(zone).replace(tzinfo=None, fold=0)
    for local in _local_times(pattern, start):
        instant = local.replace(tzinfo=zone).astimezone(UTC)
        exists = instant.astimezone(zone).replace(tzinfo=None, fold=0) == local
        if exists and instant > passed:
            return (instant - _EPOCH).total_seconds()
    return None


def _loaded(name: str) -> zoneinfo.ZoneInfo | None:
    try:
        return zoneinfo.ZoneInfo(name)
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError):
        return None


def _local_times(pattern: Pattern, start: datetime) -> Iterator[datetime]:
    """Those from `start` on, in rising order."""
    for day in _days(pattern, start.date()):
        earliest = start.time() if day == start.date() else time.min
        for moment in _moments(pattern, earliest):
            yield datetime.combine(day, moment)


def _days(pattern: Pattern, start: date) -> Iterator[date]:
    for year in pattern.years[bisect_left(pattern.years, start.year) :]:
        for month in pattern.months:
            if (year, month) < (start.year, start.month):
                continue
            for number in days_in(pattern, year, month):
                day = date(year, month, number)
                if day >= start:
                    yield day


def _moments(pattern: Pattern, earliest: time) -> Iterator[time]:
    for hour in pattern.hours[bisect_left(pattern.hours, earliest.hour) :]:
        for minute in pattern.minutes:
            if (hour, minute) < (earliest.hour, earliest.minute):
                continue
            for second in pattern.seconds:
                moment = time(hour, minute, second)
                if moment >= earliest:
                    yield moment
