"""Follows what people change about MCP servers while the cluster runs."""

import asyncio
import logging
import shutil
from collections.abc import Callable

import msgspec

from redshank_node.mcp_client.failures import McpFailure
from redshank_node.mcp_client.starting import check_transport
from redshank_node.mcp_client.supervisor import McpServers
from redshank_shared.domain.errors import Misconfigured, RedshankError
from redshank_shared.domain.masking import is_sensitive_name
from redshank_shared.domain.mcp_names import check_servers
from redshank_shared.settings.mcp_catalog import (
    check_profiles,
    has_its_command,
    named_profiles,
    of_profiles,
)
from redshank_shared.settings.mcp_server import McpServer, check
from redshank_shared.settings.sections import Settings
from redshank_shared.stores.database import Database
from redshank_shared.stores.mcp_servers import Answered, McpServerRows, StoredServer
from redshank_shared.waiting import happened

logger = logging.getLogger(__name__)

EVERY_SECONDS = 1.0

_decode = msgspec.json.Decoder(McpServer).decode


class Overlay:
    """Servers added at run time, orders to refresh or to reconnect (T-73, K-69).

    The table is looked at each second, or when `wake` says so: what changed while this node, Redis
    or the database was away is found by its number. `learn` makes a secret known to whoever masks
    secrets.
    """

    def __init__(
        self,
        database: Database,
        service_id: str,
        servers: McpServers,
        settings: Settings,
        learn: Callable[[str], None],
    ) -> None:
        self._database = database
        self._service_id = service_id
        self._rows = McpServerRows(database)
        self._servers = servers
        self._configured = tuple(server.name for server in settings.mcp_servers)
        self._rules = settings.mcp
        self._learn = learn
        self._added: dict[str, McpServer] = {}
        self._seen = 0
        self._done: dict[str, StoredServer] = {}
        self._waiting: dict[str, StoredServer] = {}
        self._serving: dict[str, asyncio.Task[None]] = {}
        self._unwritten: dict[str, Answered] = {}
        self._unread = False
        self._woken = asyncio.Event()

    @property
    def added(self) -> frozenset[str]:
        """The names of this node's servers that come from the table."""
        return frozenset(self._added)

    async def load(self) -> None:
        """Take in what the table holds, before the servers are started: a server that is asked for
        the first time needs no refresh.
        """
        self._seen, rows = await self._database.run(self._rows.changed, 0)
        for row in rows:
            self._take_in(row)
            self._done[row.name] = row
            if row.refresh_serial or row.reconnect_serial:
                self._unwritten[row.name] = self._answered(row)

    async def started(self) -> None:
        """Return once each server is connected, or has failed its first try. Misconfigured as
        `McpServers.started` for those that the settings describe, for a profile of which none can
        be started (K-56). One server of a profile, or one that somebody added while the cluster
        ran, keeps no node from starting.
        """
        profiles = named_profiles(self._rules.profiles)
        chosen = (server.name for server in of_profiles(profiles))
        await self._servers.started({*self._added, *chosen})
        away = self._servers.without_slots()
        check_profiles(
            profiles,
            lambda server: server.name not in away and has_its_command(server, shutil.which),
        )

    async def run(self, stop: asyncio.Event) -> None:
        """Follow the table until stop."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._wake_at(stop))
            while not stop.is_set():
                self._woken.clear()
                try:
                    await self._look(group)
                    await self._write_answers()
                    self._unread = False
                except RedshankError as error:
                    if not self._unread:
                        logger.warning("MCP servers are not followed: %s", error.detail)
                    self._unread = True
                except Exception:  # noqa: BLE001 - one odd row must not end the following
                    logger.exception("MCP servers were not followed")
                if not stop.is_set():
                    await happened(self._woken, EVERY_SECONDS)
            for serving in self._serving.values():
                serving.cancel()

    def wake(self) -> None:
        """Look at the table now."""
        self._woken.set()

    async def _wake_at(self, stop: asyncio.Event) -> None:
        await stop.wait()
        self._woken.set()

    async def _look(self, group: asyncio.TaskGroup) -> None:
        seen, rows = await self._database.run(self._rows.changed, self._seen)
        for row in rows:
            self._take_in(row)
            if _orders(row) != _orders(self._done.get(row.name)):
                self._waiting[row.name] = row
        self._seen = seen
        for name in [name for name in self._waiting if name not in self._serving]:
            row = self._waiting.pop(name)
            reconnects = row.reconnect_serial > _orders(self._done.get(name))[1]
            self._done[name] = row
            self._serving[name] = group.create_task(self._serve(row, reconnects))

    def _take_in(self, row: StoredServer) -> None:
        if row.name in self._configured:
            if row.record:
                logger.warning("MCP server %s was added, the settings have one: they win", row.name)
            return
        if row.removed or not row.record:
            if self._added.pop(row.name, None) is not None:
                self._servers.drop(row.name)
                logger.info("MCP server %s was removed", row.name)
            return
        server = self._read(row)
        if server is not None and server != self._added.get(row.name):
            self._added[row.name] = server
            self._servers.put(server)
            logger.info("MCP server %s was added by %s", row.name, row.added_by)

    def _read(self, row: StoredServer) -> McpServer | None:
        try:
            server = _decode(row.record)
            for secret in _secrets_of(server):
                self._learn(secret)
            check((server,))
            check_transport(server, self._rules.transports)
            check_servers((*self._configured, server.name))
        except (msgspec.MsgspecError, Misconfigured) as error:
            logger.warning("MCP server %s is left out: %s", row.name, error)
            return None
        return server

    async def _serve(self, row: StoredServer, reconnects: bool) -> None:
        """Carry out the row's orders; a reconnect ends in the same discovery as a refresh."""
        try:
            answered = await self._carried_out(row, reconnects)
        finally:
            del self._serving[row.name]
        self._unwritten[row.name] = answered
        try:
            await self._write_answers()
        except RedshankError as error:
            logger.warning("what MCP server %s did is not written yet: %s", row.name, error.detail)

    async def _carried_out(self, row: StoredServer, reconnects: bool) -> Answered:
        if self._servers.record(row.name) is None:
            return self._answered(row, error="this node has no MCP server of that name")
        try:
            if reconnects:
                changed = await self._servers.reconnect(row.name)
            else:
                changed = await self._servers.refresh(row.name)
        except McpFailure as failure:
            return self._answered(row, error=failure.cause)
        except Exception as failure:  # noqa: BLE001 - whoever asked must have an answer
            logger.exception("MCP server %s was not asked again", row.name)
            return self._answered(row, error=f"it was not asked: {type(failure).__name__}")
        return self._answered(row, changed.added, changed.removed, changed.failed)

    def _answered(
        self,
        row: StoredServer,
        added: tuple[str, ...] = (),
        removed: tuple[str, ...] = (),
        error: str = "",
    ) -> Answered:
        return Answered(
            self._service_id,
            row.name,
            row.refresh_serial,
            row.reconnect_serial,
            added,
            removed,
            error,
        )

    async def _write_answers(self) -> None:
        for name, answered in list(self._unwritten.items()):
            await self._database.run(self._rows.answer, answered)
            if self._unwritten.get(name) is answered:
                del self._unwritten[name]


def _orders(row: StoredServer | None) -> tuple[int, int]:
    return (row.refresh_serial, row.reconnect_serial) if row is not None else (0, 0)


def _secrets_of(server: McpServer) -> list[str]:
    """What the record holds that its own names call secret."""
    named = (*server.env.items(), *server.headers.items())
    return [value for name, value in named if is_sensitive_name(name)]
