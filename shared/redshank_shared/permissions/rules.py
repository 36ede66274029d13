"""Permission rules: what one says, the scopes they live in, the built-in tier below them."""

from typing import Literal

import msgspec

from redshank_shared.domain.events import Decision

Scope = Literal["session", "project", "user", "builtin"]
Origin = Literal["static", "hook_update", "approval"]

SCOPES: tuple[Scope, ...] = ("session", "project", "user", "builtin")


class Rule(msgspec.Struct, frozen=True):
    """One line of policy: a name, a prefix ending in `*`, or an effect as `@process`, and what it
    decides.
    """

    pattern: str
    decision: Decision
    scope: Scope
    origin: Origin = "static"


# The ten defaults of K-33, as a tier below user rules (O1).
BUILTIN: tuple[Rule, ...] = tuple(
    Rule(pattern, "ask", "builtin")
    for pattern in (
        "bash",
        "write_file",
        "edit_file",
        "apply_patch",
        "mcp__*",
        "list_mcp_resources",
        "list_mcp_resource_templates",
        "read_mcp_resource",
        "exit_plan_mode",
    )
) + (Rule("*", "allow", "builtin"),)


def granted_rules(canonical_names: tuple[str, ...]) -> tuple[Rule, ...]:
    """The session rules that a person's "allow for this workstream" made."""
    return tuple(Rule(name, "allow", "session", "approval") for name in canonical_names)
