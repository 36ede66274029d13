"""Listens to channels for as long as it is asked to, through any number of lost connections."""

import asyncio
import logging
from collections import Counter
from collections.abc import AsyncIterator

import msgspec
import redis.asyncio
from redis.asyncio.client import PubSub
from redis.exceptions import RedisError

from redshank_shared.queue.connection import connect_blocking

logger = logging.getLogger(__name__)

_LISTEN_SECONDS = 1.0
_MOST_SILENT_ROUNDS = 3
_FIRST_DELAY_SECONDS = 0.1
_LAST_DELAY_SECONDS = 1.0


class Begun(msgspec.Struct, frozen=True):
    """Redis has confirmed all channels; what was published before was not heard."""


class Heard(msgspec.Struct, frozen=True):
    """A message on a channel."""

    channel: str
    data: bytes


class Subscription:
    """One pub/sub connection whose channels come and go. One task iterates `messages`; any may add
    or drop.
    """

    def __init__(self, url: str, channel: str) -> None:
        self._redis = connect_blocking(url)
        self._confirmed: dict[str, asyncio.Event] = {channel: asyncio.Event()}
        self._users: Counter[str] = Counter({channel: 1})
        # What is sent for a channel must go out in the order of the decisions.
        self._sending = asyncio.Lock()
        self._pubsub: PubSub | None = None

    @property
    def connected(self) -> bool:
        """Whether messages can come right now."""
        return self._pubsub is not None

    async def add(self, channel: str, timeout_seconds: float = 2.0) -> bool:
        """Listen to a channel too; True once Redis has confirmed it. Each `add` wants its `drop`.

        False when it was not confirmed in time: then the next `Begun` confirms it.
        """
        self._users[channel] += 1
        confirmed = self._confirmed.setdefault(channel, asyncio.Event())
        try:
            async with asyncio.timeout(timeout_seconds):
                async with self._sending:
                    if self._pubsub is None:
                        return False
                    if not confirmed.is_set():
                        await self._pubsub.subscribe(channel)
                await confirmed.wait()
        except (RedisError, OSError):
            return False
        return True

    async def drop(self, channel: str) -> None:
        """One user of a channel has gone; the last one ends it."""
        self._users[channel] -= 1
        async with self._sending:
            if self._users[channel] > 0:
                return
            del self._users[channel]
            self._confirmed.pop(channel, None)
            if self._pubsub is None:
                return
            try:
                await self._pubsub.unsubscribe(channel)
            except (RedisError, OSError):
                logger.debug("%s not dropped: the connection is lost anyway", channel)

    async def messages(self) -> AsyncIterator[Begun | Heard]:
        """What is heard, without an end. Each connection starts with `Begun`, within 1 s after
        Redis is back.

        A connection that stays silent for 3 s although it is pinged is given up (F53).
        """
        delay = _FIRST_DELAY_SECONDS
        try:
            while True:
                try:
                    async for message in self._connection_messages():
                        delay = _FIRST_DELAY_SECONDS
                        yield message
                except (RedisError, OSError) as error:
                    if delay == _FIRST_DELAY_SECONDS:
                        logger.warning("live channels lost (%s); they come back with Redis", error)
                await asyncio.sleep(delay)
                delay = min(delay * 2, _LAST_DELAY_SECONDS)
        finally:
            await self._redis.aclose()

    async def _connection_messages(self) -> AsyncIterator[Begun | Heard]:
        async with self._redis.pubsub() as pubsub:
            await self._begin(pubsub)
            begun = False
            silent_rounds = 0
            try:
                while silent_rounds < _MOST_SILENT_ROUNDS:
                    message = await pubsub.get_message(timeout=_LISTEN_SECONDS)
                    if message is None:
                        silent_rounds += 1
                        await pubsub.ping()
                        continue
                    silent_rounds = 0
                    if message["type"] == "message":
                        yield Heard(message["channel"].decode(), message["data"])
                    elif message["type"] == "subscribe":
                        self._confirm(message["channel"].decode())
                    if not begun and self._all_confirmed():
                        begun = True
                        yield Begun()
            finally:
                self._pubsub = None
        raise redis.exceptions.ConnectionError("no answer to PING for 3 s")

    async def _begin(self, pubsub: PubSub) -> None:
        async with self._sending:
            for confirmed in self._confirmed.values():
                confirmed.clear()
            await pubsub.subscribe(*self._confirmed)
            self._pubsub = pubsub

    def _confirm(self, channel: str) -> None:
        confirmed = self._confirmed.get(channel)
        if confirmed is not None:
            confirmed.set()

    def _all_confirmed(self) -> bool:
        return all(confirmed.is_set() for confirmed in self._confirmed.values())
