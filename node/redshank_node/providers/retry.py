"""Decides when a model is asked again."""

import asyncio
import contextlib
import random
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from typing import cast

import msgspec

from redshank_node.providers.provider import (
    Answer,
    Delta,
    ModelFailed,
    ModelRequest,
    Provider,
)


class RetryPolicy(msgspec.Struct, frozen=True):
    """How often and how patiently a model is asked for one answer."""

    attempts: int = 6
    first_seconds: float = 1.0
    longest_seconds: float = 30.0
    longest_asked_seconds: float = 60.0


def delay(policy: RetryPolicy, attempt: int, failure: ModelFailed, jitter: float) -> float | None:
    """Seconds until the next attempt, None to give up.

    `attempt` counts those made, from 1. The wait doubles each time up to its bound, and `jitter`
    (0 to 1) shortens it by up to half; a wait that the server asked for is kept up to 60 s, with
    up to a second of jitter so that not everyone comes back at once.
    """
    if not failure.retry or attempt >= policy.attempts:
        return None
    if failure.delay_seconds is not None:
        return min(failure.delay_seconds + jitter, policy.longest_asked_seconds)
    doubled = policy.first_seconds * 2.0 ** min(attempt - 1, 32)
    return min(doubled, policy.longest_seconds) * (1.0 - jitter / 2)


async def ask(
    provider: Provider,
    request: ModelRequest,
    *,
    policy: RetryPolicy,
    on_delta: Callable[[Delta], None],
    on_retry: Callable[[ModelFailed, float], None],
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    jitter: Callable[[], float] = random.random,
) -> Answer:
    """The model's answer, in as many attempts as the policy allows.

    Before each further attempt `on_retry` is told the failure and the wait in seconds: what
    `on_delta` was given until then is void. Raises the last attempt's ModelFailed.
    """
    attempt = 1
    while True:
        try:
            return await _attempt(provider, request, on_delta)
        except ModelFailed as failure:
            wait = delay(policy, attempt, failure, jitter())
            if wait is None:
                raise
            failed = failure
        on_retry(failed, wait)
        await sleep(wait)
        attempt += 1


async def _attempt(
    provider: Provider, request: ModelRequest, on_delta: Callable[[Delta], None]
) -> Answer:
    answer: Answer | None = None
    async with contextlib.aclosing(_closable(provider.stream(request))) as items:
        async for item in items:
            if isinstance(item, Answer):
                answer = item
            else:
                on_delta(item)
    if answer is None:
        raise ModelFailed(
            f"Model {provider.settings.model} ended without an answer; it is asked again.",
            code="model_stream_cut",
            retry=True,
        )
    return answer


def _closable(items: AsyncIterator[Delta | Answer]) -> AsyncGenerator[Delta | Answer, None]:
    # Providers write `stream` as a generator: closing it stops the request at once.
    return cast(AsyncGenerator[Delta | Answer, None], items)
