"""Removes kept bytes that no workstream refers to, on the node that leads the clock."""

import asyncio
import logging
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta

from redshank_node.dueclock.clock_lead import ClockLead
from redshank_shared.domain.errors import Unavailable
from redshank_shared.stores.assets import Assets, Unreferred
from redshank_shared.stores.database import Database
from redshank_shared.waiting import happened

logger = logging.getLogger(__name__)

# Bytes are kept before a log refers to them; a call that runs now may still be about to.
AGE = timedelta(days=1)
EVERY_SECONDS = 3600.0
# A node that begins to lead an hour after its start does not wait another one.
_LOOK_SECONDS = 60.0
_PAGE = 200


class Collecting:
    """Once an hour."""

    def __init__(
        self, database: Database, lead: ClockLead, now: Callable[[], datetime], page: int = _PAGE
    ) -> None:
        self._database = database
        self._assets = Assets(database)
        self._lead = lead
        self._now = now
        self._page = page

    async def run(self, stop: asyncio.Event) -> None:
        """Until stop; through every loss of the database."""
        while not stop.is_set():
            pause = _LOOK_SECONDS
            if self._lead.leads:
                try:
                    await self.collect()
                    pause = EVERY_SECONDS
                except Unavailable as error:
                    logger.warning("nothing is collected now: %s", error.detail)
            await happened(stop, pause)

    async def collect(self) -> int:
        """Remove all that is to go; how many assets there were (T-33)."""
        removed = 0
        while True:
            found = await self._database.run(self._assets.unreferred, self._page)
            going = collectable(found, self._now())
            gone = await self._database.run(self._assets.remove, going) if going else 0
            removed += gone
            if gone < self._page:
                break
        if removed:
            logger.info("%d assets that no workstream refers to are removed", removed)
        return removed


def collectable(found: Sequence[Unreferred], now: datetime) -> list[Unreferred]:
    """Those that were kept last more than a day ago."""
    return [each for each in found if datetime.fromisoformat(each.created_at) < now - AGE]
