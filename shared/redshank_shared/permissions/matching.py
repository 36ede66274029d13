"""Which rule speaks for a call: the first scope with a match, in it the most specific."""

from collections.abc import Iterable

import msgspec

from redshank_shared.domain.events import Effect
from redshank_shared.permissions.rules import SCOPES, Rule


class Subject(msgspec.Struct, frozen=True):
    """What a rule is matched against: every name a tool has, so that no deny is dodged through an
    alias.
    """

    names: tuple[str, ...]
    effect: Effect


def matching_rule(rules: Iterable[Rule], subject: Subject) -> Rule | None:
    """The rule that decides, or None where none matches; among equals a hook's update (K-40), then
    the one inserted first.
    """
    best: Rule | None = None
    best_rank = (len(SCOPES), 0, False)
    for rule in rules:
        specificity = _specificity(rule.pattern, subject)
        if specificity is None:
            continue
        rank = (SCOPES.index(rule.scope), -specificity, rule.origin != "hook_update")
        if best is None or rank < best_rank:
            best, best_rank = rule, rank
    return best


_EXACT = 1_000_000


def _specificity(pattern: str, subject: Subject) -> int | None:
    """Exact name, then longer prefix, then shorter, then effect, then `*`; None where the pattern
    does not match.
    """
    if pattern == "*":
        return 0
    if pattern.startswith("@"):
        return 1 if pattern[1:] == subject.effect else None
    if pattern.endswith("*"):
        prefix = pattern[:-1]
        return 1 + len(prefix) if any(name.startswith(prefix) for name in subject.names) else None
    return _EXACT if pattern in subject.names else None
