"""Keeps the nodes in memory, from the bus or else from the registry."""

import asyncio
import contextlib
import logging
from collections.abc import Callable, Iterator

import msgspec

from redshank_console.collector.board import Board
from redshank_console.collector.changes import Shown, changes
from redshank_console.collector.follower import Follower
from redshank_console.collector.fresh import Fresh
from redshank_console.collector.nodes import Node
from redshank_shared.domain.errors import RedshankError, Unavailable
from redshank_shared.queue.appended_feed import RESYNC
from redshank_shared.queue.reports import Departed, Pulse, ReportBus, Reported, ReportFeed
from redshank_shared.stores.database import Database
from redshank_shared.stores.services import Beat, Services

logger = logging.getLogger(__name__)

LOOK_SECONDS = 1.0
STEP_SECONDS = 0.25
PULSE_SECONDS = 0.5
OTHERS_SECONDS = 15.0
FORGET_SECONDS = 86_400.0
_FORGET_EVERY = 600
_REDIS_SECONDS = 0.5


class Registered(msgspec.Struct, frozen=True):
    """The nodes by name; the name behind every process of theirs; versions of all that lives."""

    nodes: list[Node]
    names: dict[str, str]
    versions: frozenset[str] = frozenset()


class Census:
    """One for a console. While `run` does not run, each who asks has the registry looked at, at
    most once a second. `monotonic`: seconds on a steady clock.
    """

    def __init__(
        self,
        database: Database,
        services: Services,
        monotonic: Callable[[], float],
        feed: ReportFeed | None = None,
        bus: ReportBus | None = None,
    ) -> None:
        self._database = database
        self._services = services
        self._monotonic = monotonic
        self._feed = feed
        self._bus = bus
        self._board = Board()
        self._look = Fresh(self._look_once, LOOK_SECONDS, monotonic)
        self._running = False
        self._others: frozenset[str] = frozenset()
        self._registered = Registered([], {})
        self._registered_at = float("-inf")
        self._shown: dict[str, Shown] = {}
        self._followers: set[Follower] = set()

    async def run(self) -> None:
        """Hear, look, tell followers, without an end."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._look_on())
            if self._feed is not None:
                group.create_task(self._hear(self._feed))
            if self._bus is not None:
                group.create_task(self._pulse(self._bus))
            await self._step_on()

    async def registered(self) -> Registered:
        """The nodes, a quarter of a second old at most; Unavailable where nothing is known because
        neither way answers.
        """
        if not self._running:
            await self._look_if_needed()
        now = self._monotonic()
        if not self._running or now - self._registered_at >= STEP_SECONDS:
            self._count(now)
        return self._registered

    async def _look_if_needed(self) -> None:
        try:
            await self._look.get()
        except Unavailable:
            if not self._board.names():
                raise

    @contextlib.contextmanager
    def follow(self) -> Iterator[Follower]:
        """Be told what changes. What changed before `registered` was asked may be told again."""
        follower = Follower()
        self._followers.add(follower)
        try:
            yield follower
        finally:
            self._followers.discard(follower)

    async def _hear(self, feed: ReportFeed) -> None:
        async for said in feed.listen():
            now = self._monotonic()
            match said:
                case Reported():
                    self._board.heard(said, now)
                case Departed(service_id):
                    self._board.departed(service_id, now)
                case Pulse():
                    self._board.pulse(now)
                case _ if said == RESYNC:
                    self._board.interrupted()

    async def _pulse(self, bus: ReportBus) -> None:
        while True:
            try:
                async with asyncio.timeout(_REDIS_SECONDS):
                    await bus.pulse()
            except (Unavailable, TimeoutError) as error:
                logger.debug("no pulse over Redis: %s", error)
            await asyncio.sleep(PULSE_SECONDS)

    async def _look_on(self) -> None:
        looks = 0
        while True:
            try:
                await self._look.renew()
                self._running = True
                if looks % _FORGET_EVERY == 0:
                    await self._database.run(self._services.forget, FORGET_SECONDS)
                looks += 1
            except RedshankError as error:
                logger.warning("the registry is not read, the bus alone tells: %s", error.detail)
            await asyncio.sleep(LOOK_SECONDS)

    async def _look_once(self) -> bool:
        beats = await self._database.run(self._services.beats)
        now = self._monotonic()
        self._others = _others(beats)
        wanted = self._board.listed(beats, now)
        if wanted:
            rows = await self._database.run(self._services.named, wanted)
            self._board.described(rows, self._monotonic())
        return True

    async def _step_on(self) -> None:
        while True:
            try:
                self._step(self._monotonic())
            except Exception:  # noqa: BLE001 - one odd report must not end the view for everybody
                logger.exception("the nodes were not counted")
            await asyncio.sleep(STEP_SECONDS)

    def _step(self, now: float) -> None:
        self._count(now)
        nodes = {node.name: node for node in self._registered.nodes}
        if not self._followers:
            self._shown = {name: Shown(node, now) for name, node in nodes.items()}
            return
        told, self._shown = changes(self._shown, nodes, now)
        for follower in self._followers:
            follower.offer(told)

    def _count(self, now: float) -> None:
        nodes = list(self._board.nodes(now).values())
        alive = {node.version for node in nodes if node.state != "lost"}
        self._registered = Registered(nodes, self._board.names(), self._others | alive)
        self._registered_at = now


def _others(beats: list[Beat]) -> frozenset[str]:
    """The versions of consoles, gateways."""
    return frozenset(
        beat.version for beat in beats if beat.kind != "node" and beat.age_seconds <= OTHERS_SECONDS
    )
