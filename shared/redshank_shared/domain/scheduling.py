"""Schedules of a workstream: command -> facts, or a refusal that says why with the mend."""

from typing import assert_never

from redshank_shared.domain import cadence as cadences
from redshank_shared.domain import recurrence
from redshank_shared.domain.cadence import Cadence, Interval, Once
from redshank_shared.domain.commands import ChangeSchedule, CreateSchedule, FireSchedule, HearWake
from redshank_shared.domain.conditions import Condition
from redshank_shared.domain.due_events import (
    ScheduleChanged,
    ScheduleCreated,
    ScheduleFired,
    ScheduleTriggered,
    WatchSpec,
)
from redshank_shared.domain.errors import Conflict, Invalid, NotFound
from redshank_shared.domain.events import (
    AnyFact,
    MessagePosted,
    Source,
)
from redshank_shared.domain.recurrence import Policy, Recurrence
from redshank_shared.domain.schedule_state import Schedule
from redshank_shared.domain.workstream import Workstream

MOST_SCHEDULES = 128
MOST_WATCHES = 5
MOST_WATCH_STREAK = 5
WATCH_SECONDS = (10, 86400)
MOST_POLLS = 10_000
_NAME_CHARACTERS = 200
# A due time has one run: two triggers in one millisecond are two.
_APART_SECONDS = 0.001


def decide(
    state: Workstream,
    command: CreateSchedule | ChangeSchedule | FireSchedule | HearWake,
    now: float,
) -> list[AnyFact]:
    """The facts of a command about schedules. `now`: seconds since 1970."""
    match command:
        case CreateSchedule():
            return create(state, command, now)
        case ChangeSchedule():
            return change(state, command, now)
        case FireSchedule():
            return fire(state, command)
        case HearWake():
            return hear(state, command)
        case _:
            assert_never(command)


def create(state: Workstream, command: CreateSchedule, now: float) -> list[AnyFact]:
    """A new schedule; Invalid names the field, Conflict the name that is taken (K-86, T-54).

    A one-shot whose time has passed is due now.
    """
    replaced = [
        ScheduleChanged(schedule_id, "canceled", command.by, detail="replaced by one of its name")
        for schedule_id, schedule in state.schedules.items()
        if command.replaces and schedule.created.name == command.name
    ]
    _check_name(state, command, replacing=bool(replaced))
    if command.watch is not None:
        _check_watch(state, command.watch, command.cadence)
    else:
        cadences.check(command.cadence, now)
        if not command.message.strip():
            raise Invalid("message is empty; say what is to be read then", field="message")
    if command.max_executions < 0:
        raise Invalid("max_executions is negative; leave it out for no end", field="max_executions")
    due = cadences.first_due(command.cadence, now)
    assert due is not None, "a cadence that was checked comes due"
    return [
        *replaced,
        ScheduleCreated(
            schedule_id=command.schedule_id,
            name=command.name,
            cadence=command.cadence,
            next_due=due,
            message=command.message,
            by=command.by,
            watch=command.watch,
            overlap=command.overlap,
            misfire=command.misfire,
            max_executions=command.max_executions,
            target=command.target,
        ),
    ]


def change(state: Workstream, command: ChangeSchedule, now: float) -> list[AnyFact]:
    """What the change makes of the schedule; nothing where it is so already (K-90)."""
    schedule = find(state, command.schedule)
    schedule_id, by = schedule.created.schedule_id, command.by
    standing = _standing(schedule, now)
    match command.change:
        case "cancel":
            return [ScheduleChanged(schedule_id, "canceled", by, detail=f"canceled by {by}")]
        case "trigger":
            polls = schedule.created.watch is not None
            due_at = max([now, *(one.due_at + _APART_SECONDS for one in schedule.triggered)])
            return [ScheduleTriggered(schedule_id, command.run_id, due_at, by, polls)]
        case "pause" if schedule.state == "active":
            remaining = recurrence.pause(standing, now).remaining_seconds or 0.0
            return [ScheduleChanged(schedule_id, "paused", by, remaining=remaining)]
        case "resume" if schedule.state == "paused":
            resumed = recurrence.resume(standing, now)
            return [
                ScheduleChanged(
                    schedule_id,
                    resumed.status,
                    by,
                    cadence=resumed.cadence,
                    next_due=resumed.next_due,
                )
            ]
        case "pause" | "resume":
            return []
        case _:
            assert_never(command.change)


def _standing(schedule: Schedule, now: float) -> Recurrence:
    """Where it stands, as far as its log says: its row knows how many due times were taken."""
    created = schedule.created
    return Recurrence(
        cadence=schedule.cadence,
        policy=Policy(created.overlap, created.misfire, created.max_executions or None),
        status=schedule.state,
        next_due=cadences.next_due(schedule.cadence, now) if schedule.state == "active" else None,
        remaining_seconds=schedule.remaining if schedule.state == "paused" else None,
        executions=schedule.fired,
    )


def fire(state: Workstream, command: FireSchedule) -> list[AnyFact]:
    """The run's message; nothing where this run has spoken or its schedule is over (F41)."""
    schedule = state.schedules.get(command.schedule_id)
    if schedule is None or command.run_id in state.runs:
        return []
    created = schedule.created
    source: Source = "watch" if created.watch else "wake"
    facts: list[AnyFact] = []
    if source == "watch" and state.watch_streak >= MOST_WATCH_STREAK:
        why = f"not told: {MOST_WATCH_STREAK} watches in a row spoke without a person between"
        return [ScheduleChanged(command.schedule_id, "completed", "clock", detail=why)]
    facts.append(ScheduleFired(command.schedule_id, command.run_id, command.due_at))
    if not created.target:
        facts.append(MessagePosted(command.text, source, author=command.schedule_id, queued=True))
    ends = command.ends or _end(schedule, command.run_id)
    if ends:
        facts.append(ScheduleChanged(command.schedule_id, "completed", "clock", detail=ends))
    return facts


def hear(state: Workstream, command: HearWake) -> list[AnyFact]:
    """The message of another workstream's run; nothing where it was heard before (F41)."""
    if command.run_id in state.runs:
        return []
    return [
        ScheduleFired(command.schedule_id, command.run_id, command.due_at),
        MessagePosted(command.text, "wake", author=command.schedule_id, queued=True),
    ]


def find(state: Workstream, reference: str) -> Schedule:
    """The schedule of this id, name or unique beginning of an id; NotFound otherwise (T-50)."""
    found = [
        schedule
        for schedule_id, schedule in state.schedules.items()
        if reference in (schedule_id, schedule.created.name)
    ] or [
        schedule
        for schedule_id, schedule in state.schedules.items()
        if len(reference) >= 3 and schedule_id.startswith(reference)
    ]
    if len(found) == 1:
        return found[0]
    names = ", ".join(sorted(each.created.name for each in state.schedules.values())) or "none"
    what = "no active schedule is" if not found else "several schedules are"
    raise NotFound(
        f"{what} called {reference}; there are: {names}", code="schedule_not_found", field="id"
    )


def _check_name(state: Workstream, command: CreateSchedule, *, replacing: bool) -> None:
    if not command.name.strip() or len(command.name) > _NAME_CHARACTERS:
        raise Invalid(f"name must have 1 to {_NAME_CHARACTERS} characters", field="name")
    if replacing:
        return
    if any(schedule.created.name == command.name for schedule in state.schedules.values()):
        raise Conflict(
            f"a schedule called {command.name} is active here; choose another name or cancel it",
            code="duplicate_name",
            field="name",
        )
    if len(state.schedules) >= MOST_SCHEDULES:
        raise Conflict(
            f"{MOST_SCHEDULES} schedules are active in this workstream; cancel one first",
            code="too_many_schedules",
        )


def _check_watch(state: Workstream, watch: WatchSpec, cadence: Cadence) -> None:
    if sum(schedule.created.watch is not None for schedule in state.schedules.values()) >= (
        MOST_WATCHES
    ):
        raise Conflict(
            f"{MOST_WATCHES} watches are active in this workstream; cancel one first",
            code="too_many_watches",
        )
    if not watch.command.strip():
        raise Invalid("command is empty; say what to run at each poll", field="command")
    shortest, longest = WATCH_SECONDS
    every = cadence.every_seconds if isinstance(cadence, Interval) else 0
    if not shortest <= every <= longest:
        raise Invalid(
            f"poll_every must be from {shortest} s to {longest // 3600} h", field="poll_every"
        )
    if not 1 <= watch.max_polls <= MOST_POLLS:
        raise Invalid(f"max_polls must be from 1 to {MOST_POLLS}", field="max_polls")
    if watch.stop_on:
        Condition.parse(watch.stop_on)


def _end(schedule: Schedule, run_id: str) -> str:
    by_hand = any(one.run_id == run_id for one in schedule.triggered)
    if isinstance(schedule.cadence, Once) and not by_hand:
        return "it was due once"
    most = schedule.created.max_executions
    if most and schedule.fired + 1 >= most:
        return f"it has run {most} times"
    return ""
