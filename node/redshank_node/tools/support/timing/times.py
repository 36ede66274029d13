"""Reads the durations, the moments that a model writes."""

import re
from datetime import UTC, datetime

from redshank_node.tools.tool import BadArguments
from redshank_shared.clock import rfc3339
from redshank_shared.domain.cadence import LAST_MOMENT, LONGEST_INTERVAL_SECONDS

_UNITS = {"d": 86_400, "h": 3_600, "m": 60, "s": 1}
_DURATION = re.compile(r"(?:(\d{1,9})d)?(?:(\d{1,9})h)?(?:(\d{1,9})m)?(?:(\d{1,9})s)?", re.ASCII)
_RFC3339 = re.compile(
    r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d(:\d\d(\.\d{1,9})?)?(?P<zone>[Zz]|[+-]\d\d:\d\d)?", re.ASCII
)
_LONGEST = f"{LONGEST_INTERVAL_SECONDS // 86_400}d"


def duration_seconds(text: str, field: str) -> int:
    """The whole seconds of a duration like 90s, 10m, 1h30m or 2d, up to 366 days; else BadArguments
    on the field.
    """
    found = _DURATION.fullmatch(text.strip().lower().replace(" ", ""))
    if found is None or not found[0]:
        raise BadArguments(
            f"{field} must be a duration like 90s, 10m, 1h30m or 2d, not {text[:40]!r}"
        )
    seconds = sum(
        int(count) * _UNITS[unit]
        for unit, count in zip(_UNITS, found.groups(), strict=True)
        if count is not None
    )
    if not 1 <= seconds <= LONGEST_INTERVAL_SECONDS:
        raise BadArguments(f"{field} must be from 1s to {_LONGEST}, not {text[:40]!r}")
    return seconds


def moment(text: str, field: str) -> float:
    """The seconds since 1970 of an RFC 3339 time with its offset; else BadArguments on the
    field (K-22).
    """
    found = _RFC3339.fullmatch(text.strip())
    if found is None:
        raise BadArguments(
            f"{field} must be an RFC 3339 time like 2027-01-31T09:00:00Z, not {text[:40]!r}"
        )
    if found["zone"] is None:
        raise BadArguments(
            f"{field} lacks its offset; write {found[0]}Z for UTC, or +01:00 at the end"
        )
    try:
        seconds = datetime.fromisoformat(found[0].upper()).timestamp()
    except (ValueError, OverflowError) as error:
        raise BadArguments(f"{field} is no time of a calendar: {error}") from None
    if not 0 < seconds < LAST_MOMENT:
        raise BadArguments(f"{field} must lie between 1970 and 2200, not {text[:40]!r}")
    return seconds


def objection_to_past(at: float, now: float, field: str) -> str | None:
    """Why a moment that must be to come is refused, with the mend; None where it is. Both in
    seconds since 1970.
    """
    if at > now:
        return None
    return f"{field}: {shown_moment(at)} has passed, it is {shown_moment(now)}; give a time to come"


def shown_moment(seconds: float) -> str:
    """Seconds since 1970 as RFC 3339 text in UTC."""
    return rfc3339(datetime.fromtimestamp(seconds, UTC))


def shown_duration(seconds: int) -> str:
    """Whole seconds as the text that `duration_seconds` reads, as in 1h30m."""
    parts = []
    for unit, size in _UNITS.items():
        count, seconds = divmod(seconds, size)
        if count:
            parts.append(f"{count}{unit}")
    return "".join(parts) or "0s"
