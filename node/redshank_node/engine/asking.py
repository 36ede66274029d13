"""Puts calls before people: approvals with their end, questions in place of calls."""

from collections.abc import Callable

import msgspec

from redshank_node.tools.tool import Prepared, Tool
from redshank_shared import clock
from redshank_shared.domain.bindings import SCHEMA
from redshank_shared.domain.events import ApprovalRequested, CallDecided, CallFinished
from redshank_shared.domain.plan_mode import NOT_PLANNING
from redshank_shared.domain.question_events import Inquiry, QuestionAsked
from redshank_shared.domain.workstream import Call, Workstream
from redshank_shared.settings.sections import Settings

_OPERATOR_OFF = (
    "questions to an operator are not enabled here: the operator sets operator.enabled and "
    "operator.allow_questions; go on without, or ask in your answer"
)
_CHILD = (
    "a workstream with a parent neither asks people nor plans with them: say in your answer what "
    "is unclear or what you would do, the parent reads it"
)
_PAST = "expires_at_ms is in the past; give a time to come, or expires_after_ms"
_CHANGED = {
    "_folder": "the working folder",
    SCHEMA: "the tool's description",
    "_base_sha256": "the file",
}


class Asking(msgspec.Struct, frozen=True):
    """What the operator allows. `expires_seconds`: how long an approval waits, 0 for ever (O10);
    `redact` keeps secrets that stand in files out of what is shown before a call runs (F12).
    """

    expires_seconds: float = 0.0
    operator_questions: bool = False
    now_ms: Callable[[], int] = clock.now_ms
    redact: Callable[[str], str] = str

    def objection(self, state: Workstream, tool: Tool, prepared: Prepared) -> str:
        """Why this call may not be put before a person at all, in words for the model, or empty
        (K-19, K-21).
        """
        if tool.top_level and state.created.parent:
            return _CHILD
        if tool.modes and state.mode not in tool.modes:
            return NOT_PLANNING
        asked = prepared.inquiry
        if asked is not None and asked.audience == "operator" and not self.operator_questions:
            return _OPERATOR_OFF
        return ""

    def approval(
        self, request_id: str, call: Call, decided: CallDecided, prepared: Prepared, bound: str
    ) -> ApprovalRequested:
        """The request that a person answers."""
        expires_at = None
        if self.expires_seconds:
            expires_at = self.now_ms() / 1000 + self.expires_seconds
        label = f":{prepared.label}" if prepared.label else ""
        shown = prepared.preview
        return ApprovalRequested(
            request_id=request_id,
            call_id=call.asked.call_id,
            tool=call.asked.tool,
            arguments=call.arguments,
            input_digest=decided.input_digest,
            preview=msgspec.structs.replace(
                shown, title=self.redact(shown.title), body=self.redact(shown.body)
            ),
            bound=bound,
            pattern=f"{decided.canonical}{label}",
            expires_at=expires_at,
        )

    def question(
        self, request_id: str, call: Call, inquiry: Inquiry
    ) -> QuestionAsked | CallFinished:
        """The question that stands in place of the call, or its result where its time is over."""
        now_ms = self.now_ms()
        if 0 < inquiry.expires_at_ms <= now_ms:
            asked = call.asked
            return CallFinished(asked.call_id, asked.tool, True, _PAST, "refused")
        ends_ms = inquiry.expires_at_ms
        if inquiry.expires_after_ms:
            ends_ms = now_ms + inquiry.expires_after_ms
        questions = tuple(
            msgspec.structs.replace(each, question_id=f"{request_id}.{each.question_id}")
            for each in inquiry.questions
        )
        return QuestionAsked(
            request_id=request_id,
            call_id=call.asked.call_id,
            audience=inquiry.audience,
            questions=questions,
            expires_at=ends_ms / 1000 if ends_ms else None,
        )


USUAL = Asking()


def asking_as(settings: Settings, redact: Callable[[str], str]) -> Asking:
    """What these settings allow (K-19, O10)."""
    operator = settings.operator
    return Asking(
        settings.approvals.expires_seconds,
        operator.enabled and operator.allow_questions,
        redact=redact,
    )


def bound_of(tool: Tool, prepared: Prepared, folder: str) -> str:
    """What must still hold when an approved call runs (JSON text): the working folder, what its
    preview was made from, the schema of a tool that somebody else describes (F51).
    """
    looked_at = {key: value for key, value in prepared.arguments.items() if key.startswith("_")}
    if tool.effect in ("read", "write", "process"):
        looked_at["_folder"] = folder
    if tool.described:
        looked_at[SCHEMA] = tool.described
    return msgspec.json.encode(looked_at, order="sorted").decode()


def changed_since(bound: str, now: str) -> str:
    """Why a call that a person approved may not run, in words for the model; empty where all that
    it was bound to holds.
    """
    before, after = (msgspec.json.decode(text, type=dict[str, object]) for text in (bound, now))
    changed = [key for key, value in before.items() if after.get(key) != value]
    if not changed:
        return ""
    named = " and ".join(_CHANGED.get(key, "what it would act on") for key in changed)
    return (
        f"not run: {named} has changed since a person approved it; look at it again, then ask again"
    )
