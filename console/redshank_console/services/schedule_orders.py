"""Carries out what is asked of schedules."""

from typing import Literal

import msgspec

from redshank_console.services.new_schedules import blamed, creation
from redshank_console.services.orders import Answer, Clock, answer_of
from redshank_console.services.schedule_views import view_of
from redshank_console.services.schedules import ScheduleReading
from redshank_shared.domain.cadence import first_due
from redshank_shared.domain.commands import ChangeSchedule
from redshank_shared.domain.decide import seconds_of
from redshank_shared.domain.errors import Conflict, NotFound, RedshankError
from redshank_shared.domain.ids import WorkstreamId
from redshank_shared.domain.workstream import Workstream
from redshank_shared.session_commands import KeyedRequest, Render, SessionCommands
from redshank_shared.stores.schedules import Run, RunKind, ScheduleRow
from redshank_shared.wire.schedule_requests import NewSchedule

Change = Literal["pause", "resume", "cancel", "trigger"]


class ScheduleOrders:
    """Each order is one append, and its answer is kept under the caller's idempotency key.

    Raises what `decide` raises, with nothing changed; Unavailable while the database is away.
    """

    def __init__(self, commands: SessionCommands, reading: ScheduleReading, clock: Clock) -> None:
        self._commands = commands
        self._reading = reading
        self._clock = clock

    async def create(self, asked: NewSchedule, by: str, keyed: KeyedRequest | None) -> Answer:
        """201 and the view; a refusal names the field as the body has it."""
        at = self._clock.at()
        try:
            command = creation(asked, self._clock.new_id("sch"), by, at)
            render = _shows_new(command.schedule_id, at)
            done = await self._commands.execute(
                WorkstreamId(asked.workstream), command, at, keyed=keyed, render=render
            )
        except RedshankError as refusal:
            raise blamed(refusal, asked) from refusal
        return answer_of(done, render)

    async def change(
        self, schedule_id: str, change: Change, by: str, keyed: KeyedRequest | None
    ) -> Answer:
        """200 and the view as the change left it; Conflict where the schedule is over (K-90)."""
        row, last = await self._reading.standing(schedule_id)
        at = self._clock.at()
        run_id = self._clock.new_id("run") if change == "trigger" else ""
        command = ChangeSchedule(row.schedule_id, change, by, run_id)
        render = _shows_changed(row, last, command, seconds_of(at))
        try:
            done = await self._commands.execute(
                WorkstreamId(row.workstream_id), command, at, keyed=keyed, render=render
            )
        except NotFound as refusal:
            if refusal.code != "schedule_not_found":
                raise
            row, _ = await self._reading.standing(schedule_id)
            raise Conflict(
                f"the schedule is {row.state}, which is final; make a new one",
                code="schedule_over",
                field="id",
            ) from refusal
        return answer_of(done, render)


def _shows_new(schedule_id: str, at: str) -> Render:
    def render(state: Workstream, _seq: int) -> tuple[int, str]:
        created = state.schedules[schedule_id].created
        row = ScheduleRow(
            schedule_id=schedule_id,
            workstream_id=state.id,
            kind="watch" if created.watch else str(created.cadence.__struct_config__.tag),
            state="active",
            spec=created,
            cadence=created.cadence,
            next_due=created.next_due,
            runs=0,
            last_output=None,
            created_at=at,
            detail="",
        )
        return 201, view_of(row, None).model_dump_json()

    return render


def _shows_changed(
    row: ScheduleRow, last: Run | None, command: ChangeSchedule, now: float
) -> Render:
    def render(state: Workstream, _seq: int) -> tuple[int, str]:
        shown = _triggered(row, command, now) if command.change == "trigger" else last
        return 200, view_of(_changed(row, state, command, now), shown).model_dump_json()

    return render


def _changed(
    row: ScheduleRow, state: Workstream, command: ChangeSchedule, now: float
) -> ScheduleRow:
    """The row as the append leaves it, told before it is written."""
    schedule = state.schedules.get(row.schedule_id)
    if schedule is None:
        detail = f"canceled by {command.by}"
        return msgspec.structs.replace(row, state="canceled", next_due=None, detail=detail)
    if schedule.state == row.state:
        return row
    cadence = schedule.cadence
    due = first_due(cadence, now) if schedule.state == "active" else None
    return msgspec.structs.replace(
        row, state=schedule.state, cadence=cadence, next_due=due, detail=""
    )


def _triggered(row: ScheduleRow, command: ChangeSchedule, now: float) -> Run:
    kind: RunKind = "poll" if row.spec.watch else "fire"
    return Run(command.run_id, row.schedule_id, row.workstream_id, kind, now, "triggered")
