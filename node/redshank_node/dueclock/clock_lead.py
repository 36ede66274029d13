"""Leads the clock while no other node does: hands out again what the database says is due."""

import asyncio
import logging

from redshank_shared.domain.errors import Unavailable
from redshank_shared.domain.ids import WorkstreamId
from redshank_shared.queue.dispatch import Dispatch
from redshank_shared.stores.database import Database
from redshank_shared.stores.leases import Due, Leases
from redshank_shared.waiting import happened

logger = logging.getLogger(__name__)

LEAD = "clock"
LEAD_SECONDS = 3.0
EVERY_SECONDS = 1.0
_PAGE = 200


class ClockLead:
    """One node at a time reconciles; another takes over within seconds of its death."""

    def __init__(
        self, database: Database, leases: Leases, dispatch: Dispatch, node_id: str
    ) -> None:
        self._database = database
        self._leases = leases
        self._dispatch = dispatch
        self._node_id = node_id
        self.leads = False

    async def run(self, stop: asyncio.Event) -> None:
        """Until stop; then the lead goes to whoever asks next."""
        while not stop.is_set():
            try:
                await self._once()
            except Unavailable as error:
                logger.warning("nothing reconciled now: %s", error.detail)
            await happened(stop, EVERY_SECONDS)
        try:
            await self._database.run(self._leases.leave, LEAD, self._node_id)
        except Unavailable as error:
            logger.warning("the lead runs out by itself: %s", error.detail)

    async def _once(self) -> None:
        self.leads = await self._database.run(
            self._leases.leader, LEAD, self._node_id, LEAD_SECONDS
        )
        if self.leads:
            await self._nudge_due()

    async def _nudge_due(self) -> None:
        """Pending and without a live lease for more than a second: nudge again, oldest first,
        whatever Redis says.
        """
        after: Due | None = None
        while True:
            page = await self._database.run(self._leases.due_for_nudge, 1.0, _PAGE, after)
            for due in page:
                await self._dispatch.nudge(
                    WorkstreamId(due.workstream_id), directed_to=due.directed_to, force=True
                )
            if len(page) < _PAGE:
                return
            after = page[-1]
