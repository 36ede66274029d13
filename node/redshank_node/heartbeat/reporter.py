"""Says every second that this node lives, with its figures."""

import asyncio
import logging
from collections.abc import Callable

from redshank_shared.domain.errors import Unavailable
from redshank_shared.queue.reports import ReportBus
from redshank_shared.stores.database import Database
from redshank_shared.stores.services import ServiceRow, Services
from redshank_shared.waiting import happened

logger = logging.getLogger(__name__)

EVERY_SECONDS = 1.0
TABLE_SECONDS = 5.0
_REDIS_SECONDS = 0.75


class Reporter:
    """The node's word to the consoles. Each way goes on while the other fails.

    The table is told every 5 s; every second while no console hears the bus, or without one.
    """

    def __init__(
        self,
        database: Database,
        services: Services,
        row: ServiceRow,
        report: Callable[[], str],
        bus: ReportBus | None = None,
    ) -> None:
        """`report` gives the node's figures as JSON text."""
        self._database = database
        self._services = services
        self._row = row
        self._report = report
        self._bus = bus
        self._unheard = asyncio.Event()

    async def run(self, stop: asyncio.Event) -> None:
        """Until stop; then the node is signed off."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._tell_table(stop))
            if self._bus is None:
                self._unheard.set()
            else:
                await self._tell_bus(self._bus, stop)
        await self._sign_off()

    async def _tell_bus(self, bus: ReportBus, stop: asyncio.Event) -> None:
        while not stop.is_set():
            if await self._announce(bus):
                self._unheard.clear()
            else:
                self._unheard.set()
            await happened(stop, EVERY_SECONDS)
        self._unheard.set()

    async def _announce(self, bus: ReportBus) -> bool:
        row = self._row
        try:
            async with asyncio.timeout(_REDIS_SECONDS):
                heard = await bus.report(
                    row.service_id, row.address, row.version, row.started_at, self._report()
                )
        except (Unavailable, TimeoutError) as error:
            if not self._unheard.is_set():
                logger.warning("not reported over Redis, the database is told instead: %s", error)
            return False
        return heard > 0

    async def _tell_table(self, stop: asyncio.Event) -> None:
        registered = False
        while not stop.is_set():
            try:
                registered = await self._beat(registered)
            except Unavailable as error:
                logger.warning("not reported: %s", error.detail)
            await happened(stop, EVERY_SECONDS)
            if registered and not stop.is_set():
                # Set at the stop too, so that nobody waits here any longer.
                await happened(self._unheard, TABLE_SECONDS - EVERY_SECONDS)

    async def _beat(self, registered: bool) -> bool:
        if registered:
            return await self._database.run(
                self._services.heartbeat, self._row.service_id, self._report()
            )
        await self._database.run(self._services.register, self._row)
        return True

    async def _sign_off(self) -> None:
        try:
            await self._database.run(self._services.leave, self._row.service_id)
        except Unavailable as error:
            logger.warning("not signed off: %s", error.detail)
        if self._bus is None:
            return
        try:
            async with asyncio.timeout(_REDIS_SECONDS):
                await self._bus.depart(self._row.service_id)
        except (Unavailable, TimeoutError) as error:
            logger.warning("not signed off over Redis: %s", error)
