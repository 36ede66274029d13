"""Says which slots MCP servers name, what is in them; never a value."""

from collections.abc import Iterable
from typing import Literal

import msgspec

from redshank_shared.settings.mcp_server import McpServer
from redshank_shared.stores.database import Database
from redshank_shared.stores.mcp_servers import McpServerRows
from redshank_shared.stores.secrets import Secrets
from redshank_shared.wire.mcp_views import McpSlotView

_State = Literal["set", "missing", "revoked"]
_decode = msgspec.json.Decoder(McpServer).decode


class McpSlots:
    """`configured`: the servers of this console's settings (K-71). What a node's environment holds
    in place of the vault is not seen from here.
    """

    def __init__(self, database: Database, configured: Iterable[McpServer]) -> None:
        self._database = database
        self._configured = tuple(configured)
        self._rows = McpServerRows(database)
        self._secrets = Secrets(database)

    async def all(self) -> list[McpSlotView]:
        """Every slot by server."""
        rows = await self._database.run(self._rows.servers)
        states = {row.slot: row.state for row in await self._database.run(self._secrets.all)}
        servers = [*self._configured, *(_decode(row.record) for row in rows)]
        return [
            McpSlotView(
                server=server.name, slot=slot, field=field, state=_state(states.get(slot, ""))
            )
            for server in sorted(servers, key=lambda each: each.name)
            for slot, field in server.slots().items()
        ]


def _state(stored: str) -> _State:
    return "revoked" if stored == "revoked" else "set" if stored == "live" else "missing"
