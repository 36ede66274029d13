"""Lets a watch be pushed from outside: who may, what was pushed."""

import logging
from collections.abc import Callable

from redshank_console.services.orders import Clock
from redshank_console.services.schedules import ScheduleReading
from redshank_console.services.sign_in import hash_of
from redshank_shared.domain.errors import Conflict, Invalid, Unavailable
from redshank_shared.domain.ids import WorkstreamId
from redshank_shared.queue.bus import Bus
from redshank_shared.stores.database import Database
from redshank_shared.stores.watch_pushes import WatchPushes, WatchToken
from redshank_shared.wire.schedule_views import PushedView, WatchHookView

logger = logging.getLogger(__name__)

PATH = "/v1/hooks/watch"


class WatchHooks:
    """Every method raises Unavailable while the database does not answer.

    `new_secret`: a fresh text of 256 random bits; `address`: where people reach this console.
    """

    def __init__(  # noqa: PLR0913 - what it stands on, named once
        self,
        database: Database,
        pushes: WatchPushes,
        reading: ScheduleReading,
        bus: Bus,
        clock: Clock,
        new_secret: Callable[[], str],
        address: str,
        redact: Callable[[str], str],
    ) -> None:
        self._database = database
        self._pushes = pushes
        self._reading = reading
        self._bus = bus
        self._clock = clock
        self._new_secret = new_secret
        self._address = address
        self._redact = redact

    async def make(self, schedule_id: str) -> WatchHookView:
        """An address for this watch, in place of the one before; Invalid for what is no watch,
        Conflict where it is over.
        """
        row, _ = await self._reading.standing(schedule_id)
        if row.spec.watch is None:
            raise Invalid(
                "only a watch can be pushed: this schedule has no condition to judge", field="id"
            )
        if row.state not in ("active", "paused"):
            raise Conflict(
                f"the schedule is {row.state}, which is final; make a new one",
                code="schedule_over",
                field="id",
            )
        secret, at = self._new_secret(), self._clock.at()
        token = WatchToken(hash_of(secret), row.schedule_id, row.workstream_id, at)
        await self._database.run(self._pushes.put_token, token)
        address = f"{self._address}{PATH}/{secret}"
        return WatchHookView(schedule=row.schedule_id, address=address, created_at=at)

    async def revoke(self, schedule_id: str) -> None:
        """Nobody may push to this watch any more; NotFound where there is no such schedule."""
        row, _ = await self._reading.standing(schedule_id)
        await self._database.run(self._pushes.revoke_token, row.schedule_id)

    async def push(self, secret: str, output: str) -> PushedView:
        """Keep this output for the watch that the secret stands for: any node judges it (B-10).

        NotFound, Conflict, TooMany: nothing was kept.
        """
        run_id = self._clock.new_id("run")
        workstream = await self._database.run(
            self._pushes.accept, hash_of(secret), run_id, self._redact(output)
        )
        try:
            await self._bus.publish_due(WorkstreamId(workstream))
        except Unavailable as error:
            logger.warning("not announced, the clock looks by itself: %s", error.detail)
        return PushedView(run=run_id)
