"""What a schedule does at a moment."""

from typing import Literal

import msgspec

from redshank_shared.domain.cadence import (
    Cadence,
    Cron,
    Interval,
    Once,
    check,
    first_due,
    last_due,
    next_due,
)
from redshank_shared.domain.errors import Conflict, Invalid

Overlap = Literal["skip", "queue_one", "parallel"]
Misfire = Literal["coalesce_once", "skip_missed"]
Status = Literal["active", "paused", "completed", "canceled"]
Outcome = Literal["claimed", "queued", "skipped"]
Action = Literal["pause", "resume", "cancel", "trigger"]

# The clock changes hands within 5 s: what is later than this was due while no node lived.
MISSED_AFTER_SECONDS = 8.0
# As many as the history of a schedule keeps (K-91).
MOST_MISSED_RECORDED = 50

# A status and what is asked of it -> its new status; what is not here is refused (K-90).
_FOLLOWS: dict[tuple[Status, Action], Status] = {
    ("active", "pause"): "paused",
    ("active", "cancel"): "canceled",
    ("active", "trigger"): "active",
    ("paused", "resume"): "active",
    ("paused", "cancel"): "canceled",
    ("paused", "trigger"): "paused",
}


class Policy(msgspec.Struct, frozen=True):
    """What happens when a run is still open at the next due time, what when a due time passed while
    no node lived (K-89), and after how many runs it is over (K-91; None: never).
    """

    overlap: Overlap = "skip"
    misfire: Misfire = "coalesce_once"
    max_executions: int | None = None


class Recurrence(msgspec.Struct, frozen=True):
    """Where a schedule stands. `next_due` is in seconds since 1970, None unless active;
    `remaining_seconds` is what was left when a single moment or an interval was paused (K-90);
    `executions` counts the runs made, not the skipped ones.
    """

    cadence: Cadence
    policy: Policy = Policy()
    status: Status = "active"
    next_due: float | None = None
    remaining_seconds: float | None = None
    executions: int = 0

    @property
    def ended(self) -> bool:
        """Whether it never runs again (K-90)."""
        return self.status in ("completed", "canceled")


class Run(msgspec.Struct, frozen=True):
    """A run to record: to hand out at once (`claimed`), when the open one ends (`queued`), or never
    (`skipped`, with the reason).
    """

    due_at: float
    outcome: Outcome
    reason: str = ""


class Step(msgspec.Struct, frozen=True):
    """The runs to record, together with where the schedule stands then, in one transaction."""

    runs: tuple[Run, ...]
    after: Recurrence


def begin(cadence: Cadence, policy: Policy, now: float) -> Recurrence:
    """A schedule made now; nothing before counts as missed. Raises Invalid with the field to
    blame.
    """
    check(cadence, now)
    if policy.max_executions is not None and policy.max_executions < 1:
        raise Invalid("max_executions must be at least 1, or left out", field="max_executions")
    return Recurrence(cadence, policy, next_due=first_due(cadence, now))


def due(recurrence: Recurrence, now: float, *, open_run: bool, queued_run: bool = False) -> Step:
    """What to record at `now` (seconds since 1970), given whether a run is under way or waits for
    that. Due times that passed unseen become one run, that of the latest, or are recorded as
    skipped (at most the latest 50), as the policy says (K-89). Asked again after the step is kept,
    it gives nothing.
    """
    since = recurrence.next_due
    if recurrence.status != "active" or since is None or since > now:
        return Step((), recurrence)
    latest = last_due(recurrence.cadence, since, now)
    runs = _missed(recurrence, since, latest, now)
    executions = recurrence.executions
    if not runs or runs[-1].due_at < latest:
        run = _run(recurrence.policy, latest, open_run=open_run, queued_run=queued_run)
        executions += run.outcome != "skipped"
        runs = (*runs, run)
    moved = msgspec.structs.replace(
        recurrence, executions=executions, next_due=next_due(recurrence.cadence, max(now, latest))
    )
    return Step(runs, _completed_if_over(moved))


def trigger(
    recurrence: Recurrence, now: float, *, open_run: bool, queued_run: bool = False
) -> Step:
    """One run besides the cadence, which stays as it is; the overlap policy holds (K-89): a skipped
    run is recorded, and whoever asked is refused with its reason. Raises Conflict once the schedule
    has ended.
    """
    _follow(recurrence, "trigger")
    run = _run(recurrence.policy, now, open_run=open_run, queued_run=queued_run)
    if run.outcome == "skipped":
        return Step((run,), recurrence)
    counted = msgspec.structs.replace(recurrence, executions=recurrence.executions + 1)
    return Step((run,), _completed_if_over(counted))


def pause(recurrence: Recurrence, now: float) -> Recurrence:
    """Stops the clock of the schedule, keeping what was left (K-90). Raises Conflict."""
    status = _follow(recurrence, "pause")
    due_at = recurrence.next_due
    remaining = None if due_at is None else max(due_at - now, 0.0)
    return msgspec.structs.replace(
        recurrence,
        status=status,
        next_due=None,
        remaining_seconds=None if isinstance(recurrence.cadence, Cron) else remaining,
    )


def resume(recurrence: Recurrence, now: float) -> Recurrence:
    """Goes on with what was left; a cron rejoins its pattern, and is completed when nothing of it
    is left (K-90). Raises Conflict.
    """
    status = _follow(recurrence, "resume")
    due_at = now + (recurrence.remaining_seconds or 0.0)
    cadence, upcoming = recurrence.cadence, recurrence.next_due
    match cadence:
        case Once():
            cadence, upcoming = Once(due_at), due_at
        case Interval():
            every = cadence.every_seconds
            cadence, upcoming = Interval(every, due_at - every), due_at
        case Cron():
            upcoming = next_due(cadence, now)
    resumed = msgspec.structs.replace(
        recurrence, cadence=cadence, status=status, next_due=upcoming, remaining_seconds=None
    )
    return _completed_if_over(resumed)


def cancel(recurrence: Recurrence) -> Recurrence:
    """Ends the schedule for good (K-90). Raises Conflict when it has ended already."""
    status = _follow(recurrence, "cancel")
    return msgspec.structs.replace(recurrence, status=status, next_due=None, remaining_seconds=None)


def _missed(recurrence: Recurrence, since: float, latest: float, now: float) -> tuple[Run, ...]:
    if recurrence.policy.misfire != "skip_missed":
        return ()
    runs: list[Run] = []
    due_at = latest
    while len(runs) < MOST_MISSED_RECORDED:
        if due_at < latest or now - due_at > MISSED_AFTER_SECONDS:
            runs.append(Run(due_at, "skipped", "missed: no node was there when it was due"))
        if due_at <= since:
            break
        due_at = last_due(recurrence.cadence, since, due_at - 1)
    return tuple(reversed(runs))


def _run(policy: Policy, due_at: float, *, open_run: bool, queued_run: bool) -> Run:
    if policy.overlap == "parallel" or not (open_run or queued_run):
        return Run(due_at, "claimed")
    if policy.overlap == "queue_one" and not queued_run:
        return Run(due_at, "queued")
    if policy.overlap == "queue_one":
        return Run(due_at, "skipped", "a run is open, another waits already (overlap queue_one)")
    return Run(due_at, "skipped", "the run before is still open (overlap skip)")


def _completed_if_over(recurrence: Recurrence) -> Recurrence:
    most = recurrence.policy.max_executions
    used_up = most is not None and recurrence.executions >= most
    if not used_up and (recurrence.next_due is not None or recurrence.status == "paused"):
        return recurrence
    return msgspec.structs.replace(
        recurrence, status="completed", next_due=None, remaining_seconds=None
    )


def _follow(recurrence: Recurrence, action: Action) -> Status:
    status = _FOLLOWS.get((recurrence.status, action))
    if status is not None:
        return status
    if recurrence.ended:
        raise Conflict(
            f"the schedule is {recurrence.status}, which is final; make a new one instead of "
            f"asking to {action} it"
        )
    raise Conflict(f"the schedule is {recurrence.status}; it cannot {action}")
