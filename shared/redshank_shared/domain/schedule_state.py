"""A schedule that is not over: the fold of its facts."""

import msgspec

from redshank_shared.domain.cadence import Cadence
from redshank_shared.domain.due_events import (
    ScheduleChanged,
    ScheduleCreated,
    ScheduleFired,
    ScheduleState,
    ScheduleTriggered,
)

_TRIGGERS_KEPT = 50

# Runs that are remembered, so that one handed over twice speaks once.
_RUNS_KEPT = 200

_ScheduleFact = ScheduleCreated | ScheduleChanged | ScheduleTriggered | ScheduleFired


class Schedule(msgspec.Struct, frozen=True):
    """A schedule that is not over. `cadence` is the one that counts: a resumed one goes on from
    another time.

    `remaining`: seconds to its next due time when it was paused. `fired`: how often it has spoken.
    `triggered`: the last runs that somebody asked for.
    """

    created: ScheduleCreated
    cadence: Cadence
    state: ScheduleState = "active"
    remaining: float = 0.0
    fired: int = 0
    triggered: tuple[ScheduleTriggered, ...] = ()


def with_rescheduled(schedules: dict[str, Schedule], fact: _ScheduleFact) -> dict[str, Schedule]:
    """The schedules after this fact; those that are over are gone."""
    schedule = _rescheduled(schedules.get(fact.schedule_id), fact)
    others = {key: one for key, one in schedules.items() if key != fact.schedule_id}
    return others if schedule is None else {**others, fact.schedule_id: schedule}


def with_run(runs: tuple[str, ...], fact: _ScheduleFact) -> tuple[str, ...]:
    """The runs that spoke, with this one where it did."""
    return (*runs[1 - _RUNS_KEPT :], fact.run_id) if isinstance(fact, ScheduleFired) else runs


def _rescheduled(
    known: Schedule | None,
    fact: _ScheduleFact,
) -> Schedule | None:
    """The schedule after this fact; None where it is over."""
    if isinstance(fact, ScheduleCreated):
        return Schedule(fact, fact.cadence)
    if known is None:
        return None
    if isinstance(fact, ScheduleFired):
        return msgspec.structs.replace(known, fired=known.fired + 1)
    if isinstance(fact, ScheduleTriggered):
        triggered = (*known.triggered[1 - _TRIGGERS_KEPT :], fact)
        return msgspec.structs.replace(known, triggered=triggered)
    if fact.state in ("completed", "canceled"):
        return None
    return msgspec.structs.replace(
        known, state=fact.state, cadence=fact.cadence or known.cadence, remaining=fact.remaining
    )
