"""Says whether this console can do its work."""

import asyncio

from redshank_shared.domain.errors import Unavailable
from redshank_shared.queue.dispatch import Dispatch
from redshank_shared.stores.database import Database
from redshank_shared.wire.views import HealthView

_ANSWER_SECONDS = 3.0


class Health:
    """Asks anew each time."""

    def __init__(self, database: Database, dispatch: Dispatch, version: str) -> None:
        self._database = database
        self._dispatch = dispatch
        self._version = version

    async def check(self) -> HealthView:
        """What each part says, within 6 s."""
        database, redis = await self._ask_database(), await self._ask_redis()
        return HealthView(
            status="ok" if database == redis == "ok" else "failing",
            database=database,
            redis=redis,
            version=self._version,
        )

    async def _ask_database(self) -> str:
        try:
            async with asyncio.timeout(_ANSWER_SECONDS):
                await self._database.run(self._database.ping)
        except Unavailable as error:
            return error.detail
        except TimeoutError:
            return f"the database did not answer within {_ANSWER_SECONDS:.0f} s; check database.url"
        return "ok"

    async def _ask_redis(self) -> str:
        try:
            async with asyncio.timeout(_ANSWER_SECONDS):
                await self._dispatch.depth()
        except Unavailable as error:
            return error.detail
        except TimeoutError:
            return f"Redis did not answer within {_ANSWER_SECONDS:.0f} s; check redis.url"
        return "ok"
