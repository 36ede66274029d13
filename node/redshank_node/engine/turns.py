"""The turns that this node has in hand: taken up under a lease, poked, fenced off, drained."""

import asyncio
import logging
from collections.abc import Callable

from redshank_node.engine.identity import NodeIdentity
from redshank_node.engine.lease import Lease
from redshank_node.engine.recorder import Journal, Recorder
from redshank_node.engine.turn import Turn
from redshank_shared.domain.errors import Fenced, Unavailable
from redshank_shared.domain.ids import WorkstreamId
from redshank_shared.metrics import Metrics
from redshank_shared.queue.dispatch import Dispatch
from redshank_shared.stores.leases import Held, Leases

logger = logging.getLogger(__name__)

MakeTurn = Callable[[Recorder, Lease], Turn]


class InHand:
    """One turn and the task that runs it, since this moment of the monotonic clock."""

    def __init__(
        self, turn: Turn, task: asyncio.Task[None], directed_to: str, since: float
    ) -> None:
        self.turn = turn
        self.task = task
        self.directed_to = directed_to
        self.since = since


class Turns:
    """Owns every running turn of the process. `run` must be running for turns to be taken up."""

    def __init__(
        self,
        journal: Journal,
        leases: Leases,
        dispatch: Dispatch,
        make_turn: MakeTurn,
        metrics: Metrics,
        identity: NodeIdentity,
        monotonic: Callable[[], float],
    ) -> None:
        self.slots = identity.slots
        self._journal = journal
        self._leases = leases
        self._dispatch = dispatch
        self._make_turn = make_turn
        self._metrics = metrics
        self._node_id = identity.node_id
        self._node_name = identity.name
        self._lease_seconds = identity.lease_seconds
        self._monotonic = monotonic
        self._in_hand: dict[WorkstreamId, InHand] = {}
        self._group: asyncio.TaskGroup | None = None
        self._slot_freed = asyncio.Event()
        self._claiming: set[WorkstreamId] = set()
        self._nudged: set[WorkstreamId] = set()
        self._draining = False

    async def run(self, stop: asyncio.Event) -> None:
        """Until stop: the owner of every turn's task."""
        async with asyncio.TaskGroup() as group:
            self._group = group
            await stop.wait()
            self._group = None
            for held in self._in_hand.values():
                held.task.cancel()

    @property
    def busy(self) -> int:
        """How many slots are taken."""
        return len(self._in_hand)

    @property
    def in_hand(self) -> tuple[WorkstreamId, ...]:
        """The workstreams whose turns run here."""
        return tuple(self._in_hand)

    def free(self) -> int:
        """How many more turns may start now."""
        return 0 if self._draining else max(0, self.slots - len(self._in_hand))

    async def wait_free(self) -> None:
        """Return as soon as one more turn may start."""
        while not self.free():
            self._slot_freed.clear()
            await self._slot_freed.wait()

    async def take_up(self, workstream_id: WorkstreamId) -> None:
        """Claim the workstream and start its turn; nothing where someone works on it or nothing is
        due.

        A nudge that comes while we have it in hand is kept: the turn may have read its log for the
        last time already.
        """
        if self._draining:
            return
        if workstream_id in self._in_hand or workstream_id in self._claiming:
            self._nudged.add(workstream_id)
            return
        self._claiming.add(workstream_id)
        try:
            await self._take_up(workstream_id)
        except Unavailable as error:
            logger.warning("%s is not taken up now: %s", workstream_id, error.detail)
        finally:
            self._claiming.discard(workstream_id)
        if workstream_id not in self._in_hand:
            await self._take_up_if_nudged(workstream_id)

    async def _take_up_if_nudged(self, workstream_id: WorkstreamId) -> None:
        if workstream_id in self._nudged:
            self._nudged.discard(workstream_id)
            await self.take_up(workstream_id)

    async def _take_up(self, workstream_id: WorkstreamId) -> None:
        folds = self._journal.folds
        known = folds.known(workstream_id)
        asked_at = self._monotonic()
        claimed = await self._journal.database.run(
            self._leases.claim_and_read,
            workstream_id,
            self._node_id,
            self._lease_seconds,
            known.version,
        )
        if claimed is None:
            return
        claim, newer = claimed
        if self._group is None or self._draining:
            await self._hand_over(workstream_id, claim.epoch, "")
            return
        state = folds.caught_up(known, newer)
        lease = Lease(claim.epoch, asked_at + self._lease_seconds, self._monotonic)
        recorder = Recorder(self._journal, state, self._node_id, self._node_name, claim.epoch)
        turn = self._make_turn(recorder, lease)
        turn.rules_were_at(claim.rules_revision, asked_at)
        task = self._group.create_task(self._run(workstream_id, turn, claim.attempts))
        self._in_hand[workstream_id] = InHand(turn, task, state.created.node, self._monotonic())

    def poke(self, workstream_id: WorkstreamId, version: int) -> None:
        """Its log grew to this version by another hand; a turn that knows as much is left alone."""
        held = self._in_hand.get(workstream_id)
        if held is not None and held.turn.version < version:
            held.turn.poke()

    def poke_all(self) -> None:
        """Appends may have gone unheard: every turn looks at its log."""
        for held in self._in_hand.values():
            held.turn.poke()

    def renewed(self, asked_at: float, held: dict[str, Held]) -> None:
        """What the database says we hold since `asked_at`: what is missing is fenced off."""
        for workstream_id, in_hand in list(self._in_hand.items()):
            lease = in_hand.turn.lease
            kept = held.get(workstream_id)
            if kept is not None and kept.epoch == lease.epoch:
                lease.holds_until = asked_at + self._lease_seconds
                if kept.version > in_hand.turn.version:
                    in_hand.turn.poke()
            elif in_hand.since < asked_at and not in_hand.turn.releasing:
                # A renewal may be asked after a claim, and written before it.
                self._fence(workstream_id, in_hand)

    async def give_back_strays(self, held: dict[str, Held]) -> None:
        """Leases that we hold without a turn (a claim's answer was lost): nobody else could take
        them up.
        """
        mine = self._in_hand.keys() | self._claiming
        for stray in {WorkstreamId(name) for name in held} - mine:
            await self._hand_over(stray, held[stray].epoch, "")

    def fence_expired(self) -> None:
        """Without word from the database: stop what may have lost its lease by our own clock."""
        for workstream_id, in_hand in list(self._in_hand.items()):
            if not in_hand.turn.lease.allows_effect():
                self._fence(workstream_id, in_hand)

    async def drain(self, grace_seconds: float) -> None:
        """Take nothing more up; let steps in hand end, cut those off that do not, hand all over."""
        self._draining = True
        for held in self._in_hand.values():
            held.turn.drain()
        await self._until_empty(grace_seconds)
        for held in self._in_hand.values():
            held.turn.cut()
        await self._until_empty(1.5)

    async def _until_empty(self, seconds: float) -> None:
        tasks = [held.task for held in self._in_hand.values()]
        if tasks:
            await asyncio.wait(tasks, timeout=seconds)

    def _fence(self, workstream_id: WorkstreamId, in_hand: InHand) -> None:
        if not in_hand.task.done() and not in_hand.turn.released:
            logger.warning("fenced off %s: its lease is lost", workstream_id)
            self._metrics.lease_lost()
            in_hand.task.cancel()

    async def _run(self, workstream_id: WorkstreamId, turn: Turn, attempts: int) -> None:
        self._metrics.turn_started()
        end = "fenced"
        try:
            await turn.run(attempts)
            end = turn.end
        except* Fenced as lost:
            logger.warning("dropped %s: %s", workstream_id, lost.exceptions[0])
        except* Unavailable as away:
            logger.warning("dropped %s: %s", workstream_id, away.exceptions[0])
        except* Exception:
            logger.exception("the turn of %s ended by a fault of ours", workstream_id)
        finally:
            self._metrics.turn_ended(end)
            held = self._in_hand.pop(workstream_id)
            self._slot_freed.set()
        if not turn.released:
            await self._hand_over(workstream_id, turn.lease.epoch, held.directed_to)
        await self._take_up_if_nudged(workstream_id)

    async def _hand_over(self, workstream_id: WorkstreamId, epoch: int, directed_to: str) -> None:
        """Give the lease back with work still to do; what fails here the end of the lease does."""
        try:
            await self._journal.database.run(
                self._leases.release, workstream_id, self._node_id, epoch
            )
            await self._dispatch.nudge(workstream_id, directed_to=directed_to, force=True)
        except Unavailable as error:
            logger.warning("%s is handed over when its lease ends: %s", workstream_id, error)
