"""Loads the MCP library, once a server is there that needs it."""

import asyncio
import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from redshank_node.mcp_client.connecting import Opener

_MODULE = "redshank_node.mcp_client.connection"


async def load_opener() -> "Opener":
    """What opens a connection. The first time costs 0.4 s and 60 MB: the loop goes on meanwhile."""
    module = await asyncio.to_thread(importlib.import_module, _MODULE)
    opener: Opener = module.open_connection
    return opener
