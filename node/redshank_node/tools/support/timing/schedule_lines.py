"""Shows schedules to a model, one line each or one in full."""

from collections.abc import Iterable

from redshank_node.tools.support.timing import times, timetable
from redshank_node.tools.tool import CallContext, Result
from redshank_shared.domain.scheduled import Scheduled

ENDED = ("completed", "canceled")
_SHORTEST_REFERENCE = 3


async def scheduled_in(context: CallContext) -> list[Scheduled]:
    """The schedules of the caller's workstream, newest first; none where there is nothing to ask
    about them.
    """
    if context.schedules is None:
        return []
    return await context.schedules.of(context.workstream_id)


def named(reference: str, schedules: Iterable[Scheduled]) -> list[Scheduled]:
    """Those with this id or name, what is not over before what is; else those whose id begins so
    (T-50).
    """
    known = list(schedules)
    alive = [each for each in known if each.state not in ENDED]
    for among in (alive, known):
        if found := [each for each in among if reference in (each.schedule_id, each.name)]:
            return found
    if len(reference) < _SHORTEST_REFERENCE:
        return []
    return [each for each in known if each.schedule_id.startswith(reference)]


def listed(lines: list[str], empty: str, context: CallContext) -> Result:
    """The lines as a result, cut to what a call may give back."""
    room = context.max_output_bytes - 100
    for count, line in enumerate(lines):
        room -= len(line.encode()) + 1
        if room < 0:
            left = f"[{len(lines) - count} more; ask for one by its name]"
            return Result("\n".join([*lines[:count], left]), truncated=True)
    return Result("\n".join(lines) or empty)


def line(schedule: Scheduled) -> str:
    """Id, name, kind, cadence, state, what comes next, in one line."""
    watch = schedule.watch
    polls = f" of {watch.max_polls} polls" if watch else " runs"
    name = " ".join(schedule.name.split())
    return (
        f"{schedule.schedule_id} {name}: {'watch, ' if watch else ''}"
        f"{timetable.shown(schedule.cadence)}, {schedule.state}, "
        f"{_next(schedule)}, {schedule.runs}{polls}"
    )


def in_full(schedule: Scheduled) -> str:
    """The line with all that the schedule says or runs, a watch's last output behind it."""
    lines = [line(schedule)]
    if schedule.detail:
        lines.append(f"detail: {schedule.detail}")
    if schedule.message:
        lines.append(f"message: {schedule.message}")
    if schedule.watch is not None:
        lines.append(f"command: {schedule.watch.command}")
        lines.append(f"stop_on: {schedule.watch.stop_on or '[the output changes]'}")
    if schedule.last_output is not None:
        lines.append(f"last output:\n{schedule.last_output}")
    return "\n".join(lines)


def _next(schedule: Scheduled) -> str:
    if schedule.next_due is None:
        return "nothing due"
    return f"next {times.shown_moment(schedule.next_due)}"
