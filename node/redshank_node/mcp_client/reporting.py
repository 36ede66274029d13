"""Says what a node's MCP servers are like, in the words of its reports."""

from collections.abc import Callable, Iterable, Mapping

import msgspec

from redshank_node.mcp_client.inventory import Inventory, RemoteResource, ServerStatus
from redshank_shared.domain.errors import Misconfigured
from redshank_shared.domain.mcp_names import qualified
from redshank_shared.queue.reports import MOST_DETAIL, McpFigures, McpServerReport
from redshank_shared.settings.mcp_server import McpServer, public_fields
from redshank_shared.wire.mcp_catalogue import (
    MOST_BYTES,
    ListedArgument,
    ListedDrop,
    ListedPrompt,
    ListedResource,
    ListedServer,
    ListedTool,
    Origin,
)

_MOST_LOOKED_THROUGH = 4 * MOST_BYTES


def figures(statuses: Iterable[ServerStatus]) -> McpFigures:
    """What the servers offer that are connected (T-78)."""
    there = [status for status in statuses if status.state == "connected"]
    return McpFigures(
        servers=len(there),
        resources=sum(status.resources for status in there),
        prompts=sum(status.prompts for status in there),
        tools=sum(status.tools for status in there),
    )


def server_reports(
    statuses: Iterable[ServerStatus], inventories: Mapping[str, Inventory]
) -> tuple[McpServerReport, ...]:
    """Each server in a line of the node's report."""
    return tuple(
        McpServerReport(
            name=status.name,
            state=status.state,
            since=status.since,
            detail=status.detail[:MOST_DETAIL],
            latency_ms=status.latency_ms,
            tools=status.tools,
            offered=_offered(status, inventories.get(status.name)),
            resources=status.resources,
            templates=status.templates,
            prompts=status.prompts,
            calls=status.calls,
            errors=status.errors,
            hour_calls=status.hour_calls,
            hour_errors=status.hour_errors,
        )
        for status in statuses
    )


def listed(
    server: McpServer, origin: Origin, status: ServerStatus, inventory: Inventory | None
) -> ListedServer:
    """A server for the node's catalogue; secrets masked (K-62)."""
    found = inventory or Inventory(server.name)
    return ListedServer(
        name=server.name,
        origin=origin,
        record=public_fields(server),
        protocol=found.protocol,
        title=found.title,
        instructions=found.instructions,
        tools=tuple(
            ListedTool(
                tool.name,
                _exposed(server.name, tool.name),
                tool.title,
                tool.description,
                tool.input_schema,
            )
            for tool in found.tools
        ),
        resources=tuple(_resource(each) for each in (*found.resources, *found.templates)),
        prompts=tuple(
            ListedPrompt(
                prompt.name,
                _exposed(server.name, prompt.name),
                prompt.description,
                tuple(
                    ListedArgument(each.name, each.description, each.required)
                    for each in prompt.arguments
                ),
            )
            for prompt in found.prompts
        ),
        dropped=tuple(ListedDrop(each.name, each.why) for each in found.dropped),
        warnings=status.warnings,
    )


def without_secrets(server: ListedServer, redact: Callable[[str], str]) -> ListedServer:
    """The server with secrets taken out of all that it says of itself (F12); of one that says too
    much to be looked through, which no catalogue holds anyway, the names alone.
    """
    text = msgspec.json.encode(server).decode()
    if len(text) > _MOST_LOOKED_THROUGH:
        server = _named_alone(server)
        text = msgspec.json.encode(server).decode()
    clean = redact(text)
    if clean == text:
        return server
    try:
        return msgspec.json.decode(clean, type=ListedServer)
    except msgspec.DecodeError:
        why = ("what it offers is not shown: a secret stands in it",)
        return ListedServer(server.name, server.origin, server.record, warnings=why)


def _named_alone(server: ListedServer) -> ListedServer:
    return msgspec.structs.replace(
        server,
        instructions="",
        tools=tuple(ListedTool(tool.name, tool.exposed) for tool in server.tools),
        resources=(),
        prompts=tuple(ListedPrompt(each.name, each.exposed) for each in server.prompts),
    )


def _offered(status: ServerStatus, inventory: Inventory | None) -> int:
    if inventory is None:
        return status.tools
    return status.tools + len(inventory.dropped) + inventory.not_enabled


def _resource(found: RemoteResource) -> ListedResource:
    return ListedResource(
        found.uri, found.name, found.description, found.media_type, found.is_template
    )


def _exposed(server: str, name: str) -> str:
    try:
        return qualified(server, name)
    except Misconfigured:
        return ""
