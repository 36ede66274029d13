"""A workstream's own rules: what its hooks updated, what people granted for it."""

from redshank_shared.domain.workstream import Workstream
from redshank_shared.permissions.rules import Rule, granted_rules


def session_rules(state: Workstream) -> tuple[Rule, ...]:
    """The rules of scope session, in the order in which they speak (K-40)."""
    hooks = (
        Rule(rule.pattern, rule.decision, "session", "hook_update") for rule in state.hook_rules
    )
    return (*hooks, *granted_rules(state.granted))
