"""A running turn's only writer: appends behind whatever others appended, releases at rest."""

import asyncio
import logging
from collections.abc import Callable

from redshank_shared.domain.errors import Unavailable, VersionMoved
from redshank_shared.domain.events import AnyFact, Recorded, TurnStarted, comes_due, encode_recorded
from redshank_shared.domain.plan import Rest, number, plan, project, with_state
from redshank_shared.domain.workstream import Workstream, advance
from redshank_shared.queue.bus import Bus
from redshank_shared.stores.database import Database
from redshank_shared.stores.event_log import Append, EventLog
from redshank_shared.stores.folds import Folds

logger = logging.getLogger(__name__)

_AGAIN_SECONDS = 0.3

Make = Callable[[Workstream], list[AnyFact]]
# (state, facts that go behind it, their time) -> the facts with their records in the ledger.
Seal = Callable[[Workstream, list[AnyFact], str], list[AnyFact]]


class Journal:
    """Where recorders write: the log, the states kept beside it, the bus that tells watchers.
    `seal` adds the records of outside effects.
    """

    def __init__(
        self,
        database: Database,
        log: EventLog,
        folds: Folds,
        bus: Bus,
        now: Callable[[], str],
        seal: Seal,
    ) -> None:
        self.database = database
        self.log = log
        self.folds = folds
        self.bus = bus
        self.now = now
        self.seal = seal


class Recorder:
    """Writes one turn's facts under its lease epoch. Fenced and Unavailable end the turn.

    While it is `releasing`, whether the lease is still held is known to the database alone.
    """

    def __init__(
        self, journal: Journal, state: Workstream, node_id: str, node_name: str, epoch: int
    ) -> None:
        self.state = state
        self.node_name = node_name
        self.released = False
        self.releasing = False
        self._journal = journal
        self._node_id = node_id
        self._epoch = epoch
        self._opening: list[AnyFact] = [TurnStarted(node_name, epoch)]
        self._lock = asyncio.Lock()

    def now(self) -> str:
        """The time that the next facts get (RFC 3339 UTC)."""
        return self._journal.now()

    async def record(self, make: Make) -> None:
        """Append what `make` gives for the state as it is; asked again when somebody appended in
        between.

        When nothing is left to do behind these facts, the lease is released in the same
        transaction.
        """
        async with self._lock:
            while not self.released:
                made = make(self.state)
                if not made and not isinstance(plan(self.state), Rest):
                    return
                try:
                    if await self._append(made):
                        return
                    await self._catch_up()
                except Unavailable as error:
                    # Written or not is unknown, so the state is read before anything is made again.
                    logger.warning("%s waits for the database: %s", self.state.id, error.detail)
                    await self._catch_up_when_it_is_back()

    async def refresh(self) -> Workstream:
        """Take in what others appended."""
        async with self._lock:
            if not self.released:
                await self._catch_up()
            return self.state

    async def _append(self, made: list[AnyFact]) -> bool:
        at = self._journal.now()
        facts = with_state(self.state, [*self._opening, *made] if made else [], at)
        facts = self._journal.seal(self.state, facts, at)
        recorded = number(self.state.version, at, facts)
        after = advance(self.state, recorded)
        release = isinstance(plan(after), Rest)
        append = Append(
            workstream_id=self.state.id,
            expected_version=self.state.version,
            epoch=self._epoch,
            node_id=self._node_id,
            facts=tuple(facts),
            at=at,
            projection=project(after),
            release=release,
        )
        self.releasing = release
        try:
            await self._journal.database.run(self._journal.log.append, append)
        except VersionMoved:
            return False
        finally:
            self.releasing = False
        if made:
            self._opening = []
        self.state = after
        self.released = release
        self._journal.folds.keep(after)
        await self._announce(recorded)
        return True

    @property
    def _some_calls_are_done(self) -> bool:
        statuses = {call.status for call in self.state.calls.values()}
        return statuses >= {"started", "done"}

    async def _announce(self, recorded: list[Recorded]) -> None:
        if not recorded:
            return
        frames = [encode_recorded(fact) for fact in recorded]
        try:
            await self._journal.bus.publish_events(
                self.state.id,
                self.state.version,
                frames,
                by=self._node_id,
                calls_still_run=self._some_calls_are_done,
                scheduled=comes_due(one.fact for one in recorded),
            )
        except Unavailable as error:
            logger.warning("watchers will read it from the log: %s", error.detail)

    async def _catch_up_when_it_is_back(self) -> None:
        """Ends when the database answers, or with the turn, which is fenced off when its lease may
        have run out.
        """
        while True:
            await asyncio.sleep(_AGAIN_SECONDS)
            try:
                return await self._catch_up()
            except Unavailable:
                continue

    async def _catch_up(self) -> None:
        newer = await self._journal.database.run(
            self._journal.log.read, self.state.id, self.state.version
        )
        self.state = self._journal.folds.caught_up(self.state, newer)
