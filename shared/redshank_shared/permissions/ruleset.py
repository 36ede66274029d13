"""All rules that hold for a call, compiled once, asked for the one that decides."""

from collections.abc import Iterable

from redshank_shared.permissions.matching import Subject, Tier
from redshank_shared.permissions.rules import SCOPES, Rule

_LOCKED = ("locked user", "locked project")
_SEARCHED = (*_LOCKED, *SCOPES)


class RuleSet:
    """Rules in the order in which they were inserted. Never changes: `adding` makes another."""

    def __init__(self, rules: Iterable[Rule] = ()) -> None:
        self.rules = tuple(rules)
        self._tiers = _tiers(self.rules)
        self._searched = _searched(self._tiers)

    def adding(self, rules: Iterable[Rule]) -> "RuleSet":
        """These rules with more behind them; only the scopes of the new ones are laid out anew, so
        that a workstream's own rules cost nothing of a large policy.
        """
        more = tuple(rules)
        if not more:
            return self
        made = RuleSet()
        made.rules = (*self.rules, *more)
        scopes = {rule.scope for rule in more}
        touched = (rule for rule in made.rules if rule.scope in scopes)
        made._tiers = {**self._tiers, **_tiers(touched)}
        made._searched = _searched(made._tiers)
        return made

    def match(self, subject: Subject) -> Rule | None:
        """The rule that decides, or None where none matches. Locked denies first, the user's before
        the project's (O25); then session, project, user and the built-in tier: the first with any
        match decides (K-38, O1), in it the most specific rule (K-39).
        """
        names = subject.names
        labelled: tuple[str, ...] = ()
        if any(":" in name for name in names):
            labelled = tuple(name for name in names if ":" in name)
            names = tuple(name for name in names if ":" not in name)
        matches = (tier.match(names, labelled, subject.effect) for tier in self._searched)
        found = (rule for rule in matches if rule is not None)
        return _insisted(found) if subject.insisted else next(found, None)


def _insisted(found: Iterable[Rule]) -> Rule | None:
    """The first rule that names the label, or denies. An allow that names none says nothing of such
    a call, so that what stands in the scopes below it counts: a deny there holds (T-30).
    """
    passed = False
    for rule in found:
        names_label = ":" in rule.pattern
        if names_label or rule.decision == "deny" or not (passed or rule.decision == "allow"):
            return rule
        passed = True
    return None


def _tiers(rules: Iterable[Rule]) -> dict[str, Tier]:
    by_tier: dict[str, list[Rule]] = {}
    for rule in rules:
        name = f"locked {rule.scope}" if rule.locks else rule.scope
        by_tier.setdefault(name, []).append(rule)
    return {name: Tier(held) for name, held in by_tier.items()}


def _searched(tiers: dict[str, Tier]) -> tuple[Tier, ...]:
    return tuple(tiers[name] for name in _SEARCHED if name in tiers)
