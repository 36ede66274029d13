"""The fold: a workstream's state as what its log says."""

from collections.abc import Iterable
from typing import assert_never

import msgspec

from redshank_shared.domain.artifact_events import AssetsStored, OutputEmitted, PreviewOpened
from redshank_shared.domain.artifacts import with_preview
from redshank_shared.domain.bindings import without_input
from redshank_shared.domain.delivered import Delivered
from redshank_shared.domain.due_events import (
    NotificationRequested,
    NotificationSettled,
    ScheduleChanged,
    ScheduleCreated,
    ScheduleFired,
    ScheduleTriggered,
)
from redshank_shared.domain.events import (
    AnyFact,
    ApprovalRequested,
    ApprovalResolved,
    AskedCall,
    CallDecided,
    CallFinished,
    CallInterrupted,
    CallStarted,
    CompactionRequested,
    ContextCompacted,
    MessageAnswered,
    MessagePosted,
    Mode,
    ModeChanged,
    Recorded,
    StateChanged,
    TokensUsed,
    TurnCancelled,
    TurnFailed,
    TurnRetried,
    TurnStarted,
    Unknown,
    WorkstreamClosed,
    WorkstreamCreated,
)
from redshank_shared.domain.found_tools import with_found, without_blocks
from redshank_shared.domain.ids import WorkstreamId
from redshank_shared.domain.ledger_seal import ChainEnd, chained
from redshank_shared.domain.lifecycle import CallStatus, next_status
from redshank_shared.domain.pin_events import FilePinned, FileUnpinned
from redshank_shared.domain.pins import Pins, repinned, rewritten, told
from redshank_shared.domain.question_events import PlanAccepted, QuestionAnswered, QuestionAsked
from redshank_shared.domain.rule_events import (
    GrantRevoked,
    RulesUpdated,
    SessionRule,
    updated_rules,
    without_grant,
)
from redshank_shared.domain.schedule_state import Schedule, with_rescheduled, with_run
from redshank_shared.domain.seen_files import remembered
from redshank_shared.domain.tool_events import ToolsFound
from redshank_shared.domain.unanswered import Unanswered, unanswered

# What a turn counts, at its beginning.
_BEGUN: dict[str, object] = {"calls_in_turn": 0, "delivered": Delivered(), "notices_in_turn": 0}


class Call(msgspec.Struct, frozen=True):
    """One call of the batch in hand. `arguments` are those that count: the model's, or a person's
    edit.

    `bound` (JSON text) is what must still hold when an approved call runs; empty where nothing
    must. `allowed_by`: who allowed it, where a person did.
    """

    asked: AskedCall
    arguments: str
    status: CallStatus = "asked"
    decided: CallDecided | None = None
    started: CallStarted | None = None
    started_seq: int = 0
    bound: str = ""
    allowed_by: str = ""


class Waiting(msgspec.Struct, frozen=True):
    """An approval that nobody has answered yet, since when."""

    requested: ApprovalRequested
    since: str


class Workstream(msgspec.Struct, frozen=True):
    """The state after `version` facts. Never changed in place: `advance` gives the next one.

    `entries` is what was said and done, in the order in which a model may read it; `owes` whether
    an answer is due;
    `mode_before` the mode that the present one followed;
    `queued` what is read when the turn in hand has ended; `calls` the last batch by call id, in its
    order;
    `schedules` what will be due, by id; `watch_streak` how many watches in a row spoke without a
    person between; `runs` the last runs that spoke; `untold` the notifications on their way;
    `seen` the digests of files as they were last read or written here, by path; `found_tools` what
    searches have found (T-62);
    `stopping` that a person stopped the turn while calls were running; `cancelled_at` the number of
    the last such word.
    """

    id: WorkstreamId
    version: int = 0
    created: WorkstreamCreated = WorkstreamCreated(name="", owner="")
    created_at: str = ""
    updated_at: str = ""
    mode: Mode = "default"
    mode_before: Mode = "default"
    entries: tuple[Recorded, ...] = ()
    queued: tuple[Recorded, ...] = ()
    calls: dict[str, Call] = {}
    approvals: dict[str, Waiting] = {}
    questions: dict[str, Unanswered] = {}
    granted: tuple[str, ...] = ()
    last_posted: int = 0
    owes: bool = False
    stopping: bool = False
    cancelled_at: int = 0
    closed: bool = False
    failed: TurnFailed | None = None
    shown: StateChanged | None = None
    turn: TurnStarted | None = None
    calls_in_turn: int = 0
    delivered: Delivered = Delivered()
    hook_rules: tuple[SessionRule, ...] = ()
    compact_requested: bool = False
    input_tokens: int = 0
    output_tokens: int = 0
    call_count: int = 0
    title: str = ""
    schedules: dict[str, Schedule] = {}
    watch_streak: int = 0
    runs: tuple[str, ...] = ()
    untold: dict[str, NotificationRequested] = {}
    notices_in_turn: int = 0
    ledger: ChainEnd = ChainEnd()
    pins: Pins = Pins()
    seen: dict[str, str] = {}
    previews: tuple[Recorded, ...] = ()
    found_tools: dict[str, bool] = {}

    @property
    def open_calls(self) -> list[Call]:
        """The calls of the batch in hand that have no result yet, in order."""
        return [call for call in self.calls.values() if call.status != "done"]


def fold(workstream_id: WorkstreamId, log: Iterable[Recorded]) -> Workstream:
    """The state that a whole log says, from its beginning."""
    return advance(Workstream(id=workstream_id), log)


def advance(state: Workstream, newer: Iterable[Recorded]) -> Workstream:
    """The state after these further facts; what an unknown fact says is passed over, its number is
    counted.
    """
    for recorded in newer:
        changes = _changes(state, recorded, recorded.fact)
        if recorded.seq == 1:
            changes["created_at"] = recorded.at
        state = msgspec.structs.replace(
            state, version=recorded.seq, updated_at=recorded.at, **changes
        )
    return state


def _changes(  # noqa: C901, PLR0911, PLR0912 - one case a fact, closed by assert_never
    state: Workstream, recorded: Recorded, fact: AnyFact
) -> dict[str, object]:
    """The fields that one fact changes."""
    match fact:
        case MessagePosted() | MessageAnswered():
            return _said(state, recorded, fact)
        case CallDecided() | CallStarted():
            return _called(state, recorded, fact)
        case CallFinished() | CallInterrupted():
            return {**_called(state, recorded, fact), **chained(fact.ledger)}
        case ApprovalRequested() | ApprovalResolved():
            return _asked_a_person(state, recorded, fact)
        case TurnStarted() | TurnCancelled() | TurnFailed() | TurnRetried() | StateChanged():
            return _turned(state, recorded.seq, fact)
        case WorkstreamCreated():
            return {"created": fact, "mode": fact.mode}
        case WorkstreamClosed():
            return {"closed": True, "owes": False, "queued": (), "stopping": bool(state.open_calls)}
        case ModeChanged():
            return {"mode": fact.mode, "mode_before": state.mode}
        case QuestionAsked() | QuestionAnswered():
            open_calls = [call.asked.call_id for call in state.open_calls]
            return {"questions": unanswered(state.questions, recorded.at, fact, open_calls)}
        case NotificationRequested():
            told = {**state.untold, fact.delivery_id: fact}
            return {"untold": told, "notices_in_turn": state.notices_in_turn + 1}
        case NotificationSettled():
            rest = {key: one for key, one in state.untold.items() if key != fact.delivery_id}
            return {"untold": rest}
        case ScheduleCreated() | ScheduleChanged() | ScheduleTriggered() | ScheduleFired():
            runs = with_run(state.runs, fact)
            return {"schedules": with_rescheduled(state.schedules, fact), "runs": runs}
        case TokensUsed():
            return {
                "input_tokens": state.input_tokens + fact.input_tokens,
                "output_tokens": state.output_tokens + fact.output_tokens,
            }
        case RulesUpdated():
            return {"hook_rules": updated_rules(state.hook_rules, fact.rules)}
        case GrantRevoked():
            return without_grant(state.granted, state.hook_rules, fact.pattern)
        case CompactionRequested():
            return {"compact_requested": True}
        case ContextCompacted():
            return _shortened(state, recorded, fact)
        case FilePinned() | FileUnpinned():
            return {"pins": repinned(state.pins, fact)}
        case ToolsFound():
            return {"found_tools": with_found(state.found_tools, fact)}
        case PreviewOpened():
            return {"previews": with_preview(state.previews, recorded)}
        case OutputEmitted():
            return _ended(state) if fact.final else {}
        case Unknown() | PlanAccepted() | AssetsStored():
            return {}
        case _:
            assert_never(fact)


def _said(
    state: Workstream, recorded: Recorded, fact: MessagePosted | MessageAnswered
) -> dict[str, object]:
    if isinstance(fact, MessagePosted):
        changes: dict[str, object] = {"failed": None, "title": state.title or _title(fact.text)}
        if fact.source == "user":
            changes["watch_streak"] = 0
        elif fact.source == "watch":
            changes["watch_streak"] = state.watch_streak + 1
        if fact.queued and state.owes:
            return {**changes, "queued": (*state.queued, recorded)}
        return {
            **changes,
            "entries": (*state.entries, recorded),
            "last_posted": recorded.seq,
            "owes": True,
        }
    owes = bool(fact.calls) or state.last_posted > fact.read
    changes = {
        "entries": (*state.entries, recorded),
        "calls": {asked.call_id: Call(asked, asked.arguments) for asked in fact.calls},
        "call_count": state.call_count + len(fact.calls),
        "calls_in_turn": state.calls_in_turn + len(fact.calls) if fact.calls else 0,
        "delivered": state.delivered if fact.calls else Delivered(),
        "notices_in_turn": state.notices_in_turn if fact.calls else 0,
        "owes": owes,
        "pins": told(state.pins),
    }
    return changes if owes else {**changes, **_promoted(state, (*state.entries, recorded))}


def _shortened(state: Workstream, recorded: Recorded, fact: ContextCompacted) -> dict[str, object]:
    """The summary, then what it does not cover; what is queued was not read, so it stays."""
    uncovered = (entry for entry in state.entries if entry.seq > fact.through)
    return {
        "compact_requested": False,
        "entries": (recorded, *uncovered),
        "found_tools": without_blocks(state.found_tools),
    }


def _promoted(state: Workstream, entries: tuple[Recorded, ...]) -> dict[str, object]:
    """The turn in hand has ended: what was queued for then is read now."""
    if not state.queued:
        return {"owes": False}
    return {
        "entries": entries + state.queued,
        "queued": (),
        "last_posted": state.queued[-1].seq,
        "owes": True,
    }


def _ended(state: Workstream) -> dict[str, object]:
    """The turn ends as the batch in hand does, but where somebody spoke meanwhile (C-9)."""
    answers = [each.fact.read for each in state.entries if isinstance(each.fact, MessageAnswered)]
    if state.last_posted > max(answers, default=0):
        return {}
    return {**_BEGUN, **_promoted(state, state.entries)}


def _called(
    state: Workstream,
    recorded: Recorded,
    fact: CallDecided | CallStarted | CallFinished | CallInterrupted,
) -> dict[str, object]:
    call = state.calls.get(fact.call_id)
    step = f"decided:{fact.decision}" if isinstance(fact, CallDecided) else _kind(fact)
    status = next_status(call.status, step) if call else None
    if call is None or status is None:
        return {}
    if isinstance(fact, CallDecided):
        call = msgspec.structs.replace(call, status=status, decided=fact)
    elif isinstance(fact, CallStarted):
        call = msgspec.structs.replace(call, status=status, started=fact, started_seq=recorded.seq)
    else:
        call = msgspec.structs.replace(call, status=status)
    calls = {**state.calls, fact.call_id: call}
    if status != "done":
        return {"calls": calls}
    changes: dict[str, object] = {"calls": calls, "entries": (*state.entries, recorded)}
    if isinstance(fact, CallFinished):
        changes["delivered"] = state.delivered.plus(fact.output)
        if fact.seen:
            changes["seen"] = remembered(state.seen, fact.seen)
        if call.started is not None and call.started.effect == "write" and not fact.is_error:
            changes["pins"] = rewritten(state.pins, call.arguments, fact.seen)
    if state.stopping and all(other.status == "done" for other in calls.values()):
        changes["stopping"] = False
    return changes


def _asked_a_person(
    state: Workstream, recorded: Recorded, fact: ApprovalRequested | ApprovalResolved
) -> dict[str, object]:
    call = state.calls.get(fact.call_id)
    if isinstance(fact, ApprovalRequested):
        status = next_status(call.status, "approval.requested") if call else None
        if call is None or status is None:
            return {}
        call = msgspec.structs.replace(call, status=status, bound=fact.bound)
        return {
            "approvals": {**state.approvals, fact.request_id: Waiting(fact, recorded.at)},
            "calls": {**state.calls, fact.call_id: call},
        }
    approvals = {key: waiting for key, waiting in state.approvals.items() if key != fact.request_id}
    answer = "edited" if fact.behavior == "allow" and fact.updated_arguments else fact.behavior
    status = next_status(call.status, f"resolved:{answer}") if call else None
    if call is None or status is None:
        return {"approvals": approvals}
    call = msgspec.structs.replace(call, status=status, allowed_by=fact.by)
    if status == "edited":
        bound = without_input(call.bound)
        call = msgspec.structs.replace(call, arguments=fact.updated_arguments, bound=bound)
    changes: dict[str, object] = {
        "approvals": approvals,
        "calls": {**state.calls, fact.call_id: call},
    }
    if fact.behavior == "allow" and fact.scope == "workstream" and call.decided:
        waited = state.approvals.get(fact.request_id)
        pattern = waited.requested.pattern if waited else ""
        changes["granted"] = (*state.granted, pattern or call.decided.canonical)
    return changes


def _turned(
    state: Workstream,
    seq: int,
    fact: TurnStarted | TurnCancelled | TurnFailed | TurnRetried | StateChanged,
) -> dict[str, object]:
    match fact:
        case TurnStarted():
            return {"turn": fact}
        case TurnCancelled():
            changes = _promoted(state, state.entries)
            return {
                **changes,
                "failed": None,
                "stopping": bool(state.open_calls),
                "cancelled_at": seq,
                "compact_requested": False,
                **_BEGUN,
            }
        case TurnFailed():
            return {"failed": fact}
        case TurnRetried():
            return {"failed": None}
        case StateChanged():
            return {"shown": fact}
        case _:
            assert_never(fact)


def _kind(fact: CallStarted | CallFinished | CallInterrupted) -> str:
    return str(fact.__struct_config__.tag)


def _title(text: str) -> str:
    """The first line of the first message, as a list shows it."""
    first = text.strip().split("\n", 1)[0].strip()
    return first if len(first) <= 80 else first[:79] + "…"
