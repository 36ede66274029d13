"""Ends what goes on for long once the right to it is gone."""

import asyncio
import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import msgspec

from redshank_console.services.principal import Principal
from redshank_shared.domain.errors import Unavailable
from redshank_shared.stores.database import Database
from redshank_shared.stores.tokens import Holder, Tokens

logger = logging.getLogger(__name__)

# A stream must end within 10 s (F72).
LOOK_SECONDS = 3.0


class Watched(msgspec.Struct, eq=False):
    """One stream. `lost`: whether it was ended for want of a right."""

    principal: Principal
    end: Callable[[], None]
    lost: bool = False


class Standing:
    """All streams of this process: one question to the database for all of them."""

    def __init__(self, database: Database, tokens: Tokens) -> None:
        self._database = database
        self._tokens = tokens
        self._open: set[Watched] = set()

    @contextmanager
    def watched(self, principal: Principal, end: Callable[[], None]) -> Iterator[Watched]:
        """Call `end` once the principal lost any right that they had when this began."""
        watched = Watched(principal, end)
        # Where nobody signs in, nobody loses anything.
        if not principal.credential:
            yield watched
            return
        self._open.add(watched)
        try:
            yield watched
        finally:
            self._open.discard(watched)

    async def run(self) -> None:
        """Look again and again, until cancelled."""
        while True:
            try:
                await self.look()
            except Unavailable as error:
                logger.warning("rights of open streams were not looked at: %s", error.detail)
            except Exception:  # noqa: BLE001 - the loop's edge: the next look may succeed
                logger.exception("rights of open streams were not looked at")
            await asyncio.sleep(LOOK_SECONDS)

    async def look(self) -> None:
        """End every stream whose right is gone; Unavailable where the database does not say."""
        asked = sorted({watched.principal.credential for watched in self._open})
        if not asked:
            return
        holders = await self._database.run(self._tokens.holders, asked)
        for watched in list(self._open):
            credential = watched.principal.credential
            if credential in asked and _has_lost(watched.principal, holders.get(credential)):
                watched.lost = True
                self._open.discard(watched)
                watched.end()


def _has_lost(principal: Principal, holder: Holder | None) -> bool:
    return holder is None or not principal.scopes <= holder.scopes
