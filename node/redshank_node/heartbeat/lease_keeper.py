"""Renews this node's leases from a thread of its own while the loop under them is alive."""

import asyncio
import logging
import threading
from collections.abc import Callable
from typing import Generic, TypeVar

from redshank_shared.domain.errors import Unavailable

logger = logging.getLogger(__name__)

Held = TypeVar("Held")


class LeaseKeeper(Generic[Held]):
    """One renewal every `every_seconds`. A loop that lags longer than `most_lag_seconds` gets none:
    it gives its leases up.
    """

    def __init__(
        self,
        renew: Callable[[], Held],
        renewed: Callable[[float, Held], None],
        silent: Callable[[], None],
        monotonic: Callable[[], float],
        every_seconds: float = 4.0,
        most_lag_seconds: float = 5.0,
    ) -> None:
        """`renewed` (when it was asked, what is held) and `silent` (no word from the database) run
        in the loop.
        """
        self._renew = renew
        self._renewed = renewed
        self._silent = silent
        self._monotonic = monotonic
        self._every_seconds = every_seconds
        self._most_lag_seconds = most_lag_seconds
        self._stop = threading.Event()
        self._loop_seen_at = 0.0
        self.loop_lag_seconds = 0.0

    async def run(self, stop: asyncio.Event) -> None:
        """Until stop: the thread renews, this task shows it that the loop is alive."""
        loop = asyncio.get_running_loop()
        self._loop_seen_at = self._monotonic()
        thread = threading.Thread(target=self._keep, args=(loop,), name="lease-keeper", daemon=True)
        thread.start()
        try:
            while not stop.is_set():
                before = self._monotonic()
                await asyncio.sleep(0.25)
                self._loop_seen_at = self._monotonic()
                self.loop_lag_seconds = max(0.0, self._loop_seen_at - before - 0.25)
        finally:
            self._stop.set()

    def _keep(self, loop: asyncio.AbstractEventLoop) -> None:
        pause = self._every_seconds
        while not self._stop.wait(pause):
            pause = self._every_seconds if self._renew_once(loop) else 1.0

    def _renew_once(self, loop: asyncio.AbstractEventLoop) -> bool:
        asked_at = self._monotonic()
        lag = asked_at - self._loop_seen_at
        if lag > self._most_lag_seconds:
            logger.error("the loop has not answered for %.1f s: its leases are given up", lag)
            return False
        try:
            held = self._renew()
        except Unavailable as error:
            logger.warning("leases not renewed: %s", error.detail)
            self._tell(loop, self._silent)
            return False
        self._tell(loop, lambda: self._renewed(asked_at, held))
        return True

    def _tell(self, loop: asyncio.AbstractEventLoop, what: Callable[[], None]) -> None:
        if not self._stop.is_set() and not loop.is_closed():
            loop.call_soon_threadsafe(what)
