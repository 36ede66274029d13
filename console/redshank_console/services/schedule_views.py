"""Shows a schedule as the API answers it."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, assert_never

import msgspec

from redshank_shared.clock import rfc3339
from redshank_shared.domain.cadence import Cadence, Cron, Interval, Once
from redshank_shared.domain.due_events import WatchSpec
from redshank_shared.stores.schedules import Run, ScheduleRow
from redshank_shared.wire.schedule_views import (
    CadenceView,
    CronCadence,
    CronView,
    IntervalCadence,
    IntervalView,
    OnceCadence,
    OnceView,
    RunView,
    ScheduleHistoryView,
    ScheduleView,
    WatchCadence,
    WatchView,
)


def view_of(row: ScheduleRow, last: Run | None) -> ScheduleView:
    """A schedule with the last of its runs."""
    return ScheduleView(**_fields(row, last))


def history_of(row: ScheduleRow, runs: Sequence[Run]) -> ScheduleHistoryView:
    """A schedule with these runs, newest first."""
    fields = _fields(row, runs[0] if runs else None)
    return ScheduleHistoryView(**fields, last_runs=[_run(run) for run in runs])


def _fields(row: ScheduleRow, last: Run | None) -> dict[str, Any]:
    spec = row.spec
    return {
        "id": row.schedule_id,
        "name": spec.name,
        "workstream": row.workstream_id,
        "kind": row.kind,
        "cadence": _cadence(row.cadence, spec.watch),
        "state": row.state,
        "next_due": None if row.next_due is None else _moment(row.next_due),
        "last_run": None if last is None else _run(last),
        "runs": row.runs,
        "message": spec.message,
        "created_at": row.created_at,
        "detail": row.detail,
        "overlap": spec.overlap,
        "misfire": spec.misfire,
        "max_executions": spec.max_executions or None,
    }


def _cadence(cadence: Cadence, watch: WatchSpec | None) -> CadenceView:
    match cadence:
        case Interval() if watch is not None:
            fields = msgspec.structs.asdict(watch)
            return WatchCadence(watch=WatchView(**fields, poll_every=cadence.every_seconds))
        case Once():
            return OnceCadence(once=OnceView(at=_moment(cadence.at)))
        case Interval():
            return IntervalCadence(interval=IntervalView(every_seconds=cadence.every_seconds))
        case Cron():
            cron = CronView(expression=cadence.expression, timezone=cadence.timezone)
            return CronCadence(cron=cron)
        case _:
            assert_never(cadence)


def _run(run: Run) -> RunView:
    return RunView(
        due_at=_moment(run.due_at),
        began_at=None if run.began_at is None else _moment(run.began_at),
        state=run.state,
        detail=run.detail,
        node=run.node,
    )


def _moment(seconds: float) -> str:
    return rfc3339(datetime.fromtimestamp(seconds, UTC))
