"""Waits out a Redis that is away."""

import asyncio
import logging

from redshank_shared.waiting import happened

logger = logging.getLogger(__name__)

_FIRST_DELAY_SECONDS = 0.1
_LAST_DELAY_SECONDS = 1.0


class Outage:
    """Delays between attempts of one loop. Said once in the log when it begins, once when it is
    over.
    """

    def __init__(self, loop_name: str) -> None:
        self._loop_name = loop_name
        self._delay_seconds = 0.0

    async def pause(self, error: Exception, stop: asyncio.Event) -> None:
        """Wait before the next attempt: 0.1 s, doubled up to 1 s; returns at once when `stop` is
        set.
        """
        if not self._delay_seconds:
            logger.warning("%s waits for Redis: %s", self._loop_name, error)
        self._delay_seconds = min(
            max(_FIRST_DELAY_SECONDS, self._delay_seconds * 2), _LAST_DELAY_SECONDS
        )
        await happened(stop, self._delay_seconds)

    def over(self) -> None:
        """An attempt went well."""
        if self._delay_seconds:
            logger.info("%s goes on", self._loop_name)
            self._delay_seconds = 0.0
