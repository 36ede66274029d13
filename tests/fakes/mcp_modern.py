"""An MCP server of the 2026-07-28 protocol, made with the library's own server.

Run it: `mcp_modern.py FOLDER`. Its tool `grow` adds the tool `later` and says so to whoever
listens; `wait` works until it is cancelled, which it notes in FOLDER/cancelled.
"""

import sys
from pathlib import Path

import anyio
from mcp.server import MCPServer
from mcp.server.mcpserver import Context

folder = Path(sys.argv[1])
server = MCPServer("modern", instructions="Ask twice.")


@server.tool()
async def grow(ctx: Context) -> str:
    """Adds a tool."""
    server.add_tool(later, name="later")
    await ctx.notify_tools_changed()
    return "grown"


@server.tool()
async def wait() -> str:
    """Works until it is cancelled."""
    try:
        (folder / "waiting").touch()
        await anyio.sleep_forever()
    finally:
        (folder / "cancelled").touch()
    return ""


def later(number: int) -> int:
    """Doubles a number."""
    return number * 2


server.run("stdio")
