"""Keeps this console in the registry of the cluster's processes."""

import asyncio
import logging

import msgspec

from redshank_shared.domain.errors import RedshankError
from redshank_shared.stores.database import Database
from redshank_shared.stores.services import ServiceRow, Services

logger = logging.getLogger(__name__)

BEAT_SECONDS = 2.0


class Registration:
    """One loop; the row goes when the process stops in order."""

    def __init__(self, database: Database, services: Services, row: ServiceRow) -> None:
        self._database = database
        self._services = services
        self._row = row

    async def run(self) -> None:
        """Beat until cancelled. A database that is away costs a beat, never the loop."""
        registered = False
        try:
            while True:
                registered = await self._beat(registered)
                await asyncio.sleep(BEAT_SECONDS)
        finally:
            await self._leave()

    async def _beat(self, registered: bool) -> bool:
        try:
            if registered and await self._database.run(
                self._services.heartbeat, self._row.service_id, self._row.report
            ):
                return True
            await self._database.run(self._services.register, self._row)
        except RedshankError as error:
            logger.warning("not registered, tried again in %s s: %s", BEAT_SECONDS, error.detail)
            return False
        return True

    async def _leave(self) -> None:
        try:
            await self._database.run(self._services.leave, self._row.service_id)
        except RedshankError as error:
            logger.warning("left without a word, others will notice: %s", error.detail)


def console_row(
    service_id: str, address: str, version: str, started_at: str, name: str
) -> ServiceRow:
    """How this console describes itself. `started_at`: RFC 3339 UTC."""
    report = msgspec.json.encode({"name": name}).decode()
    return ServiceRow(service_id, "console", address, version, started_at, report)
