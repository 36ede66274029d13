"""Schedules as HTTP clients get them. Times are RFC 3339 UTC."""

from typing import Literal

from redshank_shared.domain.due_events import (
    Misfire,
    Overlap,
    ScheduleState,
)
from redshank_shared.wire.views import View


class OnceView(View):
    at: str


class IntervalView(View):
    every_seconds: int


class CronView(View):
    expression: str
    timezone: str


class WatchView(View):
    """`stop_on` empty: it fires when the output changes."""

    command: str
    poll_every: int
    stop_on: str
    max_polls: int


class OnceCadence(View):
    once: OnceView


class IntervalCadence(View):
    interval: IntervalView


class CronCadence(View):
    cron: CronView


class WatchCadence(View):
    watch: WatchView


CadenceView = OnceCadence | IntervalCadence | CronCadence | WatchCadence


class RunView(View):
    """One due time, what came of it. `node`: the one that polled, empty for what was only said."""

    due_at: str
    began_at: str | None
    state: str
    detail: str
    node: str


class ScheduleView(View):
    """Something that comes due. `cadence` has the form in which it is asked for; `runs` counts
    those that were handed out; `next_due` is null where nothing is due any more.
    """

    id: str
    name: str
    workstream: str
    kind: Literal["once", "interval", "cron", "watch"]
    cadence: CadenceView
    state: ScheduleState
    next_due: str | None
    last_run: RunView | None
    runs: int
    message: str
    created_at: str
    detail: str
    overlap: Overlap
    misfire: Misfire
    max_executions: int | None


class WatchHookView(View):
    """Where a watch is pushed. `address` is told this once: whoever has it may push."""

    schedule: str
    address: str
    created_at: str


class PushedView(View):
    """What was pushed is kept; it will be judged as this run of the watch."""

    run: str


class ScheduleHistoryView(ScheduleView):
    """A schedule with its last fifty runs, newest first (K-91)."""

    last_runs: list[RunView]
