"""What a hook is asked, what it may answer: the words that go over its standard input or HTTP."""

from typing import Literal

import msgspec

from redshank_shared.domain.errors import RedshankError
from redshank_shared.domain.events import Decision, Effect, Mode
from redshank_shared.permissions.hook_answers import (
    Behavior,
    HookAnswer,
    checked_updates,
)
from redshank_shared.permissions.rules import Rule, Scope
from redshank_shared.settings.hooks import Hook, HookEvent

MOST_ANSWER_BYTES = 64 * 1024


class HookFailed(Exception):
    """A hook gave no answer that counts. `final`: another attempt would end the same."""

    def __init__(self, detail: str, *, final: bool = False) -> None:
        super().__init__(detail)
        self.detail = detail
        self.final = final


class HookQuestion(msgspec.Struct, frozen=True):
    """A call before its decision is final. `input` is the call's arguments as JSON;
    `idempotency_key` is the same whenever the same call with the same input is asked about.
    """

    event: HookEvent
    hook: str
    idempotency_key: str
    workstream_id: str
    owner: str
    call_id: str
    tool: str
    canonical: str
    effect: Effect
    input: msgspec.Raw
    input_digest: str
    decision: Decision
    base_decision: Decision
    mode: Mode
    pattern: str
    scope: str
    why: str
    workspace: str


class _Update(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    pattern: str
    decision: Decision
    scope: Scope = "session"


class _Reply(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    behavior: Behavior
    reason: str = ""
    rule_updates: tuple[_Update, ...] = ()


_decode = msgspec.json.Decoder(_Reply).decode
_MOST_REASON_CHARACTERS = 2000


def answer_of(hook: Hook, data: bytes) -> HookAnswer:
    """What the hook said; HookFailed where it is rubbish, or asks for rules that no hook may make:
    then none of it counts (K-43).
    """
    try:
        reply = _decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise HookFailed(f"its answer is not as agreed: {error}") from error
    updates = [Rule(update.pattern, update.decision, update.scope) for update in reply.rule_updates]
    try:
        checked = checked_updates(updates, denied=hook.event == "permission_denied")
    except RedshankError as refusal:
        raise HookFailed(refusal.detail, final=True) from refusal
    return HookAnswer(
        hook=hook.name,
        behavior=reply.behavior,
        policy=hook.failure_policy,
        reason=_storable(reply.reason)[:_MOST_REASON_CHARACTERS],
        rule_updates=checked,
    )


def failed_answer(hook: Hook, detail: str) -> HookAnswer:
    """What counts where a hook failed: its policy alone."""
    said = _storable(detail)[:_MOST_REASON_CHARACTERS]
    return HookAnswer(hook.name, failed=True, policy=hook.failure_policy, reason=said)


def event_on(decision: Decision) -> HookEvent | Literal[""]:
    """Which hooks are asked about a call of this decision; none where it is allowed (K-41)."""
    match decision:
        case "ask":
            return "permission_request"
        case "deny":
            return "permission_denied"
        case _:
            return ""


def _storable(text: str) -> str:
    return text.encode(errors="replace").decode().replace("\0", "\N{REPLACEMENT CHARACTER}")
