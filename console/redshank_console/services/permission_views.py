"""Shows rules, verdicts, cells as the API answers them."""

from redshank_shared.permissions.decision import Verdict
from redshank_shared.permissions.matrix import Cell, Change
from redshank_shared.stores.permission_rules import RuleRow
from redshank_shared.wire.permission_views import CellChangeView, DecisionView, RuleView

_WIDTH = {"deny": 0, "ask": 1, "allow": 2}


def rule_view(row: RuleRow) -> RuleView:
    """A stored rule."""
    return RuleView(
        id=row.rule_id,
        scope=row.scope,
        subject=row.subject,
        pattern=row.pattern,
        decision=row.decision,
        locked=row.locked,
        origin=row.origin,
        note=row.note,
        created_by=row.created_by,
        created_at=row.created_at,
    )


def decision_view(verdict: Verdict) -> DecisionView:
    """What was decided and why."""
    return DecisionView(
        decision=verdict.decision,
        base_decision=verdict.base_decision,
        effective_mode=verdict.effective_mode,
        mode_effect=verdict.mode_effect or None,
        pattern=verdict.pattern,
        scope=verdict.scope,
        origin=verdict.origin,
        why=verdict.why,
    )


def cell_view(cell: Cell) -> DecisionView:
    """The same for a cell of a matrix."""
    return DecisionView(
        decision=cell.decision,
        base_decision=cell.base_decision,
        effective_mode=cell.mode,
        mode_effect=cell.mode_effect or None,
        pattern=cell.pattern,
        scope=cell.scope,
        origin=cell.origin,
        why=cell.why,
    )


def change_views(changes: tuple[Change, ...]) -> list[CellChangeView]:
    """The cells that are decided otherwise; both sides list the same tools."""
    return [
        CellChangeView(
            tool=shown_tool(change.tool, change.label),
            mode=change.mode,
            wider=_WIDTH[change.after.decision] > _WIDTH[change.before.decision],
            before=cell_view(change.before),
            after=cell_view(change.after),
        )
        for change in changes
        if change.before and change.after and change.decides_otherwise
    ]


def shown_tool(tool: str, label: str) -> str:
    """A tool, or those of its calls that carry a label."""
    return f"{tool}:{label}" if label else tool
