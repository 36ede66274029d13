"""Hands out what comes due, on the node that leads the clock."""

import asyncio
import logging
from collections.abc import Awaitable, Callable

from redshank_node.dueclock.clock_lead import ClockLead
from redshank_shared.domain.errors import Unavailable
from redshank_shared.queue.dispatch import Dispatch
from redshank_shared.stores.database import Database
from redshank_shared.stores.outbox import Outbox
from redshank_shared.stores.schedules import Run, Schedules
from redshank_shared.stores.watch_pushes import WatchPushes
from redshank_shared.waiting import happened

logger = logging.getLogger(__name__)

_LOOK_SECONDS = 1.0
_TAKEN_UP_SECONDS = 2.0
# A poll ends within its own minute; what began longer ago than this died with its node.
_ABANDONED_SECONDS = 150.0
# Handed over anew so long after, until it is settled: what still waits or runs is left alone.
_DELIVERY_SECONDS = 5.0


class DueClock:
    """Sleeps until the next due time, at most a second; woken when an earlier one is added.

    `give_up` settles a delivery that took its node along three times.
    """

    def __init__(  # noqa: PLR0913 - what it stands on, named once
        self,
        database: Database,
        schedules: Schedules,
        pushes: WatchPushes,
        outbox: Outbox,
        dispatch: Dispatch,
        lead: ClockLead,
        new_run_id: Callable[[], str],
        give_up: Callable[[str], Awaitable[None]],
    ) -> None:
        self._database = database
        self._schedules = schedules
        self._pushes = pushes
        self._outbox = outbox
        self._dispatch = dispatch
        self._lead = lead
        self._new_run_id = new_run_id
        self._give_up = give_up
        self._wake = asyncio.Event()

    def wake(self) -> None:
        """Something may be due earlier than it was."""
        self._wake.set()

    async def run(self, stop: asyncio.Event) -> None:
        """Until stop; through every loss of the database or of Redis."""
        while not stop.is_set():
            self._wake.clear()
            pause = _LOOK_SECONDS
            if self._lead.leads:
                try:
                    pause = await self.hand_out()
                except Unavailable as error:
                    logger.warning("nothing handed out now: %s", error.detail)
            await happened(self._wake, pause)

    async def hand_out(self) -> float:
        """Hand out all that is due, as the leader does; how long until there is more (seconds)."""
        for run in await self._database.run(self._schedules.take_due, self._new_run_id):
            await self._dispatch.hand_over(run.kind, run.run_id)
        for run in await self._database.run(self._pushes.take):
            await self._dispatch.hand_over(run.kind, run.run_id)
        for delivery in await self._database.run(self._outbox.due):
            await self._hand_over_delivery(delivery.delivery_id)
        await self._database.run(self._schedules.abandon, _ABANDONED_SECONDS)
        for run in await self._database.run(self._schedules.not_taken_up, _TAKEN_UP_SECONDS):
            await self._hand_over_again(run)
        seconds = await self._database.run(self._schedules.seconds_to_next)
        return _LOOK_SECONDS if seconds is None else min(max(seconds, 0.0), _LOOK_SECONDS)

    async def _hand_over_again(self, run: Run) -> None:
        handed = await self._dispatch.hand_over(run.kind, run.run_id)
        if handed == "dead":
            why = "given up: it took its node along three times"
            await self._database.run(self._schedules.end_run, run.run_id, "lost", why)
        else:
            await self._database.run(self._schedules.handed_again, run.run_id)

    async def _hand_over_delivery(self, delivery_id: str) -> None:
        # Before the hand-over: whoever takes it sets the time of the next attempt behind it.
        await self._database.run(self._outbox.again, delivery_id, _DELIVERY_SECONDS, failed=False)
        if await self._dispatch.hand_over("deliver", delivery_id) == "dead":
            await self._give_up(delivery_id)
