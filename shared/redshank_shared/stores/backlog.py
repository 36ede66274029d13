"""Counts what waits in the database."""

from typing import Any

import msgspec
from sqlalchemy import ColumnElement, and_, func, literal_column, select

from redshank_shared.stores.database import Database
from redshank_shared.stores.dialect import now_seconds
from redshank_shared.stores.tables import approvals, schedule_runs, schedules, workstreams

# Written out: a database does not see that a parameter meets the condition of a partial index.
_PENDING: ColumnElement[Any] = literal_column("'pending'")
_ACTIVE: ColumnElement[Any] = literal_column("'active'")
_OPEN: list[ColumnElement[Any]] = [literal_column("'handed'"), literal_column("'started'")]


class Waiting(msgspec.Struct, frozen=True):
    """What waits at one moment.

    `running`: workstreams that a node holds. `without_node`: those that a node would have something
    to do for, the oldest since `without_node_seconds`. `approvals`: requests that wait for a
    person, the oldest since `approvals_since` (RFC 3339 UTC; None without any). `overdue`: active
    schedules whose due time has passed without a run, the oldest by `overdue_seconds`; `runs_open`:
    recorded runs that are not done (F41).
    """

    running: int
    without_node: int
    without_node_seconds: float
    approvals: int
    approvals_since: str | None
    overdue: int
    overdue_seconds: float
    runs_open: int


class Backlog:
    """Reads partial indexes only: the cost is that of what waits, not of all there ever was."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def waiting(self) -> Waiting:
        """All figures of one moment; Unavailable while the database does not answer."""
        row = workstreams.c
        held = and_(row.lease_node.is_not(None), row.lease_until > now_seconds())
        running = select(func.count()).select_from(workstreams).where(held)
        since = func.coalesce(row.lease_until, row.pending_since)
        oldest = func.max(now_seconds() - since)
        without_node = select(func.count(), oldest).where(row.pending, since <= now_seconds())
        requests = select(func.count(), func.min(approvals.c.requested_at)).where(
            approvals.c.state == _PENDING
        )
        late = now_seconds() - schedules.c.next_due
        overdue = select(func.count(), func.max(late)).where(
            schedules.c.state == _ACTIVE, schedules.c.next_due <= now_seconds()
        )
        runs_open = select(func.count()).where(schedule_runs.c.state.in_(_OPEN))
        with self._database.read() as connection:
            held_now = connection.execute(running).scalar_one()
            count, seconds = connection.execute(without_node).one()
            asked, asked_since = connection.execute(requests).one()
            overdue_now, overdue_seconds = connection.execute(overdue).one()
            open_now = connection.execute(runs_open).scalar_one()
        return Waiting(
            running=held_now,
            without_node=count,
            without_node_seconds=_duration(seconds),
            approvals=asked,
            approvals_since=asked_since,
            overdue=overdue_now,
            overdue_seconds=_duration(overdue_seconds),
            runs_open=open_now,
        )


def _duration(seconds: float | None) -> float:
    return max(0.0, float(seconds or 0.0))
