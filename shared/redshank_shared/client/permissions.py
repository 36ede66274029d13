"""The console's permissions over HTTP; unknown fields are passed over."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

import msgspec

from redshank_shared.client.console import ConsoleClient, Query
from redshank_shared.client.views import Page

Body = Mapping[str, Any]


class RuleView(msgspec.Struct, frozen=True):
    id: str
    scope: str
    subject: str
    pattern: str
    decision: str
    locked: bool = False
    origin: str = ""
    note: str = ""
    created_by: str = ""
    created_at: str = ""


class DecisionView(msgspec.Struct, frozen=True):
    """A decision with what led to it. `effective_mode`: the mode that it was taken in."""

    decision: str
    base_decision: str = ""
    effective_mode: str = ""
    mode_effect: str | None = None
    pattern: str = ""
    scope: str = ""
    origin: str = ""
    why: str = ""


class CheckView(DecisionView, frozen=True):
    tool: str = ""
    registered: bool = False
    hooks_evaluated: bool = False


class MatrixRowView(msgspec.Struct, frozen=True):
    """A tool, or with a label those of its calls that carry it."""

    tool: str
    cells: tuple[DecisionView, ...]
    label: str = ""
    canonical: str = ""
    effect: str = ""
    server: str = ""
    registered: bool = False


class MatrixView(msgspec.Struct, frozen=True):
    profile: str
    modes: tuple[str, ...]
    rows: tuple[MatrixRowView, ...]
    hooks_evaluated: bool = False
    hook_policy: str = ""


class ExpectedView(msgspec.Struct, frozen=True):
    decision: str
    pattern: str = ""
    scope: str = ""


class ResultView(msgspec.Struct, frozen=True):
    """One expectation; `got` is None for a tool that is not there."""

    tool: str
    mode: str
    profile: str
    passed: bool
    expected: ExpectedView
    got: DecisionView | None = None
    wrong: str = ""


class TrialView(msgspec.Struct, frozen=True):
    passed: int
    failed: int
    results: tuple[ResultView, ...]
    warnings: tuple[str, ...] = ()
    hooks_evaluated: bool = False


class ChangeView(msgspec.Struct, frozen=True):
    """A cell that two policies decide apart."""

    tool: str
    mode: str
    wider: bool
    before: DecisionView
    after: DecisionView


class DifferenceView(msgspec.Struct, frozen=True):
    cells: int
    wider: int
    narrower: int
    changes: tuple[ChangeView, ...]
    hooks_evaluated: bool = False


class CallDecisionView(msgspec.Struct, frozen=True):
    """A decision on a call as its audit has it; from `approval_request_id` on what a person was
    asked, and said. `workstream` only where it was not asked for by one.
    """

    call_id: str
    tool: str
    decision: str
    workstream: str | None = None
    at: str = ""
    seq: int = 0
    canonical: str = ""
    effect: str = ""
    base_decision: str = ""
    effective_mode: str = ""
    mode_effect: str = ""
    pattern: str = ""
    scope: str = ""
    origin: str = ""
    why: str = ""
    hook: str = ""
    hook_reason: str = ""
    input_digest: str = ""
    approval_request_id: str | None = None
    resolution: str | None = None
    resolved_by: str | None = None
    resolved_at: str | None = None
    resolution_scope: str | None = None
    justification: str | None = None
    reason: str | None = None


class PermissionsClient:
    """Raises as `ConsoleClient` does. Dry runs have no effect."""

    def __init__(self, console: ConsoleClient) -> None:
        self._console = console

    def rules(self, query: Query) -> Page[RuleView]:
        """A page of stored rules, by `scope`, `subject`, `origin`, as they were added."""
        return self._console.read("/v1/permissions/rules", Page[RuleView], query)

    def add_rule(self, rule: Body) -> RuleView:
        """Keep a rule; Conflict `confirm_needed` where it reaches far and `confirm` is not set."""
        return self._console.write("POST", "/v1/permissions/rules", rule, RuleView)

    def remove_rule(self, rule_id: str) -> RuleView:
        """Take a rule away; NotFound."""
        path = f"/v1/permissions/rules/{quote(rule_id, safe='')}"
        return self._console.write("DELETE", path, {}, RuleView)

    def check(self, call: Body) -> CheckView:
        """What would be decided on a call."""
        return self._console.write("POST", "/v1/permissions/check", call, CheckView)

    def matrix(self, asked: Body) -> MatrixView:
        """What every mode makes of every tool."""
        return self._console.write("POST", "/v1/permissions/matrix", asked, MatrixView)

    def test(self, asked: Body) -> TrialView:
        """How a `policy` fares against what it says is expected of it."""
        return self._console.write("POST", "/v1/permissions/test", asked, TrialView)

    def difference(self, asked: Body) -> DifferenceView:
        """What the policies `before` and `after` decide apart."""
        return self._console.write("POST", "/v1/permissions/diff", asked, DifferenceView)

    def decisions(self, call_id: str, query: Query) -> Page[CallDecisionView]:
        """A page of the decisions on calls whose ids begin so, in any workstream."""
        path = "/v1/permissions/decisions"
        return self._console.read(path, Page[CallDecisionView], {**query, "call": call_id})

    def decisions_of(self, workstream_id: str, query: Query) -> Page[CallDecisionView]:
        """A page of a workstream's decisions, in order."""
        path = f"/v1/workstreams/{workstream_id}/permission-audits"
        return self._console.read(path, Page[CallDecisionView], query)
