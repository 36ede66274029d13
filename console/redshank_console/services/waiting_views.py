"""Shows what waits for a person: approvals, questions, the run that they hold up."""

from datetime import UTC, datetime
from typing import Any, Literal, cast

import msgspec

from redshank_console.services.principal import Principal
from redshank_shared.clock import rfc3339
from redshank_shared.domain.events import ApprovalRequested, Preview
from redshank_shared.domain.question_events import Question, QuestionAsked
from redshank_shared.stores.approvals import ApprovalRow
from redshank_shared.stores.questions import QuestionRow
from redshank_shared.wire.views import (
    DecidedItem,
    InboxItem,
    OptionView,
    PreviewView,
    QuestionItem,
    QuestionPartView,
    Reach,
    RunState,
    RunView,
    WorkstreamView,
)

_RUN_STATES: dict[str, RunState] = {
    "approval": "waiting_for_approval",
    "question": "waiting_for_user_question",
}


def may_answer(principal: Principal, owner: str) -> list[Reach]:
    """How far this person's word on an approval of this owner's may reach; empty: not at all.

    A rule for always belongs to the owner, so only they and admins can make it.
    """
    if "approve" not in principal.scopes:
        return []
    whole = principal.name == owner or "admin" in principal.scopes
    return ["once", "workstream", "always"] if whole else ["once", "workstream"]


def approval_fields(requested: ApprovalRequested, since: str) -> dict[str, Any]:
    """An approval's fields as pages and inboxes show them."""
    return {
        "request_id": requested.request_id,
        "call_id": requested.call_id,
        "tool": requested.tool,
        "input": input_of(requested.arguments),
        "preview": _preview(requested.preview),
        "input_digest": requested.input_digest,
        "pattern": requested.pattern or requested.tool,
        "requested_at": since,
        "expires_at": _moment(requested.expires_at),
    }


def question_fields(asked: QuestionAsked, since: str) -> dict[str, Any]:
    """A request's fields as pages and inboxes show them."""
    return {
        "request_id": asked.request_id,
        "call_id": asked.call_id,
        "audience": asked.audience,
        "question_id": asked.questions[0].question_id,
        "text": asked.questions[0].text,
        "questions": [_part(question) for question in asked.questions],
        "asked_at": since,
        "expires_at": _moment(asked.expires_at),
    }


def inbox_item(row: ApprovalRow, principal: Principal) -> InboxItem:
    """An approval in the inbox of this person."""
    return InboxItem(
        workstream_id=row.workstream_id,
        workstream_name=row.workstream_name,
        owner=row.owner,
        may_answer=may_answer(principal, row.owner),
        **approval_fields(row.request, row.requested_at),
    )


def decided_item(row: ApprovalRow) -> DecidedItem:
    """An approval that waits no more."""
    return DecidedItem(
        request_id=row.request.request_id,
        call_id=row.request.call_id,
        tool=row.request.tool,
        title=row.request.preview.title,
        workstream_id=row.workstream_id,
        workstream_name=row.workstream_name,
        owner=row.owner,
        requested_at=row.requested_at,
        state=cast(Literal["allowed", "denied", "cancelled"], row.state),
        resolved_at=row.resolved_at or "",
        resolved_by=row.resolved_by or "",
        scope=cast(Reach | None, row.scope or None),
        reason=row.reason or None,
    )


def question_item(row: QuestionRow, principal: Principal) -> QuestionItem:
    """A request in the inbox of this person."""
    return QuestionItem(
        workstream_id=row.workstream_id,
        workstream_name=row.workstream_name,
        owner=row.owner,
        may_answer="approve" in principal.scopes,
        **question_fields(row.request, row.asked_at),
    )


def run_view(view: WorkstreamView) -> RunView:
    """The run of a workstream: what it does now, under the workstream's own id (K-52, K-54)."""
    state: RunState = view.state
    if view.state == "waiting" and view.waiting_for:
        state = _RUN_STATES.get(view.waiting_for[0].kind, "waiting")
    return RunView(
        id=view.id,
        session_id=view.id,
        state=state,
        pending_approvals=view.pending_approvals,
        pending_questions=view.pending_questions,
        last_seq=view.last_seq,
        detail=view.detail,
        updated_at=view.updated_at,
    )


def input_of(arguments: str) -> Any:
    """A call's arguments: the object that they are, or their text where they are no JSON."""
    try:
        return msgspec.json.decode(arguments)
    except msgspec.DecodeError:
        return arguments


def _part(question: Question) -> QuestionPartView:
    return QuestionPartView(
        question_id=question.question_id,
        text=question.text,
        multi_select=question.multi_select,
        options=[
            OptionView(option_id=each.option_id, label=each.label, description=each.description)
            for each in question.options
        ],
    )


def _moment(seconds: float | None) -> str | None:
    return None if seconds is None else rfc3339(datetime.fromtimestamp(seconds, UTC))


def _preview(preview: Preview) -> PreviewView:
    return PreviewView(
        title=preview.title,
        kind=preview.kind,
        body=preview.body,
        added=preview.added,
        removed=preview.removed,
    )
