"""Keeps all MCP servers of one node connected, for every turn of it (K-55)."""

import asyncio
import logging
from collections.abc import Callable, Collection, Mapping
from typing import Any, Literal

import msgspec

from redshank_node.mcp_client.asking import Asking
from redshank_node.mcp_client.calling import Called
from redshank_node.mcp_client.choosing import chosen
from redshank_node.mcp_client.connecting import Connection
from redshank_node.mcp_client.failures import ServerUnavailable, ToolChanged
from redshank_node.mcp_client.inventory import Changed, Inventory, ServerStatus
from redshank_node.mcp_client.owner import InventoryKind, Owner
from redshank_node.mcp_client.surroundings import Surroundings
from redshank_shared.domain.errors import Misconfigured, NotFound
from redshank_shared.settings.mcp_server import McpServer
from redshank_shared.settings.mcp_starting import without

logger = logging.getLogger(__name__)

# A command that ignores its end takes five: to leave, for TERM, for KILL.
_STOP_SECONDS = 8.0
_CHANGED = (
    "not sent: it says something else of this tool since it came back; a person is asked about it "
    "at the next call"
)


class Rules(msgspec.Struct, frozen=True):
    """What `[mcp]` says of all servers. `fatal`: the start fails; `skip`: the tool alone is left
    out, `degrade`: the server alone is.
    """

    on_collision: Literal["fatal", "skip"] = "skip"
    on_failure: Literal["degrade", "fatal"] = "degrade"
    inventory: InventoryKind = "live"


class McpServers:
    """All MCP servers of one node."""

    def __init__(
        self, servers: tuple[McpServer, ...], surroundings: Surroundings, rules: Rules | None = None
    ) -> None:
        self._surroundings = surroundings
        self._rules = rules or Rules()
        self._owners: dict[str, Owner] = {}
        self._asking: dict[str, Asking] = {}
        self._running: set[asyncio.Task[None]] = set()
        self._group: asyncio.TaskGroup | None = None
        self._revision = 0
        self._shown: dict[str, Inventory] | None = None
        self._refused: tuple[Misconfigured, ...] = ()
        for server in servers:
            self.put(server)

    async def run(self, stop: asyncio.Event) -> None:
        """Own every connection until `stop`; returns once all is closed and all children are
        gone.
        """
        async with asyncio.TaskGroup() as group:
            self._group = group
            for owner in self._owners.values():
                self._own(owner, group)
            await stop.wait()
            self._group = None
            for owner in self._owners.values():
                owner.stop()
            running = tuple(self._running)
            if running:
                await asyncio.wait(running, timeout=_STOP_SECONDS)
            for task in running:
                task.cancel()

    def _own(self, owner: Owner, group: asyncio.TaskGroup) -> None:
        task = group.create_task(owner.run())
        self._running.add(task)
        task.add_done_callback(self._running.discard)

    async def started(self, lenient: Collection[str] = ()) -> None:
        """Return once each server is connected, or has failed its first try.

        Misconfigured for a slot that is missing (K-59), for a required server that failed (O18),
        with `on_failure` or `on_collision` fatal for any (C-55, K-66); for none of `lenient`.
        """
        for owner in tuple(self._owners.values()):
            await owner.tries.first()
        counted = {name: owner for name, owner in self._owners.items() if name not in lenient}
        for owner in counted.values():
            if owner.misconfigured is not None:
                raise owner.misconfigured
        failed = {name: owner.detail for name, owner in counted.items() if owner.state == "failed"}
        fatal = self._rules.on_failure == "fatal"
        records = [
            msgspec.structs.replace(owner.server, required=True) if fatal else owner.server
            for owner in counted.values()
        ]
        without(records, failed)
        self.inventories()
        fields = {f"mcp.servers.{name}" for name in counted}
        refused = [error for error in self._refused if error.field in fields]
        if refused and self._rules.on_collision == "fatal":
            raise refused[0]

    def without_slots(self) -> frozenset[str]:
        """The servers that are not contacted because a slot of theirs is missing or revoked."""
        return frozenset(
            name
            for name, owner in self._owners.items()
            if owner.misconfigured is not None or owner.state == "left_out"
        )

    @property
    def revision(self) -> int:
        """Grows with every change of an inventory or a state."""
        return self._revision

    @property
    def follows(self) -> bool:
        """See `Servers`."""
        return self._rules.inventory == "live"

    def inventories(self) -> Mapping[str, Inventory]:
        """What can be used, by server, in the order of the configuration. Of one that reconnects
        it is what it offered before.
        """
        if self._shown is None:
            self._shown, self._refused = self._chosen()
        return self._shown

    def said(self, name: str) -> Inventory | None:
        """See `Servers`."""
        owner = self._owners.get(name)
        return None if owner is None else owner.said

    def statuses(self) -> tuple[ServerStatus, ...]:
        """How each server is."""
        return tuple(self._status(name) for name in self._owners)

    def record(self, name: str) -> McpServer | None:
        """A server as it is configured here."""
        owner = self._owners.get(name)
        return None if owner is None else owner.server

    def asleep(self) -> tuple[str, ...]:
        """The servers with an account that wait for the first call of a session (K-63)."""
        sleeps = self._surroundings.sleeps
        if sleeps is None:
            return ()
        return tuple(name for name, owner in self._owners.items() if sleeps(owner.server))

    async def wake(self, server: str) -> None:
        """A session that may use the server calls it: it is contacted (K-64). Raises McpFailure."""
        self._of(server)
        await self._owners[server].ready()

    async def call(
        self,
        server: str,
        tool: str,
        arguments: dict[str, Any],
        timeout_seconds: float,
        on_progress: Callable[[str], None] | None = None,
        is_same: Callable[[], bool] | None = None,
    ) -> Called:
        """Call a tool by its server's own name for it. Raises McpFailure; when the task is
        cancelled the server is told, the connection goes on. Nothing is sent where the tool is not
        the same any more, as behind a connection that was made anew for this call (F64).
        """

        async def request(connection: Connection) -> Called:
            if is_same is not None and not is_same():
                raise ToolChanged(server, _CHANGED)
            return await connection.call_tool(tool, arguments, on_progress)

        return await self._of(server).ask(request, timeout_seconds)

    async def read_resource(self, server: str, uri: str, timeout_seconds: float) -> Called:
        """Read a resource. Raises McpFailure."""
        return await self._of(server).ask(
            lambda connection: connection.read_resource(uri), timeout_seconds
        )

    async def get_prompt(
        self, server: str, name: str, arguments: dict[str, str], timeout_seconds: float
    ) -> Called:
        """Have a prompt filled in. Raises McpFailure."""
        return await self._of(server).ask(
            lambda connection: connection.get_prompt(name, arguments), timeout_seconds
        )

    async def refresh(self, name: str) -> Changed:
        """Ask a server anew what it offers, connect it if it is away (T-73). NotFound."""
        return await self._known(name).refresh()

    async def reconnect(self, name: str) -> Changed:
        """Close a server's connection, connect anew (T-73). NotFound."""
        return await self._known(name).reconnect()

    def put(self, server: McpServer) -> None:
        """Add a server, or give one of this name another record; no other one notices."""
        self.drop(server.name)
        owner = Owner(server, self._surroundings, self._notice, self._rules.inventory)
        self._owners[server.name] = owner
        self._asking[server.name] = Asking(owner, self._surroundings.monotonic)
        self._notice()
        if self._group is not None:
            self._own(owner, self._group)

    def drop(self, name: str) -> None:
        """Close a server's connection, forget it; no other one notices."""
        owner = self._owners.pop(name, None)
        if owner is not None:
            owner.stop()
            del self._asking[name]
            self._notice()

    def _of(self, name: str) -> Asking:
        asking = self._asking.get(name)
        if asking is None:
            raise ServerUnavailable(name, "there is no such server on this node any more")
        if self._surroundings.admit is not None:
            self._surroundings.admit(self._owners[name].server)
        return asking

    def _known(self, name: str) -> Owner:
        owner = self._owners.get(name)
        if owner is None:
            known = ", ".join(self._owners) or "none"
            raise NotFound(f"there is no MCP server {name} on this node; there are: {known}")
        return owner

    def _notice(self) -> None:
        self._revision += 1
        self._shown = None

    def _chosen(self) -> tuple[dict[str, Inventory], tuple[Misconfigured, ...]]:
        taken: dict[str, str] = {}
        shown: dict[str, Inventory] = {}
        refused: list[Misconfigured] = []
        for name, owner in self._owners.items():
            if owner.found is not None:
                shown[name], errors = chosen(owner.server, owner.found, taken)
                refused += errors
        return shown, tuple(refused)

    def _status(self, name: str) -> ServerStatus:
        owner, figures = self._owners[name], self._asking[name].figures
        shown = self.inventories().get(name, Inventory(name))
        hour_calls, hour_errors = figures.last_hour()
        return ServerStatus(
            name=name,
            state=owner.state,
            transport=owner.server.transport,
            since=owner.since,
            detail=owner.detail,
            protocol=shown.protocol,
            tools=len(shown.tools),
            resources=len(shown.resources),
            templates=len(shown.templates),
            prompts=len(shown.prompts),
            calls=figures.calls,
            errors=figures.errors,
            hour_calls=hour_calls,
            hour_errors=hour_errors,
            latency_ms=figures.latency_ms,
            reconnects=owner.reconnects,
            warnings=owner.warnings.lines(),
        )
