"""Answers that HTTP clients get. Times are RFC 3339 UTC."""

from typing import Any, Generic, Literal, TypeVar

from pydantic import BaseModel, ConfigDict

from redshank_shared.domain.access import TokenScope
from redshank_shared.domain.events import Decision, Effect, Mode, RestState, WaitKind
from redshank_shared.domain.question_events import Audience

Item = TypeVar("Item")


class View(BaseModel):
    """Something as it was when it was asked for."""

    model_config = ConfigDict(frozen=True)


class WaitView(View):
    """Why a workstream stands still, and since when."""

    kind: WaitKind
    since: str
    detail: str


class PreviewView(View):
    """What a person sees before deciding."""

    title: str
    kind: Literal["command", "diff", "text", "json"]
    body: str
    added: int
    removed: int


# How far a person's word on an approval reaches.
Reach = Literal["once", "workstream", "always"]


class ApprovalView(View):
    """A call that waits for a person. `input`: its arguments, an object wherever they are one;
    `pattern`: the rule that a word for the workstream, or for always, makes.
    """

    request_id: str
    call_id: str
    tool: str
    input: Any
    preview: PreviewView
    input_digest: str
    pattern: str
    requested_at: str
    expires_at: str | None


class InboxItem(ApprovalView):
    """An approval with the workstream that it belongs to. `may_answer`: how far the word of whoever
    asks may reach; empty: they may not answer.
    """

    workstream_id: str
    workstream_name: str
    owner: str
    may_answer: list[Reach]


class DecidedItem(View):
    """A call that a person's word was asked for, and who gave it. `state`: `allowed`, `denied`, or
    `cancelled` where it was withdrawn; `scope`: how far the word reached, where it allowed.
    """

    request_id: str
    call_id: str
    tool: str
    title: str
    workstream_id: str
    workstream_name: str
    owner: str
    requested_at: str
    state: Literal["allowed", "denied", "cancelled"]
    resolved_at: str
    resolved_by: str
    scope: Reach | None
    reason: str | None


class OptionView(View):
    """One answer that a question offers."""

    option_id: str
    label: str
    description: str


class QuestionPartView(View):
    """One question of a request; people may also use words of their own."""

    question_id: str
    text: str
    options: list[OptionView]
    multi_select: bool


class QuestionView(View):
    """What an agent asks a person: one to four questions, answered together. `question_id` and
    `text` are those of the first.
    """

    request_id: str
    call_id: str
    audience: Audience
    question_id: str
    text: str
    questions: list[QuestionPartView]
    asked_at: str
    expires_at: str | None


class QuestionItem(QuestionView):
    """Questions with the workstream that they belong to. `may_answer`: whether whoever asks may."""

    workstream_id: str
    workstream_name: str
    owner: str
    may_answer: bool


class UsageView(View):
    """What a workstream, or all of them, took so far."""

    input_tokens: int
    output_tokens: int
    calls: int


class WorkstreamView(View):
    """A workstream. `node` is the name of the node that works on it now, empty if none does."""

    id: str
    name: str
    title: str
    state: RestState
    waiting_for: list[WaitView]
    node: str
    profile: str
    persona: str
    mode: Mode
    model: str
    owner: str
    labels: list[str]
    parent: str
    usage: UsageView
    pending_approvals: list[ApprovalView]
    pending_questions: list[QuestionView]
    last_seq: int
    detail: str
    created_at: str
    updated_at: str


RunState = Literal[
    "idle",
    "running",
    "waiting",
    "waiting_for_approval",
    "waiting_for_user_question",
    "failed",
    "closed",
]


class RunView(View):
    """What a workstream does now; it has the workstream's id."""

    id: str
    session_id: str
    state: RunState
    pending_approvals: list[ApprovalView]
    pending_questions: list[QuestionView]
    last_seq: int
    detail: str
    updated_at: str


class PageView(View, Generic[Item]):
    """Some items in order, and how to go on: `next_cursor` is null at the end."""

    items: list[Item]
    next_cursor: str | None
    total: int


class PostedView(View):
    """A message is in the log, under this number."""

    seq: int


class AuditView(View):
    """One decision on a call, and why (K-45). `hook`: the one that settled it, if one did. From
    `approval_request_id` on: what a person was asked about it, and said; null where nobody was.
    `tool_call_id` and `tool_name` are other names of `call_id` and `tool`.
    """

    seq: int
    at: str
    call_id: str
    tool_call_id: str
    tool: str
    tool_name: str
    canonical: str
    effect: Effect
    decision: Decision
    base_decision: Decision
    effective_mode: Mode
    mode_effect: str
    pattern: str
    scope: str
    origin: str
    why: str
    input_digest: str
    hook: str = ""
    hook_reason: str = ""
    approval_request_id: str | None = None
    resolution: Literal["allow", "deny", "cancelled"] | None = None
    resolved_by: str | None = None
    resolved_at: str | None = None
    resolution_scope: Literal["once", "workstream", "always"] | None = None
    justification: str | None = None
    reason: str | None = None


class AskedView(View):
    """A call that an answer of the model asked for."""

    call_id: str
    tool: str
    input: Any


class MessageView(View):
    """One message of the transcript. `seq`: its place in the log."""

    seq: int
    role: Literal["user", "assistant", "tool"]
    text: str
    calls: list[AskedView] = []
    call_id: str = ""
    tool: str = ""
    is_error: bool = False


class NodeCounts(View):
    """Nodes by state. `total`: all of them."""

    up: int
    lost: int
    draining: int
    total: int


class StateCounts(View):
    """Workstreams by state."""

    idle: int = 0
    running: int = 0
    waiting: int = 0
    failed: int = 0
    closed: int = 0


class QueueView(View):
    """What waits to be handed to a node. Null while Redis does not answer."""

    depth: int | None
    oldest_seconds: float | None


class McpCounts(View):
    """What the MCP servers of all nodes offer."""

    servers: int = 0
    resources: int = 0
    prompts: int = 0
    tools: int = 0


class OverviewView(View):
    """The cluster in figures. `version_drift`: its processes do not all run one version."""

    nodes: NodeCounts
    workstreams: StateCounts
    needs_you: int
    queues: QueueView
    totals: UsageView
    mcp: McpCounts
    version: str
    versions: list[str]
    version_drift: bool


class NodeView(View):
    """A node. `report` is what it said of itself with its last heartbeat, `age_seconds` ago."""

    id: str
    name: str
    state: Literal["up", "lost", "draining"]
    address: str
    version: str
    started_at: str
    age_seconds: float
    report: dict[str, Any]


class MeView(View):
    """Who asks. `scopes`: what of the role's is left by the token that was shown."""

    name: str
    role: str
    scopes: list[TokenScope]


class SignInLinkView(View):
    """A link that signs one browser in, once, until `expires_at`."""

    url: str
    expires_at: str


class HealthView(View):
    """`ok`, or what is wrong in the words of each part."""

    status: Literal["ok", "failing"]
    database: str
    redis: str
    version: str
