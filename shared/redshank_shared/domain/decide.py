"""Command -> facts, or a refusal that says why with the mend."""

import re
from datetime import datetime
from typing import assert_never

from redshank_shared.domain import artifacts, notifying, pinning, plan_mode, questions, scheduling
from redshank_shared.domain.commands import (
    AcceptPlan,
    AnswerQuestions,
    CancelQuestion,
    CancelTurn,
    ChangeMode,
    ChangeSchedule,
    CloseWorkstream,
    Command,
    CreateSchedule,
    EmitOutput,
    EnterPlanMode,
    ExpireApproval,
    ExpireQuestion,
    FireSchedule,
    HearWake,
    OpenPreview,
    PinFile,
    PostMessage,
    RequestCompaction,
    RequestNotification,
    Resolution,
    ResolveApprovals,
    RetryTurn,
    RevokeGrant,
    SettleNotification,
    ShowTools,
    StoreAssets,
    UnpinFile,
)
from redshank_shared.domain.digests import input_digest
from redshank_shared.domain.due_events import ScheduleChanged
from redshank_shared.domain.errors import Conflict, Invalid, NotFound
from redshank_shared.domain.events import (
    AnyFact,
    ApprovalResolved,
    CallFinished,
    CompactionRequested,
    MessagePosted,
    ModeChanged,
    TurnCancelled,
    TurnRetried,
    WorkstreamClosed,
)
from redshank_shared.domain.found_tools import newly_found
from redshank_shared.domain.plan import with_state
from redshank_shared.domain.question_events import QuestionOutcome
from redshank_shared.domain.rule_events import GrantRevoked, allowed_here
from redshank_shared.domain.tool_events import ToolsFound
from redshank_shared.domain.workstream import Call, Workstream

MAX_TEXT_CHARACTERS = 4 * 1024 * 1024
_UNSTORABLE = re.compile("[\0\ud800-\udfff]")


def decide(state: Workstream, command: Command, at: str) -> list[AnyFact]:
    """The facts that this command makes of this state, `state` last where it changes; raises
    Conflict, Invalid, NotFound.
    """
    facts = decided(state, command, at)
    return with_state(state, facts, at) if facts else []


def decided(  # noqa: C901, PLR0912, PLR0915 - one case a command, closed by assert_never
    state: Workstream, command: Command, at: str
) -> list[AnyFact]:
    """`decide` without the `state` behind: for facts that are appended with others."""
    if state.closed and not isinstance(command, CloseWorkstream | SettleNotification):
        raise Conflict(
            "this workstream is closed; fork it or create another one", code="workstream_closed"
        )
    match command:
        case PostMessage():
            facts = _post(command)
        case ResolveApprovals():
            facts = _resolve(state, command, seconds_of(at))
        case ExpireApproval():
            facts = _expire_approval(state, command)
        case AnswerQuestions() | CancelQuestion():
            _check_answers_in_time(state, command, seconds_of(at))
            facts = questions.decide(state, _storable_answers(command))
        case ExpireQuestion():
            facts = _expire_question(state, command)
        case EnterPlanMode() | AcceptPlan():
            facts = plan_mode.decide(state, command)
        case CancelTurn():
            facts = _stop(state, command.by, "cancelled by {by} before it ran")
        case CloseWorkstream():
            facts = _close(state, command)
        case RetryTurn():
            facts = _retry(state, command)
        case ChangeMode():
            facts = [] if command.mode == state.mode else [ModeChanged(command.mode, command.by)]
        case RevokeGrant():
            facts = _revoke_grant(state, command)
        case RequestCompaction():
            facts = [] if state.compact_requested else [CompactionRequested(command.by)]
        case CreateSchedule() | ChangeSchedule() | FireSchedule() | HearWake():
            facts = scheduling.decide(state, command, seconds_of(at))
        case RequestNotification() | SettleNotification():
            facts = notifying.decide(state, command)
        case PinFile() | UnpinFile():
            facts = pinning.decide(state, command)
        case StoreAssets() | OpenPreview() | EmitOutput():
            facts = artifacts.decide(command)
        case ShowTools():
            names = newly_found(state.found_tools, command.names)
            facts = [ToolsFound(names, command.call_id)] if names else []
        case _:
            assert_never(command)
    return facts


def seconds_of(at: str) -> float:
    """An RFC 3339 UTC time as seconds since 1970."""
    return datetime.fromisoformat(at).timestamp()


def checked_text(text: str, field: str) -> str:
    """The text, if it can be stored and sent; else Invalid: empty, too long, NUL, lone surrogates
    (F43).
    """
    if not text.strip():
        raise Invalid(f"{field} is empty; write something", code="empty_text", field=field)
    if len(text) > MAX_TEXT_CHARACTERS:
        raise Invalid(
            f"{field} has {len(text)} characters, at most {MAX_TEXT_CHARACTERS} are taken; "
            f"put the rest in a file",
            code="text_too_long",
            field=field,
        )
    return storable_text(text, field)


def storable_text(text: str, field: str) -> str:
    """The text, possibly empty, if it holds neither NUL nor a lone surrogate; else Invalid that
    says where.
    """
    if found := _UNSTORABLE.search(text):
        what = "a NUL" if found[0] == "\0" else "half of a surrogate pair"
        raise Invalid(
            f"{field} holds {what} at character {found.start()}; leave it out",
            code="bad_character",
            field=field,
        )
    return text


def _post(command: PostMessage) -> list[AnyFact]:
    text = checked_text(command.text, "text")
    return [MessagePosted(text, command.source, command.author, command.when == "next")]


def _resolve(state: Workstream, command: ResolveApprovals, now: float) -> list[AnyFact]:
    """All or none: one unknown, answered, expired or doubled request refuses the batch (K-53)."""
    if not command.resolutions:
        raise Invalid("resolutions is empty; name at least one request_id", field="resolutions")
    facts: list[AnyFact] = []
    seen: set[str] = set()
    for index, resolution in enumerate(command.resolutions):
        if resolution.request_id in seen:
            raise Invalid(
                f"{resolution.request_id} stands twice; answer each request once",
                code="duplicate_resolution",
                field=f"resolutions[{index}].request_id",
            )
        seen.add(resolution.request_id)
        _check_in_time(state, resolution, now, index)
        facts.extend(_resolution(state, resolution, command.by, index))
    return facts


def _check_in_time(state: Workstream, resolution: Resolution, now: float, index: int) -> None:
    """An end counts as a denial even while no clock runs to say so (O10)."""
    waiting = state.approvals.get(resolution.request_id)
    ends = waiting.requested.expires_at if waiting else None
    if resolution.behavior == "allow" and ends is not None and ends <= now:
        raise Conflict(
            f"the time of {resolution.request_id} is over, which counts as a denial; "
            "the agent may ask anew",
            code="approval_expired",
            field=f"resolutions[{index}].request_id",
        )


def _resolution(state: Workstream, resolution: Resolution, by: str, index: int) -> list[AnyFact]:
    waiting = state.approvals.get(resolution.request_id)
    if waiting is None:
        raise NotFound(
            f"{resolution.request_id} does not wait in this workstream: "
            f"it is unknown or was answered already",
            code="approval_not_waiting",
            field=f"resolutions[{index}].request_id",
        )
    call = state.calls[waiting.requested.call_id]
    canonical = call.decided.canonical if call.decided else waiting.requested.tool
    updated = storable_text(resolution.updated_arguments, f"resolutions[{index}].updated_input")
    if resolution.behavior == "deny":
        updated = ""
    resolved = ApprovalResolved(
        request_id=resolution.request_id,
        call_id=call.asked.call_id,
        behavior=resolution.behavior,
        by=by,
        scope=resolution.scope,
        reason=storable_text(resolution.reason, f"resolutions[{index}].reason"),
        justification=storable_text(
            resolution.justification, f"resolutions[{index}].justification"
        ),
        input_digest=input_digest(canonical, updated or call.arguments),
        updated_arguments=updated,
        original_digest=waiting.requested.input_digest,
    )
    if resolution.behavior == "allow":
        return [resolved]
    return [resolved, _result(call, "denied", denial(by, resolution.reason))]


def denial(by: str, reason: str) -> str:
    """What the model reads of a person's refusal, with the person's own words behind it."""
    said = f" They say: {reason}" if reason else ""
    return f"Denied by {by}; the call did not run.{said}"


def _expire_approval(state: Workstream, command: ExpireApproval) -> list[AnyFact]:
    """Nobody answered in time, so the call is denied (O10)."""
    waiting = state.approvals.get(command.request_id)
    if waiting is None or waiting.requested.expires_at is None:
        return []
    requested = waiting.requested
    resolved = ApprovalResolved(
        request_id=requested.request_id,
        call_id=requested.call_id,
        behavior="deny",
        by=command.by,
        reason="nobody answered in time",
        input_digest=requested.input_digest,
        original_digest=requested.input_digest,
    )
    call = state.calls[requested.call_id]
    said = "Denied: nobody answered in time; the call did not run. Ask again if it is still needed."
    return [resolved, _result(call, "denied", said)]


def _expire_question(state: Workstream, command: ExpireQuestion) -> list[AnyFact]:
    """A question to a user that expires cancels the run (K-54); an operator's only ends."""
    waiting = state.questions.get(command.request_id)
    if waiting is None or waiting.asked.audience == "operator":
        return questions.decide(state, command)
    if waiting.asked.expires_at is None:
        return []
    return _stop(state, command.by, questions.EXPIRED_RUN, "expired")


def _check_answers_in_time(
    state: Workstream, command: AnswerQuestions | CancelQuestion, now: float
) -> None:
    """A question ends at its time even while no clock runs to say so (K-54)."""
    if isinstance(command, CancelQuestion):
        return
    named = [each.question_id for each in command.answers]
    for waiting in state.questions.values():
        ends = waiting.asked.expires_at
        if ends is None or ends > now:
            continue
        if any(question.question_id in named for question in waiting.asked.questions):
            raise Conflict(
                f"the time of {waiting.asked.request_id} is over; send a message instead",
                code="question_expired",
                field="answers[0].question_id",
            )


def _storable_answers(
    command: AnswerQuestions | CancelQuestion,
) -> AnswerQuestions | CancelQuestion:
    if isinstance(command, AnswerQuestions):
        for index, answer in enumerate(command.answers):
            storable_text(answer.text, f"answers[{index}].text")
    return command


def _stop(
    state: Workstream, by: str, why: str, asked: QuestionOutcome = "cancelled"
) -> list[AnyFact]:
    """What waits or has not started gets its result now; what runs is stopped by the node that runs
    it.
    """
    if not (state.owes or state.open_calls or state.compact_requested or state.queued):
        return []
    facts: list[AnyFact] = [
        ApprovalResolved(request_id, waiting.requested.call_id, "cancelled", by)
        for request_id, waiting in state.approvals.items()
    ]
    facts.extend(questions.withdrawn(state.questions.values(), by, asked, why.format(by=by)))
    facts.extend(
        _result(call, "cancelled", why.format(by=by))
        for call in state.open_calls
        if call.status != "started"
    )
    return [*facts, TurnCancelled(by)]


def _close(state: Workstream, command: CloseWorkstream) -> list[AnyFact]:
    if state.closed:
        return []
    return [
        *_stop(state, command.by, "the workstream was closed by {by} before it ran"),
        *(
            ScheduleChanged(schedule_id, "canceled", command.by, detail="the workstream was closed")
            for schedule_id in state.schedules
        ),
        WorkstreamClosed(command.by),
    ]


def _revoke_grant(state: Workstream, command: RevokeGrant) -> list[AnyFact]:
    allowed = allowed_here(state.granted, state.hook_rules)
    if command.pattern not in allowed:
        given = ", ".join(allowed) or "nothing"
        raise NotFound(
            f"{command.pattern} is not allowed for this workstream; allowed are: {given}",
            code="grant_not_found",
            field="pattern",
        )
    return [GrantRevoked(command.pattern, command.by)]


def _retry(state: Workstream, command: RetryTurn) -> list[AnyFact]:
    if state.failed is None:
        raise Conflict(
            "this workstream has not failed; there is nothing to retry", code="not_failed"
        )
    return [TurnRetried(command.by)]


def _result(call: Call, outcome: str, output: str) -> CallFinished:
    return CallFinished(
        call_id=call.asked.call_id,
        tool=call.asked.tool,
        is_error=True,
        output=output,
        outcome="denied" if outcome == "denied" else "cancelled",
    )
