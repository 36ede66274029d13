"""Gives what servers offer their names in a turn, says what has none."""

from collections.abc import Mapping

import msgspec

from redshank_node.mcp_client.inventory import Dropped, Inventory, RemoteTool
from redshank_shared.domain.errors import Misconfigured
from redshank_shared.domain.mcp_names import qualified


class NamedTool(msgspec.Struct, frozen=True):
    """A tool of a server under the name that models call it by."""

    name: str
    server: str
    tool: RemoteTool


class Named(msgspec.Struct, frozen=True):
    """The tools that have a name of their own; what was left out, with its server."""

    tools: tuple[NamedTool, ...]
    dropped: tuple[tuple[str, Dropped], ...] = ()


def named(inventories: Mapping[str, Inventory]) -> Named:
    """The tools by server, then in the server's order. Where two would get one name, the later is
    left out; so is one whose name would be too long: none is ever cut or overwritten (F8, O19).
    """
    taken: dict[str, NamedTool] = {}
    dropped: list[tuple[str, Dropped]] = []
    for server in sorted(inventories):
        for tool in inventories[server].tools:
            try:
                name = qualified(server, tool.name)
            except Misconfigured as wrong:
                dropped.append((server, Dropped(tool.name, wrong.detail)))
                continue
            other = taken.get(name)
            if other is None:
                taken[name] = NamedTool(name, server, tool)
                continue
            why = (
                f"{name} is already the tool {other.tool.name} of MCP server {other.server}: "
                "rename a server, or leave one of them out with disabled_tools"
            )
            dropped.append((server, Dropped(tool.name, why)))
    return Named(tuple(taken.values()), tuple(dropped))


def prompt_name(server: str, prompt: str) -> str:
    """What a prompt is called (T-76); "" where that would be too long to be called at all."""
    try:
        return qualified(server, prompt)
    except Misconfigured:
        return ""
