"""What a new workstream may see or use, as HTTP clients say it (K-72)."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from redshank_shared.domain.delegation import Delegation
from redshank_shared.domain.events import Mode
from redshank_shared.domain.scopes import (
    CapabilityScope,
    CredentialScope,
    check_entries,
    check_list,
)

Entry = Annotated[str, Field(min_length=1, max_length=200)]
Entries = Annotated[frozenset[Entry], Field(max_length=1000)]
NONE: Entries = frozenset()


class ScopeLists(BaseModel):
    """An allow list that is left out is no limit, an empty one allows nothing (O27)."""

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)


class CapabilityLists(ScopeLists):
    """What is visible: skills, MCP servers, their tools. Whole names or `*`."""

    skill_allow: Entries | None = None
    skill_deny: Entries = NONE
    mcp_server_allow: Entries | None = None
    mcp_server_deny: Entries = NONE
    mcp_tool_allow: Entries | None = None
    mcp_tool_deny: Entries = NONE


class CredentialLists(ScopeLists):
    """What may be used: model routes, connectors, their credentials as `connector:ENV_KEY`, MCP
    servers.
    """

    route_allow: Entries | None = None
    route_deny: Entries = NONE
    connector_allow: Entries | None = None
    connector_deny: Entries = NONE
    connector_credential_allow: Entries | None = None
    connector_credential_deny: Entries = NONE
    mcp_server_allow: Entries | None = None
    mcp_server_deny: Entries = NONE


def delegation(
    mode: Mode | None,
    allowed_tools: Entries | None,
    blocked_tools: Entries,
    capability: CapabilityLists | None,
    credentials: CredentialLists | None,
) -> Delegation:
    """What is asked for; Invalid names the list that holds what is no whole name (K-73)."""
    visible = CapabilityScope(**dict(capability)) if capability is not None else None
    usable = CredentialScope(**dict(credentials)) if credentials is not None else None
    check_list(allowed_tools or NONE, "allowed_tools")
    check_list(blocked_tools, "blocked_tools")
    if visible is not None:
        check_entries(visible, "capability_scope")
    if usable is not None:
        check_entries(usable, "credential_scope")
    return Delegation(
        mode=mode,
        allowed_tools=allowed_tools,
        blocked_tools=blocked_tools,
        capability_scope=visible,
        credential_scope=usable,
    )
