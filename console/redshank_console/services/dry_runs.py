"""Says what would be decided, with no effect: one call, or every tool in every mode."""

from collections.abc import Iterable

from redshank_console.services.cluster_surface import LiveTools
from redshank_console.services.permission_views import cell_view, decision_view
from redshank_console.services.policy_in_force import (
    PolicyInForce,
    Standpoint,
    ruleset_over,
    surface_of,
    tool_named,
)
from redshank_shared.domain.events import MODES, Decision
from redshank_shared.permissions.decision import (
    TOOL_CHANGED,
    Verdict,
    asked_anew,
    barred,
    judge,
)
from redshank_shared.permissions.matrix import Cell, Row, matrix
from redshank_shared.permissions.rules import Rule, check_rule
from redshank_shared.permissions.tool_card import ToolCard, subject
from redshank_shared.profiles.labels import label_of
from redshank_shared.wire.permission_requests import AskedMatrix, CheckedCall, SupposedRule
from redshank_shared.wire.permission_views import (
    CheckView,
    DecisionView,
    MatrixRowView,
    MatrixView,
)

_HIDDEN = "unavailable: the workstream's boundary leaves this tool out"


class DryRuns:
    """Reads only: no hook is asked, no approval made, no audit written (K-47)."""

    def __init__(self, policy: PolicyInForce) -> None:
        self._policy = policy

    async def check(self, asked: CheckedCall, by: str) -> CheckView:
        """The decision on a call; NotFound where the workstream is not there. A name that no node
        has is decided all the same.
        """
        standpoint = await self._policy.standpoint(by, asked.workstream, asked.mode, asked.profile)
        live = await self._policy.live()
        name, _, label = asked.tool.partition(":")
        card = tool_named(name, standpoint.profile, live)
        ruleset = await self._policy.ruleset(standpoint, live)
        called = subject(card, label or label_of(card, asked.input or {}))
        changed = await self._policy.changed_tools((card,))
        verdict = judge(ruleset, standpoint.mode, called, card.plan)
        verdict = _held(verdict, card, standpoint, changed)
        if not standpoint.offers(card):
            verdict = Verdict("deny", "deny", standpoint.mode, "", "", "", "boundary", _HIDDEN)
        fields = decision_view(verdict).model_dump()
        return CheckView(tool=asked.tool, registered=live.has(card), **fields)

    async def decisions(self, tools: Iterable[str], by: str) -> dict[str, Decision]:
        """What is decided on calls of these tools in default mode, by name."""
        standpoint = await self._policy.standpoint(by, None, None, None)
        live = await self._policy.live()
        ruleset = await self._policy.ruleset(standpoint, live)
        cards = {name: tool_named(name, standpoint.profile, live) for name in tools}
        changed = await self._policy.changed_tools(cards.values())
        verdicts = {
            name: judge(ruleset, standpoint.mode, subject(card), card.plan)
            for name, card in cards.items()
        }
        return {
            name: _held(verdict, cards[name], standpoint, changed).decision
            for name, verdict in verdicts.items()
        }

    async def matrix(self, asked: AskedMatrix, by: str) -> MatrixView:
        """Every cell with its why. Without a profile the tools are those of live nodes (K-48); what
        a workstream's boundary leaves out is absent (K-5).
        """
        standpoint = await self._policy.standpoint(by, asked.workstream, asked.mode, asked.profile)
        live = await self._policy.live()
        cards = surface_of(standpoint.profile, live) if asked.profile else live.cards
        cards = tuple(filter(standpoint.offers, cards or standpoint.profile.tools))
        if asked.rules is None:
            ruleset = await self._policy.ruleset(standpoint, live)
        else:
            ruleset = ruleset_over(_supposed(asked.rules, standpoint), standpoint.profile, live)
        modes = (asked.mode,) if asked.mode else MODES
        named = {card.name: card for card in cards}
        changed = await self._policy.changed_tools(cards)
        rows = [
            _row(
                row.label, named[row.tool], live, _cells(row, named[row.tool], standpoint, changed)
            )
            for row in matrix(ruleset, cards, modes)
        ]
        return MatrixView(profile=standpoint.profile.name, modes=list(modes), rows=rows)


def _row(label: str, card: ToolCard, live: LiveTools, cells: list[DecisionView]) -> MatrixRowView:
    return MatrixRowView(
        tool=card.name,
        label=label,
        canonical=card.canonical,
        effect=card.effect,
        server=card.server,
        registered=live.has(card),
        cells=cells,
    )


def _cells(
    row: Row, card: ToolCard, standpoint: Standpoint, changed: frozenset[str]
) -> list[DecisionView]:
    if not card.server:
        return [cell_view(cell) for cell in row.cells]
    held = (_held(_verdict(cell), card, standpoint, changed) for cell in row.cells)
    return [decision_view(verdict) for verdict in held]


def _verdict(cell: Cell) -> Verdict:
    return Verdict(
        cell.decision,
        cell.base_decision,
        cell.mode,
        cell.mode_effect,
        cell.pattern,
        cell.scope,
        cell.origin,
        cell.why,
    )


def _held(
    verdict: Verdict, card: ToolCard, standpoint: Standpoint, changed: frozenset[str]
) -> Verdict:
    """As a node holds a call to what was accepted of its tool, then to the credential scope."""
    if changed.intersection(card.names):
        verdict = asked_anew(verdict, TOOL_CHANGED)
    if verdict.decision == "allow" and not standpoint.uses(card):
        verdict = barred(verdict, card.server)
    return verdict


def _supposed(rules: tuple[SupposedRule, ...], standpoint: Standpoint) -> tuple[Rule, ...]:
    made = []
    for index, asked in enumerate(rules):
        rule = Rule(asked.pattern, asked.decision, asked.scope, locked=asked.locked)
        check_rule(rule, f"rules[{index}]")
        made.append(rule)
    return (*standpoint.session, *made)
