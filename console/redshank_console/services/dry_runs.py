"""Says what would be decided, with no effect: one call, or every tool in every mode."""

from collections.abc import Iterable
from typing import Any

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
from redshank_shared.permissions.decision import Verdict, judge
from redshank_shared.permissions.matrix import matrix
from redshank_shared.permissions.rules import Rule, check_rule
from redshank_shared.permissions.tool_card import ToolCard, subject
from redshank_shared.wire.permission_requests import AskedMatrix, CheckedCall, SupposedRule
from redshank_shared.wire.permission_views import CheckView, MatrixRowView, MatrixView

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
        called = subject(card, label or _label_in(asked.input or {}, card))
        verdict = judge(ruleset, standpoint.mode, called, card.plan)
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
        return {
            name: judge(ruleset, standpoint.mode, subject(card), card.plan).decision
            for name, card in cards.items()
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
        rows = [
            _row(row.label, named[row.tool], live, [cell_view(cell) for cell in row.cells])
            for row in matrix(ruleset, cards, modes)
        ]
        return MatrixView(profile=standpoint.profile.name, modes=list(modes), rows=rows)


def _row(label: str, card: ToolCard, live: LiveTools, cells: list[Any]) -> MatrixRowView:
    return MatrixRowView(
        tool=card.name,
        label=label,
        canonical=card.canonical,
        effect=card.effect,
        server=card.server,
        registered=live.has(card),
        cells=cells,
    )


def _label_in(arguments: dict[str, Any], card: ToolCard) -> str:
    """What a rule may name behind the tool and a colon, as the tool itself says it (O14)."""
    if card.labelled_by:
        label = arguments.get(card.labelled_by)
        return label if isinstance(label, str) else ""
    given = (value for value in arguments.values() if isinstance(value, str))
    return next((value for value in given if value in card.asks), "")


def _supposed(rules: tuple[SupposedRule, ...], standpoint: Standpoint) -> tuple[Rule, ...]:
    made = []
    for index, asked in enumerate(rules):
        rule = Rule(asked.pattern, asked.decision, asked.scope, locked=asked.locked)
        check_rule(rule, f"rules[{index}]")
        made.append(rule)
    return (*standpoint.session, *made)
