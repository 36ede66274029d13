"""Keeps an answer for a moment, so that many who ask cost one look."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

Value = TypeVar("Value")


class Fresh(Generic[Value]):
    """What `gather` gave at most `seconds` ago; who comes while it gathers waits for its answer."""

    def __init__(
        self,
        gather: Callable[[], Awaitable[Value]],
        seconds: float,
        monotonic: Callable[[], float],
    ) -> None:
        self._gather = gather
        self._seconds = seconds
        self._monotonic = monotonic
        self._gathering = asyncio.Lock()
        self._kept: tuple[Value, float] | None = None

    async def get(self) -> Value:
        """The answer; raises what `gather` raises, and keeps no failure."""
        if (kept := self._kept) and self._monotonic() < kept[1]:
            return kept[0]
        async with self._gathering:
            if (kept := self._kept) and self._monotonic() < kept[1]:
                return kept[0]
            return await self._renewed()

    async def renew(self) -> Value:
        """A new answer, whatever is kept; meanwhile others get the kept one until it is too old."""
        async with self._gathering:
            return await self._renewed()

    async def _renewed(self) -> Value:
        value = await self._gather()
        self._kept = (value, self._monotonic() + self._seconds)
        return value
