"""Keeps this gateway in the cluster's registry, by way of the console."""

import asyncio
import logging
from collections.abc import Callable, Mapping

import httpx

from redshank_shared.wire.problems import Problem

logger = logging.getLogger(__name__)

BEAT_SECONDS = 5.0
# A console that starts beside us answers soon; one that is gone is asked ever more rarely.
FIRST_PAUSE_SECONDS = 0.5
LONGEST_PAUSE_SECONDS = 15.0
_ANSWER_SECONDS = 5.0


class Registration:
    """One loop; a console that is away costs beats, never the loop.

    `trouble` says why the last beat was not taken, empty when it was.
    """

    def __init__(
        self,
        console_url: str,
        sign: Callable[[], str],
        describe: Callable[[], Mapping[str, object]],
        beat_seconds: float = BEAT_SECONDS,
    ) -> None:
        self.trouble = "the console was not asked yet"
        self._url = f"{console_url.rstrip('/')}/v1/cluster/services"
        self._sign = sign
        self._describe = describe
        self._beat_seconds = beat_seconds

    async def run(self) -> None:
        """Beat until cancelled."""
        pause = FIRST_PAUSE_SECONDS
        async with httpx.AsyncClient(timeout=_ANSWER_SECONDS, trust_env=False) as client:
            while True:
                trouble = await self._beat(client)
                if trouble and trouble != self.trouble:
                    logger.warning("not registered, tried again: %s", trouble)
                elif self.trouble and not trouble:
                    logger.info("registered with the console")
                self.trouble = trouble
                await asyncio.sleep(pause if trouble else self._beat_seconds)
                pause = min(pause * 2, LONGEST_PAUSE_SECONDS) if trouble else FIRST_PAUSE_SECONDS

    async def _beat(self, client: httpx.AsyncClient) -> str:
        headers = {"Authorization": f"Bearer {self._sign()}"}
        try:
            answer = await client.post(self._url, json=self._describe(), headers=headers)
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            return (
                f"no console answers at {self._url} ({type(error).__name__}): check "
                f"gateway.console_url"
            )
        return "" if answer.is_success else f"the console refuses: {_cause(answer)}"


def _cause(answer: httpx.Response) -> str:
    try:
        return Problem.model_validate_json(answer.content).detail
    except ValueError:
        # Something else listens there, or stands between.
        return f"status {answer.status_code}, not in a console's words"
