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


def rescheduled(
    known: Schedule | None,
    fact: ScheduleCreated | ScheduleChanged | ScheduleTriggered | ScheduleFired,
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
