"""Says every two seconds that this node lives, with its figures."""

import asyncio
import logging
from collections.abc import Callable

from redshank_shared.domain.errors import Unavailable
from redshank_shared.stores.database import Database
from redshank_shared.stores.services import ServiceRow, Services

logger = logging.getLogger(__name__)

EVERY_SECONDS = 2.0


class Reporter:
    """The node's row in the services registry."""

    def __init__(
        self, database: Database, services: Services, row: ServiceRow, report: Callable[[], str]
    ) -> None:
        """`report` gives the node's figures as JSON text."""
        self._database = database
        self._services = services
        self._row = row
        self._report = report

    async def run(self, stop: asyncio.Event) -> None:
        """Until stop; then the row goes."""
        registered = False
        while not stop.is_set():
            try:
                registered = await self._beat(registered)
            except Unavailable as error:
                logger.warning("not reported: %s", error.detail)
            try:
                await asyncio.wait_for(stop.wait(), EVERY_SECONDS)
            except TimeoutError:
                continue
        try:
            await self._database.run(self._services.leave, self._row.service_id)
        except Unavailable as error:
            logger.warning("not signed off: %s", error.detail)

    async def _beat(self, registered: bool) -> bool:
        if registered:
            return await self._database.run(
                self._services.heartbeat, self._row.service_id, self._report()
            )
        await self._database.run(self._services.register, self._row)
        return True
