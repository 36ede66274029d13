"""Facts of a workstream's log: frozen, past tense, told apart by their kind.

An event's `kind` and its fields are the public contract: a stream's `data` is `seq, kind, at` and
these fields.
A kind that this version does not know is carried as `Unknown` and never breaks a fold.
"""

import contextlib
from collections.abc import Iterable
from typing import Any, Literal, get_args

import msgspec

from redshank_shared.domain.artifact_events import AssetsStored, OutputEmitted, PreviewOpened
from redshank_shared.domain.delegation import UNBOUNDED, Boundary
from redshank_shared.domain.due_events import (
    NotificationRequested,
    NotificationSettled,
    ScheduleChanged,
    ScheduleCreated,
    ScheduleFired,
    ScheduleTriggered,
)
from redshank_shared.domain.fact import Fact
from redshank_shared.domain.images import KeptImage
from redshank_shared.domain.ledger_seal import Seal
from redshank_shared.domain.pin_events import FilePinned, FileUnpinned
from redshank_shared.domain.question_events import PlanAccepted, QuestionAnswered, QuestionAsked
from redshank_shared.domain.rule_events import GrantRevoked, RulesUpdated
from redshank_shared.domain.seen_files import SeenFile
from redshank_shared.domain.terms import Effect as Effect
from redshank_shared.domain.terms import Mode as Mode
from redshank_shared.domain.tool_events import ToolsFound

Source = Literal["user", "watch", "wake", "agent", "channel", "engine"]
When = Literal["next", "steer"]
Decision = Literal["allow", "ask", "deny"]
Outcome = Literal["ok", "error", "denied", "refused", "timeout", "cancelled"]
RestState = Literal["idle", "running", "waiting", "failed", "closed"]
WaitKind = Literal["approval", "question", "child", "wake", "budget", "queue", "model", "mcp"]

MODES: tuple[Mode, ...] = get_args(Mode)


class WaitFor(msgspec.Struct, frozen=True):
    """Why a workstream stands still, and since when (RFC 3339 UTC)."""

    kind: WaitKind
    since: str
    detail: str = ""


class AskedCall(msgspec.Struct, frozen=True):
    """One tool call as the model asked for it. `arguments` is the JSON text as it came;
    `provider_id` the model's own id.
    """

    call_id: str
    tool: str
    arguments: str = "{}"
    provider_id: str = ""


class Preview(msgspec.Struct, frozen=True):
    """What a person sees before deciding: a one-line header and a body in the form its `kind`
    names.
    """

    title: str
    kind: Literal["command", "diff", "text", "json"] = "text"
    body: str = ""
    added: int = 0
    removed: int = 0


class WorkstreamCreated(Fact, frozen=True, tag="workstream.created"):
    name: str
    owner: str
    profile: str = "default"
    persona: str = ""
    mode: Mode = "default"
    model: str = ""
    labels: tuple[str, ...] = ()
    node: str = ""
    parent: str = ""
    forked_from: str = ""
    forked_at: int = 0
    boundary: Boundary = UNBOUNDED


class MessagePosted(Fact, frozen=True, tag="message.user"):
    """A person, a watch or another source spoke. `queued`: read when the turn in hand has ended."""

    text: str
    source: Source = "user"
    author: str = ""
    queued: bool = False


class TurnStarted(Fact, frozen=True, tag="turn.started"):
    """A node took the workstream up under this lease epoch."""

    node: str
    epoch: int


class MessageAnswered(Fact, frozen=True, tag="message.assistant"):
    """One answer of the model. `opaque` holds a provider's own blocks (JSON text) that must go back
    unchanged.

    `read` is the sequence number up to which the model had read: what came later is still unread.
    """

    read: int = 0
    text: str = ""
    calls: tuple[AskedCall, ...] = ()
    reasoning: str = ""
    model: str = ""
    finish: str = ""
    opaque: str = ""


class TokensUsed(Fact, frozen=True, tag="usage"):
    model: str
    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0


class CallDecided(Fact, frozen=True, tag="call.decided"):
    """What the pipeline decided on a call, and why: the permission audit. `refused` calls never
    reach a rule. `hook` is the one that settled it, with its reason.
    """

    call_id: str
    tool: str
    canonical: str
    effect: Effect
    decision: Decision
    base_decision: Decision
    effective_mode: Mode
    pattern: str
    scope: str
    origin: str
    why: str
    input_digest: str
    parallel: bool = False
    mode_effect: str = ""
    hook: str = ""
    hook_reason: str = ""


class ApprovalRequested(Fact, frozen=True, tag="approval.requested"):
    """A call waits for a person. `bound` (JSON text) is what must still hold when it runs (F51).

    `pattern` is the rule that "for this workstream" or "always" would make; `expires_at` is in
    seconds since 1970, None for never (O10).
    """

    request_id: str
    call_id: str
    tool: str
    arguments: str
    input_digest: str
    preview: Preview
    bound: str = "{}"
    pattern: str = ""
    expires_at: float | None = None


class ApprovalResolved(Fact, frozen=True, tag="approval.resolved"):
    """A person allowed or denied; `cancelled` when the workstream was stopped or closed first.

    `updated_arguments` (JSON text) stands where the person edited the input: it is validated and
    decided anew. `original_digest` is of the input as asked, `input_digest` of what may run (O11).
    """

    request_id: str
    call_id: str
    behavior: Literal["allow", "deny", "cancelled"]
    by: str
    scope: Literal["once", "workstream", "always"] = "once"
    reason: str = ""
    justification: str = ""
    input_digest: str = ""
    updated_arguments: str = ""
    original_digest: str = ""


class CallStarted(Fact, frozen=True, tag="call.started"):
    """Committed before the effect: from here on the outcome is unknown until it is recorded."""

    call_id: str
    tool: str
    effect: Effect
    node: str
    epoch: int


class CallFinished(Fact, frozen=True, tag="call.finished"):
    """`asset`: the digest under which the whole of an oversize output is kept (O8); `images`: what
    a model that sees is shown beside the output (T-22); `seen` the files that it read or left so.
    """

    call_id: str
    tool: str
    is_error: bool
    output: str
    outcome: Outcome
    duration_ms: int = 0
    truncated: bool = False
    ledger: Seal | None = None
    asset: str = ""
    images: tuple[KeptImage, ...] = ()
    seen: tuple[SeenFile, ...] = ()


class CallInterrupted(Fact, frozen=True, tag="call.interrupted"):
    """The node stopped while this ran: outcome unknown, not run again."""

    call_id: str
    tool: str
    node: str
    output: str
    is_error: bool = True
    ledger: Seal | None = None


class StateChanged(Fact, frozen=True, tag="state"):
    state: RestState
    waiting_for: tuple[WaitFor, ...] = ()
    detail: str = ""


class TurnCancelled(Fact, frozen=True, tag="turn.cancelled"):
    by: str


class TurnFailed(Fact, frozen=True, tag="turn.failed"):
    """The turn cannot go on by itself; `detail` says the mend. A new message or a retry takes it up
    again.
    """

    code: str
    detail: str


class TurnRetried(Fact, frozen=True, tag="turn.retried"):
    by: str


class ModeChanged(Fact, frozen=True, tag="mode.changed"):
    mode: Mode
    by: str


class CompactionRequested(Fact, frozen=True, tag="compaction.requested"):
    by: str


class ContextCompacted(Fact, frozen=True, tag="context.compacted"):
    """The model reads `summary` in place of everything up to and with sequence number `through`."""

    through: int
    summary: str


class WorkstreamClosed(Fact, frozen=True, tag="workstream.closed"):
    by: str


class Unknown(msgspec.Struct, frozen=True):
    """A fact of a newer version: kept as it came, passed over by every fold."""

    kind: str
    data: dict[str, Any]


KnownFact = (
    WorkstreamCreated
    | MessagePosted
    | TurnStarted
    | MessageAnswered
    | TokensUsed
    | CallDecided
    | ApprovalRequested
    | ApprovalResolved
    | CallStarted
    | CallFinished
    | CallInterrupted
    | StateChanged
    | TurnCancelled
    | TurnFailed
    | TurnRetried
    | ModeChanged
    | CompactionRequested
    | ContextCompacted
    | WorkstreamClosed
    | ScheduleCreated
    | ScheduleChanged
    | ScheduleTriggered
    | ScheduleFired
    | NotificationRequested
    | NotificationSettled
    | RulesUpdated
    | GrantRevoked
    | QuestionAsked
    | QuestionAnswered
    | PlanAccepted
    | FilePinned
    | FileUnpinned
    | AssetsStored
    | PreviewOpened
    | OutputEmitted
    | ToolsFound
)
AnyFact = KnownFact | Unknown


class Recorded(msgspec.Struct, frozen=True):
    """A fact in its place: sequence number in the workstream's log, time (RFC 3339 UTC,
    milliseconds).
    """

    seq: int
    at: str
    fact: AnyFact


_KINDS: dict[str, type[KnownFact]] = {
    str(fact.__struct_config__.tag): fact for fact in get_args(KnownFact)
}
_decoders: dict[str, msgspec.json.Decoder[KnownFact]] = {
    kind: msgspec.json.Decoder(fact) for kind, fact in _KINDS.items()
}
_encoder = msgspec.json.Encoder()


def kind_of(fact: AnyFact) -> str:
    """The kind under which a fact stands in the log."""
    return fact.kind if isinstance(fact, Unknown) else str(fact.__struct_config__.tag)


_COMES_DUE = (ScheduleCreated, ScheduleChanged, ScheduleTriggered, NotificationRequested)


def comes_due(facts: Iterable[AnyFact]) -> bool:
    """Whether these facts may make something due earlier than before."""
    return any(isinstance(fact, _COMES_DUE) for fact in facts)


def encode(fact: AnyFact) -> str:
    """A fact as the JSON text that the log stores: its fields, `kind` among them."""
    if isinstance(fact, Unknown):
        return _encoder.encode({"kind": fact.kind, **fact.data}).decode()
    return _encoder.encode(fact).decode()


def decode(kind: str, text: str) -> AnyFact:
    """The fact that `encode` wrote; `Unknown` where its kind, or a word in it, is newer than us."""
    decoder = _decoders.get(kind)
    if decoder is not None:
        with contextlib.suppress(msgspec.ValidationError):
            return decoder.decode(text)
    data: dict[str, Any] = msgspec.json.decode(text, type=dict[str, Any])
    data.pop("kind", None)
    return Unknown(kind, data)


def encode_recorded(recorded: Recorded) -> bytes:
    """The `data` of a stream's event: `seq`, `at`, then the fact's own fields."""
    return (
        b'{"seq":%d,"at":"%s",' % (recorded.seq, recorded.at.encode())
        + encode(recorded.fact).encode()[1:]
    )
