"""A cancelled task ends, whatever it waits for just then and however near to its end that is.

`asyncio.wait_for` of Python 3.11 forgets a cancel that comes as its own wait ends (CPython's issue
86296); whoever goes on after that is never stopped.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from types import CoroutineType
from typing import Any

import pytest
import redis.asyncio

from redshank_node.dueclock.clock_lead import ClockLead
from redshank_node.heartbeat.reporter import Reporter
from redshank_shared.queue.connection import connect, connect_blocking
from redshank_shared.queue.dispatch import Dispatch
from redshank_shared.stores.database import Database
from redshank_shared.stores.leases import Leases
from redshank_shared.stores.services import ServiceRow, Services
from redshank_shared.waiting import happened
from tests.fakes.valkey import Valkey

AT = "2026-11-30T08:15:00.250Z"
STEPS = range(40)
DEADLINE_SECONDS = 20.0


async def steps(count: int) -> None:
    """So many turns of the loop."""
    for _ in range(count):
        await asyncio.sleep(0)


async def ends(task: asyncio.Task[None]) -> bool:
    """Whether a cancel ends it; ended for good in either case."""
    task.cancel()
    done, _ = await asyncio.wait([task], timeout=DEADLINE_SECONDS)
    while not task.done():
        task.cancel()
        await asyncio.wait([task], timeout=0.1)
    return bool(done)


def waits(task: asyncio.Task[Any]) -> bool:
    """Whether it waits for an event just now, by the one function that does."""
    awaited: Any = task.get_coro()
    while isinstance(awaited, CoroutineType):
        if awaited.cr_code is happened.__code__:
            return True
        awaited = awaited.cr_await
    return False


async def forever(once: Callable[[], Awaitable[object]]) -> None:
    while True:
        await once()


@pytest.fixture(params=[connect, connect_blocking])
async def client(
    valkey: Valkey, request: pytest.FixtureRequest
) -> AsyncIterator[redis.asyncio.Redis]:
    opened: redis.asyncio.Redis = request.param(valkey.url)
    yield opened
    await opened.aclose()


@pytest.mark.parametrize("after", STEPS)
async def test_a_command_to_redis(client: redis.asyncio.Redis, after: int) -> None:
    await client.ping()
    async with asyncio.TaskGroup() as group:
        task = group.create_task(forever(client.ping))
        await steps(after)
        assert await ends(task), after
    assert await client.ping()


@pytest.mark.parametrize("after", range(3))
async def test_a_node_that_waits_to_report(database: Database, after: int) -> None:
    row = ServiceRow("marsh-1.a", "node", "http://127.0.0.1:8081", "0.1.0", AT, "{}")
    reporter = Reporter(database, Services(database), row, lambda: "{}", None)
    assert await ends_as_it_is_stopped(reporter.run, after)


@pytest.mark.parametrize("after", range(3))
async def test_a_node_that_waits_to_reconcile(
    database: Database, redis_client: redis.asyncio.Redis, after: int
) -> None:
    lead = ClockLead(database, Leases(database), Dispatch(redis_client), "marsh-1.a")
    assert await ends_as_it_is_stopped(lead.run, after)


async def ends_as_it_is_stopped(
    run: Callable[[asyncio.Event], Awaitable[None]], after: int
) -> bool:
    """Told to stop, cancelled so many turns of the loop later: the cancel must not be forgotten."""

    async def run_then_wait(stop: asyncio.Event) -> None:
        await run(stop)
        await asyncio.sleep(300)

    stop = asyncio.Event()
    async with asyncio.TaskGroup() as group:
        task = group.create_task(run_then_wait(stop))
        async with asyncio.timeout(DEADLINE_SECONDS):
            while not any(map(waits, asyncio.all_tasks())):  # noqa: ASYNC110 - nobody tells of it
                await asyncio.sleep(0.01)
        stop.set()
        await steps(after)
        return await ends(task)
