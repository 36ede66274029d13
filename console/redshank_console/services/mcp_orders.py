"""Changes MCP servers of the cluster: adds, replaces, removes, accepts what tools changed to."""

from collections.abc import Awaitable, Callable, Iterable
from typing import Any

import msgspec

from redshank_console.services.admin_audit import AdminAudit
from redshank_console.services.kept_answers import KeptAnswers, entry_of
from redshank_console.services.mcp_known import of_rows
from redshank_console.services.mcp_reading import McpReading
from redshank_console.services.mcp_views import server_view
from redshank_console.services.orders import Answer, Clock
from redshank_shared.domain.errors import Conflict, Invalid, Misconfigured
from redshank_shared.domain.mcp_names import check_servers
from redshank_shared.session_commands import KeyedRequest
from redshank_shared.settings.mcp_server import McpServer, check
from redshank_shared.settings.mcp_sources import from_toml
from redshank_shared.stores.database import Database
from redshank_shared.stores.mcp_servers import McpServerRows, StoredServer
from redshank_shared.stores.mcp_tools import McpTools
from redshank_shared.stores.permission_rules import Beside
from redshank_shared.wire.mcp_requests import McpServerRecord, NewMcpServer
from redshank_shared.wire.mcp_views import McpServerDetailView


class McpOrders:
    """Nodes follow within seconds. Each change is audited in its own transaction.

    Every method raises Unavailable while the database does not answer.
    """

    def __init__(
        self,
        database: Database,
        reading: McpReading,
        kept: KeptAnswers,
        audit: AdminAudit,
        clock: Clock,
        tell: Callable[[], Awaitable[None]],
        transports: str = "both",
    ) -> None:
        """`tell` has nodes look at once; `transports`: which ways of reaching a server [mcp] allows
        (C-50).
        """
        self._database = database
        self._reading = reading
        self._kept = kept
        self._audit = audit
        self._clock = clock
        self._tell = tell
        self._transports = transports
        self._rows = McpServerRows(database)
        self._tools = McpTools(database)

    async def add(self, new: NewMcpServer, by: str, keyed: KeyedRequest | None) -> Answer:
        """201 and the server. Invalid names the field that contradicts another (K-59), Conflict a
        name that is taken.
        """
        return await self._kept.once(keyed, lambda: self._add(new, by, keyed))

    async def _add(self, new: NewMcpServer, by: str, keyed: KeyedRequest | None) -> Answer:
        server = self._checked(new.name, new)
        known = await self._reading.known()
        if new.name in known:
            raise _taken(new.name, known[new.name].origin)
        _check_beside(server, known)

        def beside(stored: StoredServer) -> Beside:
            return self._beside("mcp_server.added", by, stored, keyed, 201)

        stored = await self._database.run(self._rows.add, self._row(server, by), beside)
        await self._tell()
        return _answer(stored, 201)

    async def replace(
        self, name: str, record: McpServerRecord, by: str, keyed: KeyedRequest | None
    ) -> Answer:
        """200 and the server, to which every node connects anew; NotFound where none was added
        under this name.
        """
        return await self._kept.once(keyed, lambda: self._replace(name, record, by, keyed))

    async def _replace(
        self, name: str, record: McpServerRecord, by: str, keyed: KeyedRequest | None
    ) -> Answer:
        server = self._checked(name, record)

        def beside(stored: StoredServer) -> Beside:
            return self._beside("mcp_server.replaced", by, stored, keyed, 200)

        stored = await self._database.run(self._rows.replace, self._row(server, by), beside)
        await self._tell()
        return _answer(stored, 200)

    async def remove(self, name: str, by: str, keyed: KeyedRequest | None) -> Answer:
        """200 and the server as it was; NotFound where none was added under this name, Conflict
        for one of the settings.
        """
        return await self._kept.once(keyed, lambda: self._remove(name, by, keyed))

    async def _remove(self, name: str, by: str, keyed: KeyedRequest | None) -> Answer:
        known = (await self._reading.known()).get(name)
        if known is not None and known.origin == "settings":
            raise Conflict(
                f"MCP server {name} stands in the settings: take it out there, or set its "
                "`enabled = false`",
                code="mcp_server_of_settings",
                field="name",
            )

        def beside(stored: StoredServer) -> Beside:
            return self._beside("mcp_server.removed", by, stored, keyed, 200)

        stored = await self._database.run(self._rows.remove, name, beside)
        await self._tell()
        return _answer(stored, 200)

    async def accept(self, server: str, tool: str, digest: str, by: str) -> McpServerDetailView:
        """The server, once the tool is accepted as it is now (F64). Conflict where this digest is
        not its change: it changed again, or back.
        """
        act = self._audit.act(by, "mcp_tool.accepted", f"{server}/{tool}", digest)
        accepted = await self._database.run(self._tools.accept_change, server, tool, digest, act)
        if not accepted:
            raise Conflict(
                f"the tool {tool[:100]} of MCP server {server[:100]} has no such change (any more):"
                " look at what it is now, then accept that",
                code="mcp_change_moved",
                field="digest",
            )
        return await self._reading.server(server, by)

    def _checked(self, name: str, record: McpServerRecord) -> McpServer:
        server = _checked(name, record)
        if self._transports not in ("both", server.transport):
            raise Invalid(
                f"MCP server {name} is reached over {server.transport}, and [mcp] transports is "
                f"{self._transports!r}: reach it the other way, or have the operator change that",
                code="mcp_misconfigured",
                field="command" if server.command else "url",
            )
        return server

    def _row(self, server: McpServer, by: str) -> StoredServer:
        record = msgspec.json.encode(server).decode()
        return StoredServer(server.name, record, by, self._clock.at())

    def _beside(
        self, act: str, by: str, stored: StoredServer, keyed: KeyedRequest | None, status: int
    ) -> Beside:
        known = of_rows((stored,))[0]
        done = self._audit.act(by, act, stored.name, known.address[:500])
        return Beside(done, entry_of(keyed, _answer(stored, status)))


def _checked(name: str, record: McpServerRecord) -> McpServer:
    """The server of the body; Invalid names the body's field."""
    fields: dict[str, Any] = record.model_dump(exclude_unset=True, exclude={"name"})
    try:
        server = from_toml({name: fields}, "the body")[0]
        check((server,))
    except Misconfigured as wrong:
        raise _as_invalid(wrong, name) from wrong
    return server


def _check_beside(server: McpServer, known: Iterable[str]) -> None:
    try:
        check_servers((*known, server.name))
    except Misconfigured as wrong:
        raise Conflict(wrong.detail, code=wrong.code, field="name") from wrong


def _as_invalid(wrong: Misconfigured, name: str) -> Invalid:
    whole = f"mcp.servers.{name}"
    field = wrong.field or whole
    field = "name" if field == whole else field.removeprefix(f"{whole}.")
    return Invalid(wrong.detail, code=wrong.code, field=field)


def _taken(name: str, origin: str) -> Conflict:
    mend = (
        "the settings have it, and they win: choose another name"
        if origin == "settings"
        else "it was added already: replace it, remove it first, or choose another name"
    )
    return Conflict(
        f"the name {name} is taken: {mend}. Tools are called mcp__name__tool",
        code="mcp_name_taken",
        field="name",
    )


def _answer(stored: StoredServer, status: int) -> Answer:
    """What is kept for a repeated request: the server before any node has heard of it."""
    return Answer(status, server_view(of_rows((stored,))[0], (), 0).model_dump_json())
