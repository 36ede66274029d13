"""Works out what the log of a fork begins with."""

from collections.abc import Callable, Sequence

import msgspec

from redshank_shared.domain.due_events import (
    ScheduleChanged,
    ScheduleCreated,
    ScheduleFired,
    ScheduleTriggered,
)
from redshank_shared.domain.errors import Invalid
from redshank_shared.domain.events import (
    AnyFact,
    ApprovalRequested,
    ApprovalResolved,
    CallFinished,
    CallInterrupted,
    Mode,
    ModeChanged,
    Recorded,
    StateChanged,
    TurnCancelled,
    WorkstreamClosed,
    WorkstreamCreated,
)
from redshank_shared.domain.ids import WorkstreamId
from redshank_shared.domain.plan import number
from redshank_shared.domain.question_events import QuestionAnswered, QuestionAsked
from redshank_shared.domain.questions import renamed, withdrawn
from redshank_shared.domain.rule_events import GrantRevoked, allowed_here
from redshank_shared.domain.workstream import Workstream, fold


def checked_after(after: int, last_seq: int) -> int:
    """The sequence number, if it stands in the log; else Invalid."""
    if not 1 <= after <= last_seq:
        raise Invalid(
            f"after must be a sequence number of this log, 1 to {last_seq}", field="after"
        )
    return after


def mode_at_end(log: Sequence[Recorded]) -> Mode:
    """The mode that counts behind the last of these facts."""
    facts = [recorded.fact for recorded in log]
    return [fact.mode for fact in facts if isinstance(fact, WorkstreamCreated | ModeChanged)][-1]


def forked_facts(
    log: Sequence[Recorded],
    origin: WorkstreamId,
    by: str,
    at: str,
    new_request_id: Callable[[], str],
) -> list[AnyFact]:
    """The facts of `log` in the same places, then what brings the fork to rest: it waits for
    words.

    Calls that are open at its end are closed as cancelled. What people and hooks allowed for the
    workstream was for that one: the fork asks again (T-14). Requests get ids of their own, so that
    an answer to one log never counts in the other. A log that was closed is open again.
    """
    first = log[0].fact
    assert isinstance(first, WorkstreamCreated)
    created = msgspec.structs.replace(
        first, owner=by, forked_from=str(origin), forked_at=log[-1].seq
    )
    request_ids: dict[str, str] = {}
    facts: list[AnyFact] = [created]
    for recorded in log[1:]:
        facts.append(_unsealed(_copied(recorded.fact, request_ids, new_request_id)))
    return [*facts, *_at_rest(fold(origin, number(0, at, facts)), by)]


def _copied(
    fact: AnyFact, request_ids: dict[str, str], new_request_id: Callable[[], str]
) -> AnyFact:
    if isinstance(fact, ApprovalRequested | QuestionAsked):
        request_ids[fact.request_id] = new_request_id()
        return _asked_anew(fact, request_ids[fact.request_id])
    if isinstance(fact, ApprovalResolved | QuestionAnswered):
        return msgspec.structs.replace(fact, request_id=request_ids[fact.request_id])
    if isinstance(fact, ScheduleCreated):
        request_ids[fact.schedule_id] = new_request_id()
    if isinstance(fact, ScheduleCreated | ScheduleChanged | ScheduleFired):
        return msgspec.structs.replace(fact, schedule_id=request_ids[fact.schedule_id])
    if isinstance(fact, ScheduleTriggered):
        # Keeps the place: a run belongs to the log where it was asked for.
        return StateChanged("running")
    if isinstance(fact, WorkstreamClosed) or fact == StateChanged("closed"):
        # Keeps the place, so that every later fact keeps its number.
        return StateChanged("idle")
    return fact


def _unsealed(fact: AnyFact) -> AnyFact:
    """What the origin did stands in the origin's ledger: a fork begins one of its own."""
    if isinstance(fact, CallFinished | CallInterrupted) and fact.ledger is not None:
        return msgspec.structs.replace(fact, ledger=None)
    return fact


def _asked_anew(
    fact: ApprovalRequested | QuestionAsked, request_id: str
) -> ApprovalRequested | QuestionAsked:
    if isinstance(fact, QuestionAsked):
        return renamed(fact, request_id)
    return msgspec.structs.replace(fact, request_id=request_id)


def _at_rest(state: Workstream, by: str) -> list[AnyFact]:
    why = f"cancelled: {by} forked the workstream before this had ended"
    facts: list[AnyFact] = [
        ApprovalResolved(request_id, waiting.requested.call_id, "cancelled", by)
        for request_id, waiting in state.approvals.items()
    ]
    facts.extend(withdrawn(state.questions.values(), by, "cancelled", why))
    facts.extend(
        CallFinished(call.asked.call_id, call.asked.tool, True, why, "cancelled")
        for call in state.open_calls
    )
    facts.extend(
        ScheduleChanged(schedule_id, "canceled", by, detail="a fork takes no schedule along")
        for schedule_id in state.schedules
    )
    if facts or state.owes or state.compact_requested:
        facts.append(TurnCancelled(by))
    if state.queued:
        # The first one only takes up what was queued.
        facts.append(TurnCancelled(by))
    allowed = allowed_here(state.granted, state.hook_rules)
    facts.extend(GrantRevoked(pattern, by) for pattern in allowed)
    return facts
