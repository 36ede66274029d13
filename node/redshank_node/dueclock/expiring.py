"""Ends what waits for a person longer than it may, on the node that leads the clock."""

import asyncio
import logging
from collections.abc import Callable
from datetime import datetime

from redshank_node.dueclock.clock_lead import ClockLead
from redshank_shared.clock import rfc3339
from redshank_shared.domain.commands import ExpireApproval, ExpireQuestion
from redshank_shared.domain.errors import Conflict, NotFound, Unavailable
from redshank_shared.domain.ids import WorkstreamId
from redshank_shared.session_commands import SessionCommands
from redshank_shared.stores.database import Database
from redshank_shared.stores.waits import ExpiredWait, Waits
from redshank_shared.waiting import happened

logger = logging.getLogger(__name__)

CLOCK = "clock"
_LOOK_SECONDS = 1.0


class Expiring:
    """Looks once a second. An answer that comes at the same moment wins, or finds it ended."""

    def __init__(
        self,
        database: Database,
        commands: SessionCommands,
        lead: ClockLead,
        now: Callable[[], datetime],
    ) -> None:
        self._database = database
        self._waits = Waits(database)
        self._commands = commands
        self._lead = lead
        self._now = now

    async def run(self, stop: asyncio.Event) -> None:
        """Until stop; through every loss of the database."""
        while not stop.is_set():
            if self._lead.leads:
                try:
                    await self.end_expired()
                except Unavailable as error:
                    logger.warning("nothing expires now: %s", error.detail)
            await happened(stop, _LOOK_SECONDS)

    async def end_expired(self) -> int:
        """End all whose time is over (O10, K-54); how many there were."""
        expired = await self._database.run(self._waits.expired)
        for wait in expired:
            await self._end(wait)
        return len(expired)

    async def _end(self, wait: ExpiredWait) -> None:
        command = ExpireApproval if wait.kind == "approval" else ExpireQuestion
        try:
            await self._commands.execute(
                WorkstreamId(wait.workstream_id),
                command(wait.request_id, CLOCK),
                rfc3339(self._now()),
            )
        except (Conflict, NotFound) as refused:
            logger.info("%s is not ended: %s", wait.request_id, refused.detail)
