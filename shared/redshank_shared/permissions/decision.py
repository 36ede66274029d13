"""Whether a call may run, with the whole reason: (rules, mode, subject) -> verdict."""

from collections.abc import Iterable

import msgspec

from redshank_shared.domain.events import Decision, Mode
from redshank_shared.permissions.matching import Subject, matching_rule
from redshank_shared.permissions.modes import under_mode
from redshank_shared.permissions.rules import Rule


class Verdict(msgspec.Struct, frozen=True):
    """What was decided and why (K-45). The built-in tier reports its `scope` as session (O1)."""

    decision: Decision
    base_decision: Decision
    effective_mode: Mode
    mode_effect: str
    pattern: str
    scope: str
    origin: str
    why: str


def judge(rules: Iterable[Rule], mode: Mode, subject: Subject, plan_listed: bool) -> Verdict:
    """The verdict on a call. Where no rule matches at all, a person is asked."""
    rule = matching_rule(rules, subject)
    base: Decision = rule.decision if rule else "ask"
    decision, mode_effect = under_mode(mode, base, subject.effect, plan_listed)
    return Verdict(
        decision=decision,
        base_decision=base,
        effective_mode=mode,
        mode_effect=mode_effect,
        pattern=rule.pattern if rule else "",
        scope=_reported_scope(rule),
        origin=rule.origin if rule else "static",
        why=_why(rule, decision, mode, mode_effect),
    )


def _reported_scope(rule: Rule | None) -> str:
    if rule is None:
        return ""
    return "session" if rule.scope == "builtin" else rule.scope


def _why(rule: Rule | None, decision: Decision, mode: Mode, mode_effect: str) -> str:
    if rule is None:
        said = "no rule matches, so a person is asked"
    elif rule.origin == "approval":
        said = f"{rule.pattern} was allowed for this workstream by a person"
    elif rule.scope == "builtin":
        said = f"the default rule {rule.pattern} says {rule.decision}"
    else:
        said = f"the {rule.scope} rule {rule.pattern} says {rule.decision}"
    return f"{said}; mode {mode} makes it {decision}" if mode_effect else said
