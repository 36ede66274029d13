"""Names of what MCP servers offer: unique, never cut."""

import re
from collections.abc import Iterable

from redshank_shared.domain.errors import Misconfigured

PREFIX = "mcp__"
MOST_CHARACTERS = 64
_OTHER = re.compile(r"[^A-Za-z0-9_-]")


def server_part(server: str) -> str:
    """A server's name as it stands in its tools' names."""
    return _OTHER.sub("_", server)


def tool_part(tool: str) -> str:
    """A tool's name as it stands in its qualified one."""
    return _OTHER.sub("_", tool)


def qualified(server: str, tool: str) -> str:
    """`mcp__server__tool` (K-66, T-71). Every other character than letters, digits, `_` or `-` is
    written `_`.

    Misconfigured where that has more than 64 characters (O19): providers refuse it, and what is cut
    off could make two names one (F8).
    """
    name = f"{PREFIX}{server_part(server)}__{tool_part(tool)}"
    if len(name) > MOST_CHARACTERS:
        raise Misconfigured(
            f"the tool {tool} of MCP server {server} would be called {name}: {len(name)} "
            f"characters, {MOST_CHARACTERS} are allowed; give the server a shorter name, or leave "
            "the tool out with disabled_tools",
            code="mcp_name_too_long",
            field=f"mcp.servers.{server}",
        )
    return name


def all_qualified(offered: Iterable[tuple[str, str]]) -> dict[str, tuple[str, str]]:
    """(server, tool) by qualified name. Misconfigured where two would get one name: neither is ever
    overwritten (K-66, F8).
    """
    found: dict[str, tuple[str, str]] = {}
    for server, tool in offered:
        name = qualified(server, tool)
        other = found.setdefault(name, (server, tool))
        if other != (server, tool):
            raise Misconfigured(
                f"{name} would be both tool {other[1]} of MCP server {other[0]} and tool {tool} "
                f"of {server}: rename a server, or leave one of them out with disabled_tools",
                code="mcp_name_collision",
                field=f"mcp.servers.{server}",
            )
    return found


def check_servers(names: Iterable[str]) -> None:
    """Misconfigured for a server's name that is empty, has `__` in it (T-71), or reads as another's
    once it stands in a tool's name (K-59).
    """
    found: dict[str, str] = {}
    for name in names:
        part = server_part(name)
        if not part.strip("_") or "__" in part:
            raise Misconfigured(
                f"{name!r} cannot name an MCP server: use letters, digits, single _ or -",
                code="mcp_bad_name",
                field=f"mcp.servers.{name}",
            )
        other = found.setdefault(part, name)
        if other != name:
            raise Misconfigured(
                f"the MCP servers {other!r} and {name!r} would both be called {part}: rename one",
                code="mcp_name_collision",
                field=f"mcp.servers.{name}",
            )
