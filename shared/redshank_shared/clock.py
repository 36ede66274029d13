"""Asks the machine for the time, so that nothing else has to."""

import time
from datetime import UTC, datetime


def now_utc() -> datetime:
    """The present moment, aware, in UTC."""
    return datetime.now(UTC)  # noqa: TID251 - the one place that asks


def now_ms() -> int:
    """Milliseconds since the epoch."""
    return time.time_ns() // 1_000_000


def monotonic() -> float:
    """Seconds on a clock that never steps back; only differences mean something."""
    return time.monotonic()


def rfc3339(moment: datetime) -> str:
    """A moment as RFC 3339 text in UTC with milliseconds, as in 2026-11-30T08:15:00.250Z."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
