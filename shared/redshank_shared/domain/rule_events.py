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
    """What people or hooks allowed for this workstream by this pattern holds no more; the next such
    call asks again.
    """

    pattern: str
    by: str


def allowed_here(granted: tuple[str, ...], hook_rules: tuple[SessionRule, ...]) -> tuple[str, ...]:
    """The patterns by which people, then hooks, allowed something for one workstream."""
    by_hooks = (rule.pattern for rule in hook_rules if rule.decision == "allow")
    return tuple(dict.fromkeys((*granted, *by_hooks)))


def without_grant(
    granted: tuple[str, ...], hook_rules: tuple[SessionRule, ...], pattern: str
) -> dict[str, object]:
    """A workstream's `granted` and `hook_rules` once this pattern allows nothing any more."""
    return {
        "granted": tuple(each for each in granted if each != pattern),
        "hook_rules": tuple(
            rule for rule in hook_rules if (rule.pattern, rule.decision) != (pattern, "allow")
        ),
    }


def updated_rules(
    known: tuple[SessionRule, ...], updates: tuple[SessionRule, ...]
) -> tuple[SessionRule, ...]:
    """The rules with these updates: the same pattern replaces, a new one comes behind."""
    rules = {rule.pattern: rule for rule in known}
    rules.update((rule.pattern, rule) for rule in updates)
    return tuple(rules.values())
