"""Facts about rules that belong to one workstream."""

from typing import Literal

import msgspec

from redshank_shared.domain.fact import Fact


class SessionRule(msgspec.Struct, frozen=True):
    """One line of policy at session scope: a pattern, what it decides."""

    pattern: str
    decision: Literal["allow", "ask", "deny"]


class RulesUpdated(Fact, frozen=True, tag="rules.updated"):
    """A hook changed rules of this workstream while it answered on a call (K-43)."""

    hook: str
    rules: tuple[SessionRule, ...]
    call_id: str = ""


class GrantRevoked(Fact, frozen=True, tag="grant.revoked"):
    """A person took back what was allowed for this workstream; the next such call asks again."""

    pattern: str
    by: str


def updated_rules(
    known: tuple[SessionRule, ...], updates: tuple[SessionRule, ...]
) -> tuple[SessionRule, ...]:
    """The rules with these updates: the same pattern replaces, a new one comes behind."""
    rules = {rule.pattern: rule for rule in known}
    rules.update((rule.pattern, rule) for rule in updates)
    return tuple(rules.values())
