"""When something that is scheduled comes due."""

import math
from collections.abc import Mapping
from typing import assert_never

import msgspec

from redshank_shared.domain import cron, cron_fires
from redshank_shared.domain.errors import Invalid

SHORTEST_INTERVAL_SECONDS = 5
LONGEST_INTERVAL_SECONDS = 366 * 86_400
LAST_MOMENT = 7_258_118_400.0
"""The year 2200: nothing comes due later."""


class Once(msgspec.Struct, frozen=True, tag_field="kind", tag="once"):
    """At one moment, in seconds since 1970."""

    at: float


class Interval(msgspec.Struct, frozen=True, tag_field="kind", tag="interval"):
    """Every so many seconds on the beat that `start` gives, first one interval after it (K-86)."""

    every_seconds: int
    start: float


class Cron(msgspec.Struct, frozen=True, tag_field="kind", tag="cron"):
    """Whenever the expression matches the local time of the zone (K-87, K-88)."""

    expression: str
    timezone: str = "UTC"


Cadence = Once | Interval | Cron


def exactly_one(given: Mapping[str, object]) -> str:
    """The name of the only cadence that is not None; raises Invalid on `cadence` unless exactly one
    is given (K-86).
    """
    named = [name for name, value in given.items() if value is not None]
    if len(named) != 1:
        raise Invalid(
            f"give exactly one cadence of {', '.join(given)}; got {' and '.join(named) or 'none'}",
            field="cadence",
        )
    return named[0]


def check(cadence: Cadence, now: float) -> None:
    """Raises Invalid, with the field to blame, unless the cadence keeps the bounds of K-86 to K-88
    and comes due at least once after `now` (seconds since 1970). A moment that is past is in order:
    it is due now.
    """
    match cadence:
        case Once():
            if not 0 < cadence.at < LAST_MOMENT:
                raise Invalid("at must be a moment between 1970 and 2200", field="at")
        case Interval():
            _check_interval(cadence)
        case Cron():
            _check_cron(cadence, now)
        case _:
            assert_never(cadence)


def first_due(cadence: Cadence, now: float) -> float | None:
    """When a cadence that is made now comes due first; a single moment that is past is due now
    (K-86).
    """
    if isinstance(cadence, Once):
        return max(cadence.at, now)
    return next_due(cadence, now)


def next_due(cadence: Cadence, after: float) -> float | None:
    """The first due time strictly later than `after`, both in seconds since 1970, or None when none
    is left.
    """
    match cadence:
        case Once():
            return cadence.at if cadence.at > after else None
        case Interval():
            beat = max(_beats(cadence, after) + 1, 1)
            return cadence.start + beat * cadence.every_seconds
        case Cron():
            zone = cron_fires.zone_named(cadence.timezone)
            return cron_fires.next_fire(cron.parse(cadence.expression), zone, after)
        case _:
            assert_never(cadence)


def last_due(cadence: Cadence, since: float, until: float) -> float:
    """The latest due time not after `until`, given that `since` is a due time not after it. The
    cost does not grow with the number of due times between (K-89).
    """
    match cadence:
        case Once():
            return since
        case Interval():
            return max(since, cadence.start + _beats(cadence, until) * cadence.every_seconds)
        case Cron():
            return _last_match(cadence, since, until)
        case _:
            assert_never(cadence)


def _check_interval(interval: Interval) -> None:
    every = interval.every_seconds
    if not SHORTEST_INTERVAL_SECONDS <= every <= LONGEST_INTERVAL_SECONDS:
        raise Invalid(
            f"every_seconds must be at least {SHORTEST_INTERVAL_SECONDS} and at most "
            f"{LONGEST_INTERVAL_SECONDS} (366 days); got {every}",
            field="every_seconds",
        )
    if not -LAST_MOMENT < interval.start < LAST_MOMENT:
        raise Invalid("start must be a moment before 2200", field="start")


def _check_cron(cadence: Cron, now: float) -> None:
    pattern = cron.parse(cadence.expression)
    cron_fires.zone_named(cadence.timezone)
    if cron.fires_closer_than(pattern, SHORTEST_INTERVAL_SECONDS):
        raise Invalid(
            f"the cron expression fires twice within {SHORTEST_INTERVAL_SECONDS} s; "
            f"leave at least {SHORTEST_INTERVAL_SECONDS} s between two fires",
            field="expression",
        )
    if next_due(cadence, now) is None:
        raise Invalid(
            "the cron expression never fires: no day up to the year 2199 matches it; "
            "check the day, the month, the year",
            field="expression",
        )


def _beats(interval: Interval, moment: float) -> int:
    """How many beats after its start lie at or before this moment; below zero before the start."""
    every = interval.every_seconds
    beats = math.floor((moment - interval.start) / every)
    # The quotient is rounded: the sum that gives the due time has the last word.
    if interval.start + (beats + 1) * every <= moment:
        return beats + 1
    if interval.start + beats * every > moment:
        return beats - 1
    return beats


def _last_match(cadence: Cron, since: float, until: float) -> float:
    found, width = since, 1.0
    empty_from = until
    while until - width > since:
        due = next_due(cadence, until - width)
        if due is not None and due <= until:
            found = due
            break
        empty_from = until - width
        width *= 2
    # Nothing lies in (empty_from, until]; matches are whole seconds.
    while empty_from - found >= 1:
        middle = (found + empty_from) / 2
        due = next_due(cadence, middle)
        if due is not None and due <= until:
            found = due
        else:
            empty_from = middle
    return found
