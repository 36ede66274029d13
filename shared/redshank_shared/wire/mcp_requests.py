"""Bodies that HTTP clients send about MCP servers."""

from typing import Annotated, Literal

from pydantic import Field, StrictBool

from redshank_shared.wire.requests import Body, Text, Word

Names = Annotated[dict[Word, Text], Field(max_length=200)]
Words = Annotated[tuple[Text, ...], Field(max_length=1000)]
Span = Annotated[float, Field(gt=0, le=86_400, strict=True)]


class McpServerRecord(Body):
    """The fields of `[mcp.servers.NAME]`: `command` or `url`, with what belongs to it. Secrets go
    by the name of their slot: `env_secret_refs`, `http_header_secret_refs`,
    `bearer_token_secret_ref`, `oauth_slot_ref`.
    """

    command: Text = ""
    args: Words = ()
    env: Names = {}
    env_secret_refs: Names = {}
    inherit_env: StrictBool | None = None
    cwd: Text = ""
    sandbox: Literal["", "inherited", "read_only", "workspace_write", "network_enabled"] = ""
    url: Text = ""
    headers: Names = {}
    env_http_headers: Names = {}
    http_header_secret_refs: Names = {}
    bearer_token_env_var: Word = ""
    bearer_token_secret_ref: Word = ""
    oauth_slot_ref: Word = ""
    oauth_resource: Text = ""
    oauth_scopes: Words = ()
    enabled: StrictBool = True
    required: StrictBool = False
    enabled_tools: Words | None = None
    disabled_tools: Words = ()
    plan_tools: Words = ()
    questions: Literal["refuse", "defaults"] = "refuse"
    startup_timeout_sec: Span = 10.0
    tool_timeout_sec: Span = 120.0


class NewMcpServer(McpServerRecord):
    """A server to add, under a name that no other has."""

    name: Annotated[Word, Field(min_length=1)]


class AcceptedChange(Body):
    """`digest`: that of the change which was looked at."""

    digest: Word


class AcceptedToolChange(AcceptedChange):
    """`tool`: the server's own name for it, whatever characters it has."""

    tool: Annotated[Text, Field(min_length=1)]


McpOrderName = Literal["refresh", "reconnect"]
