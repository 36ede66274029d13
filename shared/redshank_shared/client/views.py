"""What the console is asked, what it answers; unknown fields are passed over."""

from typing import Any, Generic, TypeVar

import msgspec

from redshank_shared.domain.events import Preview, WaitFor

Item = TypeVar("Item")


class Usage(msgspec.Struct, frozen=True):
    input_tokens: int = 0
    output_tokens: int = 0
    calls: int = 0


class ApprovalView(msgspec.Struct, frozen=True):
    """A call that waits for a person. `input` is its arguments; an inbox names the workstream."""

    request_id: str
    tool: str
    call_id: str = ""
    workstream_id: str = ""
    input: Any = None
    preview: Preview = Preview("")
    input_digest: str = ""
    pattern: str = ""
    requested_at: str = ""
    expires_at: str | None = None


class DecidedView(msgspec.Struct, frozen=True):
    """A call that waits no more, and who decided; `state`: allowed, denied or cancelled."""

    request_id: str
    tool: str
    title: str
    workstream_id: str
    state: str
    resolved_at: str
    resolved_by: str
    call_id: str = ""
    scope: str | None = None
    reason: str | None = None


class OptionView(msgspec.Struct, frozen=True):
    """One answer that a question offers."""

    option_id: str
    label: str
    description: str = ""


class QuestionPart(msgspec.Struct, frozen=True):
    """One question of a request."""

    question_id: str
    text: str
    options: tuple[OptionView, ...] = ()
    multi_select: bool = False


class QuestionView(msgspec.Struct, frozen=True):
    """What an agent asks, all of it answered together; an inbox names the workstream."""

    request_id: str
    audience: str = "user"
    questions: tuple[QuestionPart, ...] = ()
    workstream_id: str = ""
    workstream_name: str = ""
    asked_at: str = ""
    expires_at: str | None = None


class NewAnswer(msgspec.Struct, frozen=True, omit_defaults=True):
    """A person's answer to one question: chosen options, own words, or both."""

    question_id: str
    option_ids: tuple[str, ...] = ()
    text: str = ""


class WorkstreamView(msgspec.Struct, frozen=True):
    id: str
    state: str
    name: str = ""
    title: str = ""
    waiting_for: tuple[WaitFor, ...] = ()
    node: str | None = None
    profile: str = "default"
    persona: str | None = None
    mode: str = "default"
    model: str | None = None
    owner: str = ""
    labels: tuple[str, ...] = ()
    parent: str | None = None
    usage: Usage = Usage()
    pending_approvals: tuple[ApprovalView, ...] = ()
    pending_questions: tuple[QuestionView, ...] = ()
    last_seq: int = 0
    detail: str | None = None
    created_at: str = ""
    updated_at: str = ""


class SecretView(msgspec.Struct, frozen=True):
    """A slot by its name, never with its value."""

    slot: str
    state: str
    version: int = 0
    key_id: str = ""
    updated_by: str = ""
    updated_at: str = ""


class Rotation(msgspec.Struct, frozen=True):
    """What is now under the key `key_id`, what no key opens."""

    key_id: str
    resealed: tuple[str, ...] = ()
    left: tuple[str, ...] = ()


class ToolLimitsView(msgspec.Struct, frozen=True):
    """The runtime limits with their revision; 0: as configured."""

    limits: dict[str, int | str]
    revision: int
    set_by: str = ""
    set_at: str | None = None


class AuditView(msgspec.Struct, frozen=True):
    """One decision on one call, with what led to it."""

    decision: str
    tool: str = ""
    canonical: str = ""
    call_id: str = ""
    effect: str = ""
    base_decision: str = ""
    effective_mode: str = ""
    pattern: str = ""
    scope: str = ""
    origin: str = ""
    why: str = ""
    at: str = ""
    seq: int = 0


class RunView(msgspec.Struct, frozen=True):
    """One due time of a schedule, what came of it, the node that polled."""

    due_at: str
    state: str
    detail: str = ""
    node: str = ""
    began_at: str | None = None


class ScheduleView(msgspec.Struct, frozen=True):
    """A schedule. `cadence`: its kind to the fields of that kind; `last_runs` only where one was
    asked for.
    """

    id: str
    name: str
    workstream: str
    kind: str
    state: str
    cadence: dict[str, dict[str, Any]] = {}
    next_due: str | None = None
    last_run: RunView | None = None
    runs: int = 0
    message: str = ""
    created_at: str = ""
    detail: str = ""
    overlap: str = ""
    misfire: str = ""
    max_executions: int | None = None
    last_runs: tuple[RunView, ...] = ()


class Page(msgspec.Struct, Generic[Item], frozen=True):
    items: tuple[Item, ...]
    next_cursor: str | None = None
    total: int = 0


class Posted(msgspec.Struct, frozen=True):
    """A message is in the log under this number."""

    seq: int


class SigninLink(msgspec.Struct, frozen=True):
    url: str


class Health(msgspec.Struct, frozen=True):
    status: str = ""
    version: str = ""


class NodeCounts(msgspec.Struct, frozen=True):
    up: int = 0
    lost: int = 0
    draining: int = 0
    total: int = 0


class Overview(msgspec.Struct, frozen=True):
    """The cluster in figures, as far as the command line shows them."""

    nodes: NodeCounts = NodeCounts()
    versions: tuple[str, ...] = ()
    version_drift: bool = False


class NodeReport(msgspec.Struct, frozen=True):
    """What a node said of itself; `load`: 1.0 is a machine in full use."""

    slots: int = 0
    busy: int = 0
    load: float = 0.0
    loop_lag_ms: int = 0
    memory_bytes: int = 0


class NodeView(msgspec.Struct, frozen=True):
    id: str
    name: str
    state: str
    address: str = ""
    version: str = ""
    started_at: str = ""
    age_seconds: float = 0.0
    report: NodeReport = NodeReport()


class WatchHook(msgspec.Struct, frozen=True):
    """Where a watch is pushed, told once."""

    schedule: str
    address: str
    created_at: str


class RecordView(msgspec.Struct, frozen=True):
    """One outside effect as the ledger has it."""

    workstream: str
    position: int
    call_id: str
    key_id: str
    hash: str
    tool: str = ""
    effect: str = ""
    node: str = ""
    outcome: str = ""
    at: str = ""


class NewWorkstream(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a workstream is created with; what is empty is left to the console."""

    name: str = ""
    profile: str = ""
    persona: str = ""
    mode: str = ""
    model: str = ""
    message: str = ""
    node: str = ""
    labels: tuple[str, ...] = ()


class NewSchedule(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a schedule is made with, one of the four cadences as an object of its fields; what is
    empty is left to the console.
    """

    workstream: str
    name: str
    message: str = ""
    once: dict[str, Any] | None = None
    interval: dict[str, Any] | None = None
    cron: dict[str, Any] | None = None
    watch: dict[str, Any] | None = None
    overlap: str = ""
    misfire: str = ""
    max_executions: int | None = None


class Resolution(msgspec.Struct, frozen=True, omit_defaults=True):
    """A person's word on one approval. `updated_input` stands where they edited the call."""

    request_id: str
    behavior: str
    scope: str = ""
    reason: str = ""
    justification: str = ""
    updated_input: Any = None
