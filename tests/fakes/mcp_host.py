"""A process with MCP servers, to be killed: `mcp_host.py FOLDER` connects to a moody server with a
child of its own, says `connected`, and waits.
"""

import asyncio
import sys
from pathlib import Path

from redshank_shared.settings.mcp_server import McpServer
from tests.fakes.mcp_node import connected


async def main(folder: Path) -> None:
    moody = str(Path(__file__).with_name("mcp_moody.py"))
    server = McpServer(
        name="moody",
        command=sys.executable,
        args=(moody, str(folder), "stubborn", "parent"),
        startup_timeout_sec=60,
    )
    async with connected(folder, server):
        sys.stdout.write("connected\n")
        sys.stdout.flush()
        await asyncio.Event().wait()


asyncio.run(main(Path(sys.argv[1])))
