"""Keeps one MCP server connected: one task enters its connection, nobody else does."""

import asyncio
import contextlib
import logging
from collections.abc import Callable
from typing import Literal

from redshank_node.mcp_client.backoff import Breaker, delay_seconds
from redshank_node.mcp_client.connecting import Connection, NotExecuted
from redshank_node.mcp_client.failures import (
    McpFailure,
    OutcomeUnknown,
    ProtocolFailure,
    ServerUnavailable,
)
from redshank_node.mcp_client.inventory import Changed, Inventory, ServerState, changed
from redshank_node.mcp_client.loading import load_opener
from redshank_node.mcp_client.readiness import LOOK_AGAIN_SECONDS, Hindrance, hindrance
from redshank_node.mcp_client.rounds import Rounds
from redshank_node.mcp_client.silence import Silence, ping_seconds
from redshank_node.mcp_client.surroundings import Surroundings
from redshank_node.mcp_client.warnings_kept import KeptWarnings
from redshank_shared.clock import rfc3339
from redshank_shared.domain.errors import Misconfigured
from redshank_shared.settings.mcp_server import McpServer
from redshank_shared.waiting import happened

logger = logging.getLogger(__name__)

InventoryKind = Literal["live", "boot", "fixed"]

_GATHER_SECONDS = 0.1
_REFRESH_EVERY_SECONDS = 1.0
_REFRESHES_BEFORE_LOST = 3
_PROVEN_SECONDS = 10.0
_LONGEST_CAUSE = 500


class Owner:
    """One server of this node. `notice` is called at each change of its state or its offers;
    `kind` says when changed lists are followed: `live` at once, `boot` at each connection or when
    somebody asks for it, `fixed` never. `found` is what that comes to, `said` what the server said
    last.
    """

    def __init__(
        self,
        server: McpServer,
        surroundings: Surroundings,
        notice: Callable[[], None],
        kind: InventoryKind = "live",
    ) -> None:
        self.server = server
        self.state: ServerState = "connecting"
        self.detail = ""
        self.since = rfc3339(surroundings.now())
        self.found: Inventory | None = None
        self.said: Inventory | None = None
        self.misconfigured: Misconfigured | None = None
        self.reconnects = 0
        self.warnings = KeptWarnings(surroundings.redact)
        self.gone = asyncio.Event()
        self.tries = Rounds()
        self._refreshes = Rounds()
        self._surroundings = surroundings
        self._notice = notice
        self._kind = kind
        self._breaker = Breaker()
        self._live: Connection | None = None
        self._nudged = asyncio.Event()
        self._starting: asyncio.Timeout | None = None
        self._stopping = self._renewing = self._wanted = False
        self._dirty = self._asked = False
        self._silence = Silence()
        self._lost = ""
        self._refresh_failed = ""
        self._failed_refreshes = 0
        self._refreshed_at = float("-inf")
        self._connected_at: float | None = None

    async def run(self) -> None:
        """Connect, serve, reconnect, until `stop`; then `gone` is set, nothing of it is left."""
        task = asyncio.current_task()
        assert task is not None
        try:
            # A cancel that comes while the library's own groups end is lost in their error.
            while not (self._stopping or task.cancelling()):
                self._renewing, self._wanted, self._lost = False, False, ""
                self._connected_at = None
                self.tries.begin()
                rest_seconds = await self._once()
                self.tries.finish()
                # Who waits for a refresh of the connection that is gone has waited for this.
                self._refreshes.begin()
                self._refreshes.finish()
                await self._rest(rest_seconds)
        finally:
            self._live = None
            self.tries.end()
            self._refreshes.end()
            self.gone.set()

    def stop(self) -> None:
        """Have it end; what is in flight fails."""
        self._stopping = True
        self._nudge()
        if self._starting is not None and not self._starting.expired():
            self._starting.reschedule(0)

    def list_changed(self) -> None:
        """See `Signals`. Never done here: this is called from the receive loop (F37)."""
        self._dirty = True
        self._nudge()

    def lost(self, cause: str) -> None:
        """See `Signals`."""
        self._lost = cause or "the connection ended"
        self._live = None
        self._nudge()

    def warned(self, warning: str) -> None:
        """See `Signals`."""
        self.warnings.add(warning)

    def doubt(self) -> None:
        """Ask the server what it offers: whether it is still there shows by that."""
        self._dirty = True
        self._nudge()

    def unanswered(self, connection: Connection) -> None:
        """The time of a call over this connection was up. After the third in a row, with nothing
        else from the server between, it is pinged; without an answer the connection is renewed.
        """
        if self._live is connection:
            self._silence = self._silence.timed_out(connection.answers)
            self._nudge()

    def lose(self, connection: Connection, cause: str) -> None:
        """Give this connection up, if it is still the one in use."""
        if self._live is connection:
            self.lost(self._lost or cause)

    async def ready(self) -> Connection:
        """The connection. One that is away is tried once at once, together with all others who
        wait; ServerUnavailable where that fails, or where it failed too often lately.
        """
        if self._live is None and not self._stopping:
            if self.state == "disabled" or self._breaker.is_open:
                raise ServerUnavailable(self.server.name, self.detail or self.state)
            self._wanted = not self.tries.under_way
            self._nudge()
            await self.tries.one()
        if self._live is None:
            raise ServerUnavailable(self.server.name, self.detail or "not connected")
        return self._live

    async def refresh(self) -> Changed:
        """Ask anew what it offers; a server that is away is connected (T-73)."""
        live = self._live
        if live is None:
            return await self.reconnect()
        before = self.found or Inventory(self.server.name)
        self._dirty = self._asked = True
        self._nudge()
        await self._refreshes.fresh()
        if self._live is live:
            return self._since(before, self._refresh_failed)
        try:
            # It ended meanwhile; whatever connects ends in asking for everything.
            await self.ready()
        except ServerUnavailable as error:
            return Changed(failed=error.cause)
        return self._since(before, "")

    async def reconnect(self) -> Changed:
        """Close what is there, connect anew."""
        before = self.found or Inventory(self.server.name)
        if not self.server.enabled or self.gone.is_set():
            return Changed(failed="the server is disabled: set enabled = true, start anew")
        self._renewing = True
        self._nudge()
        await self.tries.fresh()
        return self._since(before, "" if self.state == "connected" else self.detail or self.state)

    def _since(self, before: Inventory, failed: str) -> Changed:
        if failed:
            return Changed(failed=failed)
        return changed(before, self.found or Inventory(self.server.name))

    async def _once(self) -> float:
        """Connect and serve to the end of that; how long to rest before the next time."""
        if not self.server.enabled:
            self._set("disabled", "")
            self._stopping = True
            return 0
        hindered = await self._hindrance()
        if hindered is not None:
            self.misconfigured = hindered.error
            self._forget()
            self._set(hindered.state, hindered.why)
            return LOOK_AGAIN_SECONDS
        self.misconfigured = None
        cause = await self._connect_and_serve()
        self._live = None
        if not cause:
            return 0
        since = self._connected_at
        if since is not None and self._surroundings.monotonic() - since > _PROVEN_SECONDS:
            self._breaker = Breaker()
        self._breaker = self._breaker.failed(cause)
        if self.found is None or self._breaker.is_open:
            self._forget()
            self._set("failed", cause)
        else:
            self._set("connecting", cause)
        return delay_seconds(self._breaker.failures, self._surroundings.random)

    async def _hindrance(self) -> Hindrance | None:
        try:
            return await hindrance(self.server, self._surroundings)
        except Exception as error:  # noqa: BLE001 - the loop's edge: it would end all servers
            logger.exception("MCP server %s: its secrets cannot be looked up", self.server.name)
            return Hindrance("failed", f"its secrets cannot be looked up: {type(error).__name__}")

    async def _connect_and_serve(self) -> str:
        """Why that ended, empty where it was asked for."""
        task = asyncio.current_task()
        try:
            async with contextlib.AsyncExitStack() as stack:
                connection = await self._connect(stack)
                async with asyncio.TaskGroup() as group:
                    listening = group.create_task(connection.listen())
                    await self._serve(connection)
                    listening.cancel()
        except McpFailure as error:
            return self._said(self._lost or error.cause)
        except TimeoutError:
            late = f"not connected within {self.server.startup_timeout_sec:g} s"
            return self._said(self._lost or late)
        except asyncio.CancelledError:
            # The library cancels the task that entered it when its connection dies.
            if task is None or task.cancelling():
                raise
            return self._said(self._lost or "the connection ended")
        except Exception as error:  # noqa: BLE001 - the loop's edge: the next try may go well
            logger.exception("MCP server %s: the connection broke down", self.server.name)
            return self._said(f"{type(error).__name__}: the connection broke down")
        return self._said(self._lost)

    async def _connect(self, stack: contextlib.AsyncExitStack) -> Connection:
        opener = await load_opener()
        if self.state not in ("connecting", "failed"):
            self._set("connecting", "")
        try:
            async with asyncio.timeout(self.server.startup_timeout_sec) as self._starting:
                if self._stopping:
                    raise TimeoutError
                opening = opener(self.server, self._surroundings, self)
                connection = await stack.enter_async_context(opening)
                self._dirty = False
                found = await connection.discover()
        except NotExecuted as error:
            raise ServerUnavailable(self.server.name, error.cause) from None
        finally:
            self._starting = None
        self._connected_at = self._surroundings.monotonic()
        if self.found is not None or self.reconnects:
            self.reconnects += 1
        self._failed_refreshes = 0
        self._silence = Silence()
        self._take(found.inventory, follows=self._kind != "fixed")
        if found.incomplete:
            self._refresh_later(found.incomplete)
        if not self._lost:
            self._live = connection
            self._set("connected", "")
        # Whoever waits for the server need not wait for its end.
        self.tries.finish()
        return connection

    async def _serve(self, connection: Connection) -> None:
        while not self._is_over():
            if self._silence.is_doubtful:
                await self._ping(connection)
            elif self._dirty:
                await self._refresh(connection)
            else:
                await self._nudged.wait()
                self._nudged.clear()

    async def _ping(self, connection: Connection) -> None:
        timeouts, self._silence = self._silence.timeouts, Silence()
        answers, seconds = connection.answers, ping_seconds(self.server.tool_timeout_sec)
        try:
            async with asyncio.timeout(seconds):
                await connection.ping()
            return
        except ProtocolFailure:
            # Whoever refuses is there.
            return
        except TimeoutError:
            if connection.answers != answers:
                return
            cause = f"{timeouts} calls had no answer in time, then a ping none within {seconds:g} s"
        except (NotExecuted, McpFailure) as error:
            cause = error.cause
        self.warnings.add(cause)
        self.lost(self._lost or cause)

    async def _refresh(self, connection: Connection) -> None:
        """Once after notices that come together, soon: at most every second."""
        since = self._surroundings.monotonic() - self._refreshed_at
        waits = max(_GATHER_SECONDS, _REFRESH_EVERY_SECONDS - since)
        if self._failed_refreshes:
            waits = max(waits, delay_seconds(self._failed_refreshes, self._surroundings.random))
        await self._pause(waits, lambda: self._is_over() or self._asked)
        if self._is_over():
            return
        follows = self._kind == "live" or (self._kind == "boot" and self._asked)
        self._dirty = self._asked = False
        self._refreshes.begin()
        try:
            async with asyncio.timeout(self.server.startup_timeout_sec):
                found = await connection.discover()
        except NotExecuted as error:
            self.lost(error.cause)
        except (McpFailure, TimeoutError) as error:
            cause = getattr(error, "cause", "its lists do not come")
            if isinstance(error, OutcomeUnknown) and self.server.transport == "stdio":
                # Over HTTP it may be this one request that broke.
                self.lost(self._lost or cause)
            else:
                self._refresh_later(cause)
        else:
            self._failed_refreshes, self._refresh_failed = 0, ""
            self._take(found.inventory, follows)
            if found.incomplete:
                self._refresh_later(found.incomplete)
        finally:
            self._refreshed_at = self._surroundings.monotonic()
            self._refreshes.finish()
        if self._failed_refreshes >= _REFRESHES_BEFORE_LOST and not self._is_over():
            self.lost(f"asked what it offers, it fails: {self._refresh_failed}")

    def _refresh_later(self, cause: str) -> None:
        self._dirty = True
        self._failed_refreshes += 1
        self._refresh_failed = self._said(cause)
        self.warnings.add(f"what it offers is asked again: {cause}")

    def _take(self, said: Inventory, follows: bool) -> None:
        before = self.said, self.found
        if said != self.said:
            self.said = said
        if follows or self.found is None:
            self.found = self.said
        if self.said is not before[0] or self.found is not before[1]:
            self._notice()

    def _forget(self) -> None:
        if self.found is not None and self._kind != "fixed":
            self.found = None
            self._notice()

    def _is_over(self) -> bool:
        return bool(self._stopping or self._renewing or self._lost)

    async def _rest(self, seconds: float) -> None:
        await self._pause(seconds, lambda: self._stopping or self._renewing or self._wanted)

    async def _pause(self, seconds: float, ends: Callable[[], bool]) -> None:
        """So long, or until that is so."""
        until = self._surroundings.monotonic() + seconds
        while not ends():
            left = until - self._surroundings.monotonic()
            if left <= 0 or not await happened(self._nudged, left):
                return
            self._nudged.clear()

    def _nudge(self) -> None:
        self._nudged.set()

    def _said(self, cause: str) -> str:
        return self._surroundings.redact(cause[: _LONGEST_CAUSE * 4])[:_LONGEST_CAUSE]

    def _set(self, state: ServerState, detail: str) -> None:
        if (state, detail) == (self.state, self.detail):
            return
        moved = state != self.state
        self.state, self.detail = state, detail
        if moved:
            self.since = rfc3339(self._surroundings.now())
            level = logging.WARNING if state == "failed" else logging.INFO
            logger.log(level, "MCP server %s: %s %s", self.server.name, state, detail)
        self._notice()
