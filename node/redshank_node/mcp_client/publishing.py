"""Writes down in the registry what this node's MCP servers offer."""

import asyncio
import logging
from collections.abc import Callable

from redshank_node.mcp_client.overlay import Overlay
from redshank_node.mcp_client.reporting import listed, without_secrets
from redshank_node.mcp_client.supervisor import McpServers
from redshank_shared.domain.errors import RedshankError
from redshank_shared.stores.database import Database
from redshank_shared.stores.services import Services
from redshank_shared.waiting import happened
from redshank_shared.wire.mcp_catalogue import ListedServer, Origin, encode_catalogue

logger = logging.getLogger(__name__)

EVERY_SECONDS = 1.0
# How often it is looked after that the registry still has what was written.
_LOOKS_BETWEEN_CHECKS = 3
# A server that warns without end must not have all that is offered written every second.
_LOOKS_BETWEEN_WARNINGS = 30


class Publishing:
    """Writes when something differs, and when the registry lost what was written. `surface` gives
    the cards of everything that the node offers as JSON text (K-48); `redact` takes secrets out.
    """

    def __init__(
        self,
        database: Database,
        service_id: str,
        servers: McpServers,
        overlay: Overlay,
        surface: Callable[[], str],
        redact: Callable[[str], str] = str,
    ) -> None:
        self._database = database
        self._services = Services(database)
        self._service_id = service_id
        self._servers = servers
        self._overlay = overlay
        self._surface = surface
        self._redact = redact
        self._written: tuple[object, ...] = ()

    async def run(self, stop: asyncio.Event) -> None:
        """Look once a second until stop."""
        looks = 0
        while not stop.is_set():
            try:
                await self._look(
                    checks=looks % _LOOKS_BETWEEN_CHECKS == 0,
                    counts_warnings=looks % _LOOKS_BETWEEN_WARNINGS == 0,
                )
            except RedshankError as error:
                logger.warning("what MCP servers offer is not written down: %s", error.detail)
            except Exception:  # noqa: BLE001 - one odd catalogue must not end the writing
                logger.exception("what MCP servers offer was not written down")
            looks += 1
            await happened(stop, EVERY_SECONDS)

    async def _look(self, *, checks: bool, counts_warnings: bool) -> None:
        state = self._state()
        same = state == self._written if counts_warnings else state[:2] == self._written[:2]
        if same and not (checks and await self._is_lost()):
            return
        # A thousand tools take as long to look through as other turns may be held up.
        catalogue = await asyncio.to_thread(self._encoded, self._listed())
        surface = self._surface()
        if await self._database.run(self._services.describe, self._service_id, surface, catalogue):
            self._written = state

    def _encoded(self, servers: tuple[ListedServer, ...]) -> str:
        return encode_catalogue(tuple(without_secrets(each, self._redact) for each in servers))

    async def _is_lost(self) -> bool:
        return not await self._database.run(self._services.is_described, self._service_id)

    def _state(self) -> tuple[object, ...]:
        warnings = tuple(status.warnings for status in self._servers.statuses())
        return self._servers.revision, self._overlay.added, warnings

    def _listed(self) -> tuple[ListedServer, ...]:
        inventories = self._servers.inventories()
        found: list[ListedServer] = []
        for status in self._servers.statuses():
            server = self._servers.record(status.name)
            if server is not None:
                origin: Origin = "added" if status.name in self._overlay.added else "settings"
                found.append(listed(server, origin, status, inventories.get(status.name)))
        return tuple(found)
