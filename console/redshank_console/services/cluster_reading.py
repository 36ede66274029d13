"""Reads what the cluster's gauges show, at most every 2 s however many scrape."""

import asyncio
import logging
from collections.abc import Callable, Iterable
from datetime import datetime

import msgspec

from redshank_console.collector.fresh import Fresh
from redshank_console.services.overview import Overview
from redshank_shared.domain.errors import Unavailable
from redshank_shared.stores.backlog import Backlog, Waiting
from redshank_shared.stores.database import Database
from redshank_shared.wire.views import NodeView, OverviewView

logger = logging.getLogger(__name__)

FRESH_SECONDS = 2.0
_ANSWER_SECONDS = 3.0


class Readings(msgspec.Struct, frozen=True):
    """The cluster at one moment. `slots`: of the nodes that take work."""

    overview: OverviewView
    waiting: Waiting
    slots: int
    approvals_oldest_seconds: float

    @property
    def demand_ratio(self) -> float:
        """(waiting + running) / slots; without any slot as if there were one, so that it stays a
        number by which an autoscaler can start from none.
        """
        return (self.waiting.without_node + self.waiting.running) / max(1, self.slots)


class ClusterReading:
    """`monotonic`: seconds on a steady clock; `now`: the present moment."""

    def __init__(
        self,
        database: Database,
        backlog: Backlog,
        overview: Overview,
        monotonic: Callable[[], float],
        now: Callable[[], datetime],
    ) -> None:
        self._database = database
        self._backlog = backlog
        self._overview = overview
        self._now = now
        self._readings = Fresh(self._gather, FRESH_SECONDS, monotonic)

    async def latest(self) -> Readings | None:
        """The readings, at most 2 s old; None, for as long, where the database did not answer."""
        return await self._readings.get()

    async def _gather(self) -> Readings | None:
        try:
            async with asyncio.timeout(_ANSWER_SECONDS):
                overview = await self._overview.figures()
                nodes = await self._overview.nodes()
                waiting = await self._database.run(self._backlog.waiting)
        except Unavailable as error:
            logger.warning("the cluster's gauges are left out: %s", error.detail)
            return None
        except TimeoutError:
            logger.warning(
                "the cluster's gauges are left out: no answer in %.0f s", _ANSWER_SECONDS
            )
            return None
        return Readings(
            overview=overview,
            waiting=waiting,
            slots=slots_of(nodes.items),
            approvals_oldest_seconds=_seconds_since(waiting.approvals_since, self._now()),
        )


def slots_of(nodes: Iterable[NodeView]) -> int:
    """How many turns at once the nodes that are up can hold; a report without a figure counts 0."""
    said = (node.report.get("slots") for node in nodes if node.state == "up")
    return sum(slots for slots in said if isinstance(slots, int) and slots > 0)


def _seconds_since(moment: str | None, now: datetime) -> float:
    if moment is None:
        return 0.0
    return max(0.0, (now - datetime.fromisoformat(moment)).total_seconds())
