"""Answers about MCP servers across the cluster, as OpenAPI describes them.

Whatever a server says of itself (titles, descriptions, details) is untrusted text, bounded by the
node that heard it. Times are RFC 3339 UTC; secrets are masked.
"""

from typing import Any, Literal

from redshank_shared.domain.events import Decision
from redshank_shared.wire.views import View

McpState = Literal["connecting", "connected", "failed", "needs_login", "left_out", "disabled"]
McpAuth = Literal["none", "environment", "headers", "bearer", "oauth"]


class McpOnNodeView(View):
    """A server on one node. `state` is null where that node says nothing of the server: it is lost,
    or has not picked the server up yet; `since`: of the last change of `state`; `latency_ms`: the
    median of its last calls; `calls`, `errors`: since the node started, `hour_`: in its last hour.
    """

    node: str
    node_id: str
    node_state: Literal["up", "lost", "draining"]
    state: McpState | None
    since: str
    detail: str
    latency_ms: float | None
    tools: int
    offered: int
    resources: int
    templates: int
    prompts: int
    calls: int
    errors: int
    hour_calls: int
    hour_errors: int


class McpServerView(View):
    """A server of the cluster. `origin`: `settings` (read-only here) or `added` at run time.

    `address`: its URL or its command line, masked. `state`: the worst of the nodes that are up,
    null where none of them knows it. The counts are those of the node that has most; `offered`:
    tools with those that are not enabled; `changed`: tools that changed since they were accepted;
    `latency_ms`: the worst node's; `calls`, `errors`: of all nodes that are up together.
    """

    name: str
    origin: Literal["settings", "added"]
    transport: Literal["stdio", "http"]
    address: str
    auth: McpAuth
    enabled: bool
    required: bool
    added_by: str
    added_at: str
    state: McpState | None
    tools: int
    offered: int
    resources: int
    templates: int
    prompts: int
    changed: int
    calls: int
    errors: int
    hour_calls: int
    hour_errors: int
    latency_ms: float | None
    nodes: list[McpOnNodeView]


class McpTotalsView(View):
    """All servers together. `well`: connected on each node that is up; `down`: not connected on one
    at least; `needs_login`: of those, the ones that only wait for a login.
    """

    servers: int
    well: int
    down: int
    needs_login: int
    tools: int
    offered: int
    resources: int
    templates: int
    prompts: int
    changed: int
    calls: int
    errors: int
    hour_calls: int
    hour_errors: int
    latency_ms: float | None


class McpServersView(View):
    """A page of servers by name; `totals` of all of them, whatever the page."""

    items: list[McpServerView]
    next_cursor: str | None
    total: int
    totals: McpTotalsView


class McpChangeView(View):
    """How a tool differs from what was accepted (F64); whoever calls it is asked anew."""

    at: str
    accepted_by: str
    accepted_at: str
    digest: str
    description_before: str
    description_after: str
    schema_before: dict[str, Any]
    schema_after: dict[str, Any]


class McpToolView(View):
    """A tool of a server. `name`: the server's own; `exposed`: what models call it; `decision`:
    what the rules in force decide for whoever asks, in default mode; `nodes`: those that have it.
    """

    name: str
    exposed: str
    title: str
    description: str
    input_schema: dict[str, Any]
    decision: Decision
    changed: McpChangeView | None
    nodes: list[str]


class McpResourceView(View):
    """A resource; a template of resources where `is_template`."""

    uri: str
    name: str
    description: str
    media_type: str
    is_template: bool


class McpArgumentView(View):
    """An argument of a prompt; its values are strings."""

    name: str
    description: str
    required: bool


class McpPromptView(View):
    """A prompt; `exposed`: what `use_prompt` calls it."""

    name: str
    exposed: str
    description: str
    arguments: list[McpArgumentView]


class McpDroppedView(View):
    """What the server offered and nobody can use, with the reason."""

    name: str
    why: str


class McpServerDetailView(McpServerView):
    """A server with all that it offers. `record`: its settings, secrets masked; `protocol`: the
    version that it speaks; `warnings`: what it wrote that was no message, by node.
    """

    record: dict[str, Any]
    protocol: str
    title: str
    instructions: str
    tools_list: list[McpToolView]
    resources_list: list[McpResourceView]
    prompts_list: list[McpPromptView]
    dropped: list[McpDroppedView]
    warnings: dict[str, list[str]]


class McpNodeAnswerView(View):
    """What a node did. `answered` false: asked, not answered yet; it will do it when it can. The
    names are those of tools, resources, prompts. `error`: why nothing could be fetched.
    """

    node: str
    answered: bool
    added: list[str]
    removed: list[str]
    error: str


class McpOrderView(View):
    """A refresh or a reconnect on every node (T-73)."""

    server: str
    order: Literal["refresh", "reconnect"]
    nodes: list[McpNodeAnswerView]


class McpOrdersView(View):
    """A refresh of several servers."""

    items: list[McpOrderView]


class McpCatalogEntryView(View):
    """A server that Redshank knows how to start. `slots`: names of the secrets that it needs;
    `record`: the fields to add it with.
    """

    name: str
    title: str
    description: str
    made_by: str
    transport: Literal["stdio", "http"]
    slots: list[str]
    record: dict[str, Any]


class McpProfileView(View):
    """Servers of the catalog that go together; chosen by `mcp.profiles` or `--mcp-profile`."""

    name: str
    description: str
    servers: list[str]


class McpSlotView(View):
    """A slot that a server's record names. `field`: which field; `state`: what is in it."""

    server: str
    slot: str
    field: str
    state: Literal["set", "missing", "revoked"]
