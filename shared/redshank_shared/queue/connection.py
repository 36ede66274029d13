"""Opens connections to Redis that fail soon rather than late."""

import asyncio
import contextlib
from collections.abc import Iterable, Iterator
from typing import cast

import redis
import redis.asyncio
from redis.asyncio.connection import AbstractConnection
from redis.asyncio.retry import Retry as AsyncRetry
from redis.backoff import ConstantBackoff, NoBackoff
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import RedisError
from redis.retry import Retry

from redshank_shared.domain.errors import Misconfigured, Unavailable

BLOCK_SECONDS = 1.0
_CONNECT_SECONDS = 1.0
_ANSWER_SECONDS = 1.5
_BLOCK_MARGIN_SECONDS = 1.0
_MOST_CONNECTIONS = 64
# After a longer silence a connection is tried with a PING before a command is risked on it.
_TRUSTED_IDLE_SECONDS = 10


def connect(url: str) -> redis.asyncio.Redis:
    """A client for short commands. Connects on first use.

    A Redis that is away or does not answer raises within 2 s, not after the 59 s of the library's
    own settings.
    """
    # Only a broken connection is tried again: one that did not answer in time will not the second
    # time either.
    retry = AsyncRetry(ConstantBackoff(0.02), 1, supported_errors=(RedisConnectionError,))
    pool = redis.asyncio.BlockingConnectionPool.from_url(
        url,
        max_connections=_MOST_CONNECTIONS,
        timeout=_ANSWER_SECONDS,
        socket_connect_timeout=_CONNECT_SECONDS,
        socket_timeout=_ANSWER_SECONDS,
        health_check_interval=_TRUSTED_IDLE_SECONDS,
        retry=retry,
    )
    return _cancellable(pool)


def connect_blocking(url: str) -> redis.asyncio.Redis:
    """A client for pops that block up to BLOCK_SECONDS and for subscriptions.

    A socket that is half open raises within 2 s (F53). Nothing is tried again behind the caller's
    back: a subscription that reconnects by itself would not say what it missed.
    """
    pool = redis.asyncio.BlockingConnectionPool.from_url(
        url,
        max_connections=_MOST_CONNECTIONS,
        timeout=_ANSWER_SECONDS,
        socket_connect_timeout=_CONNECT_SECONDS,
        socket_timeout=BLOCK_SECONDS + _BLOCK_MARGIN_SECONDS,
        retry=AsyncRetry(NoBackoff(), 0),
    )
    return _cancellable(pool)


def connect_threaded(url: str) -> redis.Redis:
    """A client for RQ's own bookkeeping, which runs in threads. Same limits as `connect`."""
    pool = redis.BlockingConnectionPool.from_url(
        url,
        max_connections=_MOST_CONNECTIONS,
        timeout=_ANSWER_SECONDS,
        socket_connect_timeout=_CONNECT_SECONDS,
        socket_timeout=_ANSWER_SECONDS,
        health_check_interval=_TRUSTED_IDLE_SECONDS,
        retry=Retry(ConstantBackoff(0.02), 1, supported_errors=(RedisConnectionError,)),
    )
    return redis.Redis.from_pool(pool)


def _cancellable(pool: redis.asyncio.ConnectionPool) -> redis.asyncio.Redis:
    pool.connection_class = type("Connection", (_Cancellable, pool.connection_class), {})
    return redis.asyncio.Redis.from_pool(pool)


class _Cancellable(AbstractConnection):
    """The library sends through `asyncio.wait_for`, which on Python 3.11 forgets a cancel that
    comes as the bytes have left: whoever was cancelled would go on.
    """

    async def send_packed_command(
        self, command: bytes | str | Iterable[bytes], check_health: bool = True
    ) -> None:
        task = asyncio.current_task()
        cancels = task.cancelling() if task is not None else 0
        await super().send_packed_command(command, check_health)
        if task is not None and task.cancelling() > cancels:
            # The answer to what was sent must not be taken for the next command's.
            await self.disconnect(nowait=True)
            raise asyncio.CancelledError


@contextlib.contextmanager
def redis_errors_as_unavailable() -> Iterator[None]:
    """Whatever Redis or the way to it refuses becomes Unavailable with the mend."""
    try:
        yield
    except (RedisError, OSError) as error:
        raise Unavailable(
            f"Redis does not answer ({error}); start it or mend redis.url. "
            "Nothing is lost: the database hands out again what was not handed over",
            code="redis_unavailable",
        ) from error


async def refuse_eviction(client: redis.asyncio.Redis) -> None:
    """Raises Misconfigured when Redis may throw keys away to make room (F55); Unavailable when it
    does not answer.

    Reads INFO, which managed services allow where they forbid CONFIG.
    """
    with redis_errors_as_unavailable():
        memory = cast(dict[str, object], await client.info("memory"))
    policy = memory.get("maxmemory_policy", "noeviction")
    if policy != "noeviction":
        raise Misconfigured(
            f"Redis has maxmemory-policy {policy}: under pressure it would silently drop nudges "
            "and jobs; set `maxmemory-policy noeviction` in redis.conf (or the service's parameter "
            "group), or run `redis-cli CONFIG SET maxmemory-policy noeviction`, then start again",
            code="redis_evicts",
            field="redis.url",
        )


def as_bytes(reply: bytes | str) -> bytes:
    """A reply of a client that does not decode, which the library's types leave open."""
    return reply if isinstance(reply, bytes) else reply.encode()
