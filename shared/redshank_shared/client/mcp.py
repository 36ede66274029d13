"""The console's MCP servers over HTTP; unknown fields are passed over."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

import msgspec

from redshank_shared.client.console import ConsoleClient, Query
from redshank_shared.client.views import Page

Body = Mapping[str, Any]


class OnNode(msgspec.Struct, frozen=True):
    """A server on one node; `state` None: that node says nothing of it."""

    node: str
    node_state: str = ""
    state: str | None = None
    since: str = ""
    detail: str = ""
    latency_ms: float | None = None
    tools: int = 0
    resources: int = 0
    templates: int = 0
    prompts: int = 0
    calls: int = 0
    errors: int = 0
    hour_calls: int = 0
    hour_errors: int = 0


class Server(msgspec.Struct, frozen=True):
    """A server of the cluster; the counts are those of the node that has most."""

    name: str
    origin: str = ""
    transport: str = ""
    address: str = ""
    auth: str = ""
    enabled: bool = True
    required: bool = False
    added_by: str = ""
    added_at: str = ""
    state: str | None = None
    tools: int = 0
    offered: int = 0
    resources: int = 0
    templates: int = 0
    prompts: int = 0
    changed: int = 0
    calls: int = 0
    errors: int = 0
    hour_calls: int = 0
    hour_errors: int = 0
    latency_ms: float | None = None
    nodes: tuple[OnNode, ...] = ()


class Change(msgspec.Struct, frozen=True):
    """How a tool differs from what was accepted."""

    digest: str
    at: str = ""
    description_before: str = ""
    description_after: str = ""
    schema_before: dict[str, Any] = {}
    schema_after: dict[str, Any] = {}


class Tool(msgspec.Struct, frozen=True):
    name: str
    exposed: str = ""
    title: str = ""
    description: str = ""
    input_schema: dict[str, Any] = {}
    decision: str = ""
    changed: Change | None = None
    nodes: tuple[str, ...] = ()


class Resource(msgspec.Struct, frozen=True):
    uri: str
    name: str = ""
    description: str = ""
    media_type: str = ""
    is_template: bool = False


class Prompt(msgspec.Struct, frozen=True):
    name: str
    exposed: str = ""
    description: str = ""
    arguments: tuple[dict[str, Any], ...] = ()


class Dropped(msgspec.Struct, frozen=True):
    """What a server offers and nobody can use."""

    name: str
    why: str = ""


class Detail(Server, frozen=True):
    """A server with all that it offers; `record`: its fields, secrets masked."""

    record: dict[str, Any] = {}
    protocol: str = ""
    title: str = ""
    instructions: str = ""
    tools_list: tuple[Tool, ...] = ()
    resources_list: tuple[Resource, ...] = ()
    prompts_list: tuple[Prompt, ...] = ()
    dropped: tuple[Dropped, ...] = ()
    warnings: dict[str, tuple[str, ...]] = {}


class Totals(msgspec.Struct, frozen=True):
    """All servers together."""

    servers: int = 0
    well: int = 0
    down: int = 0
    needs_login: int = 0
    tools: int = 0
    offered: int = 0
    resources: int = 0
    templates: int = 0
    prompts: int = 0
    changed: int = 0
    calls: int = 0
    errors: int = 0
    hour_calls: int = 0
    hour_errors: int = 0
    latency_ms: float | None = None


class Servers(msgspec.Struct, frozen=True):
    """A page of servers by name, the totals of all."""

    items: tuple[Server, ...]
    next_cursor: str | None = None
    total: int = 0
    totals: Totals = Totals()


class NodeAnswer(msgspec.Struct, frozen=True):
    """What a node did; `answered` False: asked, not answered yet."""

    node: str
    answered: bool
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    error: str = ""


class Ordered(msgspec.Struct, frozen=True):
    """A refresh or a reconnect of a server on every node."""

    server: str
    order: str
    nodes: tuple[NodeAnswer, ...] = ()


class AllOrdered(msgspec.Struct, frozen=True):
    items: tuple[Ordered, ...]


class CatalogEntry(msgspec.Struct, frozen=True):
    """A server that Redshank knows how to start; `record`: the fields to add it with."""

    name: str
    title: str = ""
    description: str = ""
    made_by: str = ""
    transport: str = ""
    slots: tuple[str, ...] = ()
    record: dict[str, Any] = {}


class McpProfile(msgspec.Struct, frozen=True):
    """Servers of the catalog that go together."""

    name: str
    description: str = ""
    servers: tuple[str, ...] = ()


class Slot(msgspec.Struct, frozen=True):
    """A slot that a server names; `state`: set, missing, revoked."""

    server: str
    slot: str
    field: str = ""
    state: str = ""


class McpClient:
    """Raises as `ConsoleClient` does. Orders are answered within 10 s."""

    def __init__(self, console: ConsoleClient) -> None:
        self._console = console

    def servers(self, query: Query) -> Servers:
        """A page of servers by name."""
        return self._console.read("/v1/mcp/servers", Servers, query)

    def server(self, name: str) -> Detail:
        """One server with all that it offers; NotFound."""
        return self._console.read(_path(name), Detail)

    def add(self, record: Body) -> Server:
        """Add a server; Conflict where its name is taken, Invalid names the field to mend."""
        return self._console.write("POST", "/v1/mcp/servers", record, Server)

    def replace(self, name: str, record: Body) -> Server:
        """Give a server that was added another record; NotFound."""
        return self._console.write("PUT", _path(name), record, Server)

    def remove(self, name: str) -> Server:
        """Remove a server that was added; NotFound, Conflict for one of the settings."""
        return self._console.write("DELETE", _path(name), {}, Server)

    def order(self, name: str, order: str) -> Ordered:
        """Have every node `refresh` a server, or `reconnect` to it; NotFound."""
        return self._console.write("POST", f"{_path(name)}/{order}", {}, Ordered)

    def refresh_all(self) -> AllOrdered:
        """Have every node refresh every server."""
        return self._console.write("POST", "/v1/mcp/refresh", {}, AllOrdered)

    def accept(self, name: str, tool: str, digest: str) -> Detail:
        """Accept what a tool changed to; Conflict where it is no longer that."""
        body = {"tool": tool, "digest": digest}
        return self._console.write("POST", f"{_path(name)}/tools/accept", body, Detail)

    def catalog(self, query: Query) -> Page[CatalogEntry]:
        """A page of the catalog by name."""
        return self._console.read("/v1/mcp/catalog", Page[CatalogEntry], query)

    def catalog_entry(self, name: str) -> CatalogEntry:
        """One server of the catalog; NotFound."""
        return self._console.read(f"/v1/mcp/catalog/{quote(name, safe='')}", CatalogEntry)

    def profiles(self, query: Query) -> Page[McpProfile]:
        """A page of profiles by name."""
        return self._console.read("/v1/mcp/profiles", Page[McpProfile], query)

    def profile(self, name: str) -> McpProfile:
        """One profile; NotFound."""
        return self._console.read(f"/v1/mcp/profiles/{quote(name, safe='')}", McpProfile)

    def slots(self) -> Page[Slot]:
        """Every slot that a server names."""
        return self._console.read("/v1/mcp/slots", Page[Slot])


def _path(name: str) -> str:
    return f"/v1/mcp/servers/{quote(name, safe='')}"
