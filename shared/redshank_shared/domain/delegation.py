"""What a child agent may do: never more than the agent that spawned it."""

from typing import Literal

import msgspec

from redshank_shared.domain.errors import NotAllowed
from redshank_shared.domain.scopes import (
    NOTHING,
    CapabilityScope,
    CredentialScope,
    common_allow,
    delegated_credentials,
    narrowed,
    permits,
    tool_visible,
)
from redshank_shared.domain.terms import Effect, Mode

AgentType = Literal["default", "plan", "verification", "coordinator"]

# The modes that a child may have, by the parent's (K-26).
MODES_UNDER: dict[Mode, tuple[Mode, ...]] = {
    "bypassPermissions": ("bypassPermissions", "acceptEdits", "default", "dontAsk", "plan"),
    "acceptEdits": ("acceptEdits", "default", "dontAsk", "plan"),
    "default": ("default", "dontAsk", "plan"),
    "dontAsk": ("dontAsk", "plan"),
    "plan": ("plan",),
}


class Delegation(msgspec.Struct, frozen=True):
    """What a spawn asks for; None where it says nothing. Tools go by their canonical names."""

    agent_type: AgentType = "default"
    mode: Mode | None = None
    allowed_tools: frozenset[str] | None = None
    blocked_tools: frozenset[str] = NOTHING
    capability_scope: CapabilityScope | None = None
    credential_scope: CredentialScope | None = None


class Boundary(msgspec.Struct, frozen=True, omit_defaults=True):
    """What holds an agent in: inherited at spawn as it is then, never regained (K-27)."""

    mode: Mode = "default"
    tools_allow: frozenset[str] | None = None
    tools_deny: frozenset[str] = NOTHING
    capability: CapabilityScope = CapabilityScope()
    credentials: CredentialScope = CredentialScope()


UNBOUNDED = Boundary()


def delegated(parent: Boundary, wanted: Delegation) -> Boundary:
    """The boundary of a child, pinned now. Raises NotAllowed, naming the field, where it asks for a
    wider mode (K-26) or for an entry that the parent does not have (K-74).
    """
    capability = parent.capability
    if wanted.capability_scope is not None:
        capability = narrowed(capability, wanted.capability_scope, "capability_scope")
    return Boundary(
        mode=child_mode(parent.mode, wanted.mode, wanted.agent_type),
        tools_allow=common_allow(parent.tools_allow, wanted.allowed_tools),
        tools_deny=parent.tools_deny | wanted.blocked_tools,
        capability=capability,
        credentials=delegated_credentials(parent.credentials, wanted.credential_scope),
    )


def standing_alone(wanted: Delegation, mode: Mode) -> Boundary:
    """The boundary of a workstream that a person creates without a parent: what it was given."""
    return Boundary(
        mode=mode,
        tools_allow=wanted.allowed_tools,
        tools_deny=wanted.blocked_tools,
        capability=wanted.capability_scope or CapabilityScope(),
        credentials=wanted.credential_scope or CredentialScope(),
    )


def child_mode(parent: Mode, requested: Mode | None, agent_type: AgentType = "default") -> Mode:
    """The mode of a child: the parent's effective one where none is asked for (K-26), or plan for
    an agent of type plan (O3). Raises NotAllowed for a wider one.
    """
    if requested is None:
        return "plan" if agent_type == "plan" else parent
    if not permitted_child_mode(parent, requested):
        raise NotAllowed(
            f"a child of an agent in mode {parent} may not have mode {requested}: "
            f"leave mode out, or take one of {', '.join(MODES_UNDER[parent])}",
            field="mode",
        )
    return requested


def permitted_child_mode(parent: Mode, child: Mode) -> bool:
    """Whether a child in this mode may be spawned, or an existing one reused, by a parent that is
    in its mode now (K-26, F6).
    """
    return child in MODES_UNDER[parent]


def offered(
    boundary: Boundary, canonical: str, names: tuple[str, ...], effect: Effect, server: str = ""
) -> bool:
    """Whether a tool is in the agent's surface: not blocked, among the allowed ones, visible."""
    called = frozenset((canonical, *names))
    if not permits(boundary.tools_allow, boundary.tools_deny, called):
        return False
    return tool_visible(boundary.capability, called, effect, server)
