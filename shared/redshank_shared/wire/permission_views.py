"""Answers about permissions that HTTP clients get. Times are RFC 3339 UTC."""

from typing import Literal

from redshank_shared.domain.events import Decision, Effect, Mode
from redshank_shared.wire.views import AuditView, View


class RuleView(View):
    """A stored rule. `origin`: static, or approval where a person's "always" made it."""

    id: str
    scope: str
    subject: str
    pattern: str
    decision: Decision
    locked: bool
    origin: str
    note: str
    created_by: str
    created_at: str


class DecisionView(View):
    """A decision with all that led to it (K-45). `mode_effect` only where the mode changed it."""

    decision: Decision
    base_decision: Decision
    effective_mode: Mode
    mode_effect: str | None = None
    pattern: str
    scope: str
    origin: str
    why: str


class CheckView(DecisionView):
    """What would be decided on a call now (K-47). `registered`: a live node has this tool."""

    tool: str
    registered: bool
    hooks_evaluated: Literal[False] = False


class RuntimeCheckView(CheckView):
    """The same under the names of K-47."""

    tool_name: str
    tool_call_id: str | None = None
    hook_policy: Literal["not_executed_in_dry_run"] = "not_executed_in_dry_run"


class MatrixRowView(View):
    """A tool, or with a `label` those of its calls that carry it, with its decision in every mode
    that was asked for.
    """

    tool: str
    label: str
    canonical: str
    effect: Effect
    server: str
    registered: bool
    cells: list[DecisionView]


class MatrixView(View):
    """What every mode makes of every tool (K-48)."""

    profile: str
    modes: list[Mode]
    rows: list[MatrixRowView]
    hooks_evaluated: Literal[False] = False
    hook_policy: Literal["not_executed_in_dry_run"] = "not_executed_in_dry_run"


class ExpectedView(View):
    """What a policy's author expects; an empty field is not looked at."""

    decision: Decision | Literal["unavailable"]
    pattern: str = ""
    scope: str = ""


class ResultView(View):
    """One expectation with what the engine says; `got` is null for a tool that is not there."""

    tool: str
    mode: Mode
    profile: str
    passed: bool
    expected: ExpectedView
    got: DecisionView | None
    wrong: str


class TrialView(View):
    """How a policy fares against what is expected of it (B-5). `warnings`: rules that match nothing
    because no tool is called so.
    """

    passed: int
    failed: int
    results: list[ResultView]
    warnings: list[str] = []
    hooks_evaluated: Literal[False] = False


class CellChangeView(View):
    """A tool in a mode that two policies decide apart. `wider`: the second lets more happen."""

    tool: str
    mode: Mode
    wider: bool
    before: DecisionView
    after: DecisionView


class DifferenceView(View):
    """The cells that two policies decide apart, of all there are. `wider`, `narrower`: how many."""

    cells: int
    wider: int
    narrower: int
    changes: list[CellChangeView]
    hooks_evaluated: Literal[False] = False


class ToolCardView(View):
    """A tool that the cluster's nodes have. `server`: the MCP server that it comes from."""

    name: str
    canonical: str
    aliases: list[str]
    effect: Effect
    plan: bool
    parallel: bool
    server: str


class SurfaceView(View):
    """Every tool that a live node has, once (K-48)."""

    tools: list[ToolCardView]


class CallDecisionView(AuditView):
    """A decision on a call, with the workstream that made it (B-6)."""

    workstream: str
