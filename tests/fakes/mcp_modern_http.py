"""An MCP server of the 2026-07-28 protocol behind a port, made with the library's own server.

Run it: `mcp_modern_http.py PORT`. Its tool `grow` adds the tool `later` and says so to whoever
listens.
"""

import sys

from mcp.server import MCPServer
from mcp.server.mcpserver import Context

server = MCPServer("modern", instructions="Ask twice.")


@server.tool()
async def grow(ctx: Context) -> str:
    """Adds a tool."""
    server.add_tool(later, name="later")
    await ctx.notify_tools_changed()
    return "grown"


@server.tool()
async def count(ctx: Context, to: int) -> int:
    """Counts, telling how far it is."""
    for number in range(1, to + 1):
        await ctx.report_progress(number, to, f"at {number}")
    return to


@server.resource("birds://redshank")
def redshank() -> str:
    """A bird."""
    return "red legs"


@server.resource("birds://of/{place}")
def birds(place: str) -> str:
    """The birds of a place."""
    return f"redshanks of {place}"


@server.prompt()
def describe(bird: str) -> str:
    """Asks what a bird looks like."""
    return f"What does a {bird} look like?"


def later(number: int) -> int:
    """Doubles a number."""
    return number * 2


server.run("streamable-http", host="127.0.0.1", port=int(sys.argv[1]))
