"""Counts rounds of work that somebody else does, for those who wait for one of them."""

import asyncio
import sys


class Rounds:
    """Rounds, one after the other: at most one is under way."""

    def __init__(self) -> None:
        self._begun = 0
        self._finished = 0
        self._done = asyncio.Event()

    @property
    def under_way(self) -> bool:
        """Whether a round has begun that is not over."""
        return self._begun != self._finished

    def begin(self) -> None:
        """A round begins."""
        self._begun += 1

    def finish(self) -> None:
        """The round that began last is over, however it went."""
        self._finished = max(self._begun, self._finished)
        self._done.set()
        self._done = asyncio.Event()

    def end(self) -> None:
        """There will be no more rounds: nobody waits any longer."""
        self._finished = sys.maxsize
        self._done.set()

    async def first(self) -> None:
        """Wait for the end of the first round ever."""
        await self._until(1)

    async def one(self) -> None:
        """Wait for the end of the round that is under way, else of the next."""
        await self._until(max(self._begun, self._finished + 1))

    async def fresh(self) -> None:
        """Wait for the end of a round that has not begun yet."""
        await self._until(self._begun + 1)

    async def _until(self, number: int) -> None:
        while self._finished < number:
            await self._done.wait()
