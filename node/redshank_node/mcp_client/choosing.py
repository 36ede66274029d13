"""Chooses which of a server's tools are offered, each with a reason where it is not."""

from collections.abc import Iterable

import msgspec

from redshank_node.mcp_client.inventory import Dropped, Inventory, RemoteTool
from redshank_shared.domain.errors import Misconfigured
from redshank_shared.domain.mcp_names import qualified
from redshank_shared.settings.mcp_server import McpServer


def chosen(
    server: McpServer, found: Inventory, taken: dict[str, str]
) -> tuple[Inventory, tuple[Misconfigured, ...]]:
    """What is offered of `found`, and each name that was refused.

    `enabled_tools` and `disabled_tools` leave out silently. A name that is too long, or that
    another tool has, drops this tool alone with the reason (F8, O19): what has the name keeps it.
    `taken` holds who has each name by now, and learns the new ones.
    """
    kept: list[RemoteTool] = []
    refused: list[tuple[str, Misconfigured]] = []
    wanted = _wanted(server, found.tools)
    for tool in wanted:
        try:
            name = qualified(server.name, tool.name)
            _take(name, server.name, tool.name, taken)
        except Misconfigured as error:
            refused.append((tool.name, error))
        else:
            kept.append(tool)
    dropped = tuple(Dropped(name, error.detail) for name, error in refused)
    inventory = msgspec.structs.replace(
        found,
        tools=tuple(kept),
        dropped=(*found.dropped, *dropped),
        not_enabled=len(found.tools) - len(wanted),
    )
    return inventory, tuple(error for _, error in refused)


def _wanted(server: McpServer, tools: Iterable[RemoteTool]) -> list[RemoteTool]:
    enabled = server.enabled_tools
    return [
        tool
        for tool in tools
        if (enabled is None or tool.name in enabled) and tool.name not in server.disabled_tools
    ]


def _take(name: str, server: str, tool: str, taken: dict[str, str]) -> None:
    mine = f"tool {tool} of MCP server {server}"
    if name in taken:
        raise Misconfigured(
            f"{name} would be both {taken[name]} and {mine}: rename a server, or leave one of them "
            "out with disabled_tools",
            code="mcp_name_collision",
            field=f"mcp.servers.{server}",
        )
    taken[name] = mine
