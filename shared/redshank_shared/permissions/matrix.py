"""What would be decided on every tool in every mode, beforehand, without any effect."""

from collections.abc import Iterable, Sequence

import msgspec

from redshank_shared.domain.events import Decision, Mode
from redshank_shared.permissions.decision import Verdict, verdict_of
from redshank_shared.permissions.rules import Rule
from redshank_shared.permissions.ruleset import RuleSet
from redshank_shared.permissions.tool_card import ToolCard, subject


class Cell(msgspec.Struct, frozen=True):
    """One tool in one mode; the fields mean what they mean in a Verdict."""

    mode: Mode
    decision: Decision
    base_decision: Decision
    mode_effect: str
    pattern: str
    scope: str
    origin: str
    why: str


class Row(msgspec.Struct, frozen=True):
    """One tool, or with a `label` those calls of it that carry it, in every mode asked for."""

    tool: str
    label: str
    cells: tuple[Cell, ...]


class Change(msgspec.Struct, frozen=True):
    """A cell that another rule set fills otherwise; None where a tool is on one side only."""

    tool: str
    label: str
    mode: Mode
    before: Cell | None
    after: Cell | None

    @property
    def decides_otherwise(self) -> bool:
        """Whether the decision changed, and not only the rule that took it."""
        return _decision(self.before) != _decision(self.after)


def matrix(ruleset: RuleSet, cards: Iterable[ToolCard], modes: Sequence[Mode]) -> tuple[Row, ...]:
    """A row a tool in the order of the cards, behind it one a label that it asks about (K-48)."""
    return tuple(_row(ruleset, card, label, modes) for card in cards for label in ("", *card.asks))


def _row(ruleset: RuleSet, card: ToolCard, label: str, modes: Sequence[Mode]) -> Row:
    called = subject(card, label)
    rule = ruleset.match(called)
    cells = tuple(_cell(verdict_of(rule, mode, called, card.plan)) for mode in modes)
    return Row(card.name, label, cells)


def _cell(verdict: Verdict) -> Cell:
    return Cell(
        mode=verdict.effective_mode,
        decision=verdict.decision,
        base_decision=verdict.base_decision,
        mode_effect=verdict.mode_effect,
        pattern=verdict.pattern,
        scope=verdict.scope,
        origin=verdict.origin,
        why=verdict.why,
    )


def difference(before: Iterable[Row], after: Iterable[Row]) -> tuple[Change, ...]:
    """Every cell that is not the same in both, in the order of `after`; what only `before` has
    comes last (B-5).
    """
    old, new = _by_place(before), _by_place(after)
    places = dict.fromkeys((*new, *old))
    return tuple(
        Change(*place, old.get(place), new.get(place))
        for place in places
        if old.get(place) != new.get(place)
    )


def effect_of_rule(
    ruleset: RuleSet, rule: Rule, cards: Sequence[ToolCard], modes: Sequence[Mode]
) -> tuple[Change, ...]:
    """The cells on which a new rule would decide otherwise, to be shown before it is saved (O28).
    A rule of the same scope and pattern is replaced where it stands.
    """
    before, after = matrix(ruleset, cards, modes), matrix(_with(ruleset, rule), cards, modes)
    return tuple(change for change in difference(before, after) if change.decides_otherwise)


def _with(ruleset: RuleSet, rule: Rule) -> RuleSet:
    replaced = tuple(
        rule if (held.scope, held.pattern) == (rule.scope, rule.pattern) else held
        for held in ruleset.rules
    )
    return RuleSet(replaced) if rule in replaced else ruleset.adding((rule,))


def _by_place(rows: Iterable[Row]) -> dict[tuple[str, str, Mode], Cell]:
    return {(row.tool, row.label, cell.mode): cell for row in rows for cell in row.cells}


def _decision(cell: Cell | None) -> Decision | None:
    return cell.decision if cell else None
