"""Says which limits the next batch of calls runs under."""

import logging
from collections.abc import Awaitable, Callable

from redshank_shared.domain.errors import Unavailable
from redshank_shared.domain.limits import Limits
from redshank_shared.stores.database import Database
from redshank_shared.stores.tool_limits import ToolLimits

logger = logging.getLogger(__name__)

ReadStored = Callable[[], Awaitable[Limits | None]]


def stored_in(database: Database) -> ReadStored:
    """Reads what was set last in this database."""
    store = ToolLimits(database)

    async def read() -> Limits | None:
        stored = await database.run(store.current)
        return None if stored is None else stored.limits

    return read


class LimitsInForce:
    """The stored limits, at most a second old; the configured ones where none are stored (K-84)."""

    def __init__(
        self,
        configured: Limits,
        read: ReadStored,
        monotonic: Callable[[], float],
        stale_seconds: float = 1.0,
    ) -> None:
        self.last = configured
        self._stale_seconds = stale_seconds
        self._configured = configured
        self._read = read
        self._monotonic = monotonic
        self._stale_at = float("-inf")

    async def current(self) -> Limits:
        """The limits now; the last known ones while the database does not answer."""
        now = self._monotonic()
        if now >= self._stale_at:
            self._stale_at = now + self._stale_seconds
            try:
                self.last = await self._read() or self._configured
            except Unavailable as error:
                logger.warning("the limits stay as they were: %s", error.detail)
        return self.last


class BatchLimits:
    """What one turn's batch in hand runs under: a change reaches the next batch, never this one."""

    def __init__(self, in_force: LimitsInForce) -> None:
        self.now = in_force.last
        self._in_force = in_force

    async def renew(self) -> None:
        """A new batch begins."""
        self.now = await self._in_force.current()
