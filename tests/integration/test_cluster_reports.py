"""Nodes that report over a real Redis and a real registry, as a console's census sees them."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable

import pytest
import redis.asyncio

from redshank_console.collector.census import Census
from redshank_node.heartbeat.reporter import Reporter
from redshank_shared.clock import monotonic
from redshank_shared.queue import keys
from redshank_shared.queue.connection import connect
from redshank_shared.queue.reports import (
    MOST_NAMES,
    MOST_REPORT_BYTES,
    McpFigures,
    NodeReport,
    ReportBus,
    ReportFeed,
    decode,
    encode_report,
)
from redshank_shared.stores.database import Database
from redshank_shared.stores.services import ServiceRow, Services
from tests.bench.figures import figure
from tests.fakes.valkey import Valkey

AT = "2026-11-30T08:15:00.250Z"
DEADLINE_SECONDS = 30.0
# Asked for much more often than this while the process runs.
HELD_UP_SECONDS = 0.5
NOWHERE = "redis://127.0.0.1:1/0"


def report() -> str:
    mcp = McpFigures(servers=2, resources=3, prompts=1, tools=14)
    figures = NodeReport(node="marsh-1", slots=4, busy=1, free=3, mcp=mcp, tools=("bash",))
    return encode_report(figures)


class Unhurried:
    """A steady clock that leaves out how long the machine held this process up: those who report
    were held up as well.
    """

    def __init__(self) -> None:
        self._asked = self._passed = monotonic()

    def __call__(self) -> float:
        now = monotonic()
        self._passed += min(now - self._asked, HELD_UP_SECONDS)
        self._asked = now
        return self._passed


class World:
    """A census that runs, with nodes that come and go in the same loop."""

    def __init__(self, database: Database, url: str, group: asyncio.TaskGroup) -> None:
        self.database = database
        self.services = Services(database)
        self.client = connect(url)
        self.census = Census(
            database, self.services, Unhurried(), ReportFeed(url), ReportBus(self.client)
        )
        self._group = group
        self._census_task = group.create_task(self.census.run())
        self._nodes: list[asyncio.Task[None]] = []

    def node(self, bus: ReportBus | None, database: Database | None = None) -> "Started":
        row = ServiceRow("marsh-1.a", "node", "http://127.0.0.1:8081", "0.1.0", AT, report())
        stop = asyncio.Event()
        reporter = Reporter(database or self.database, self.services, row, report, bus)
        task = self._group.create_task(reporter.run(stop))
        self._nodes.append(task)
        return Started(task, stop)

    async def until(self, wanted: dict[str, str]) -> float:
        """Seconds until the nodes have these states."""
        began = time.monotonic()
        while (found := await self.states()) != wanted:
            assert time.monotonic() - began < DEADLINE_SECONDS, found
            await asyncio.sleep(0.02)
        return time.monotonic() - began

    async def states(self) -> dict[str, str]:
        nodes = (await self.census.registered()).nodes
        return {node.name: node.state for node in nodes}

    async def never(self, state: str, seconds: float) -> None:
        """For so long no node is in this state."""
        ends = time.monotonic() + seconds
        while time.monotonic() < ends:
            assert state not in (await self.states()).values()
            await asyncio.sleep(0.05)

    async def close(self) -> None:
        for task in (self._census_task, *self._nodes):
            task.cancel()
        await self.client.aclose()


class Started:
    """A node's reporter. `kill` ends it without a word."""

    def __init__(self, task: asyncio.Task[None], stop: asyncio.Event) -> None:
        self._task = task
        self._stop = stop

    def kill(self) -> None:
        self._task.cancel()

    async def leave(self) -> None:
        self._stop.set()
        async with asyncio.timeout(DEADLINE_SECONDS):
            await self._task


@pytest.fixture
async def world(database: Database, own_valkey: Valkey) -> AsyncIterator[World]:
    async with asyncio.TaskGroup() as group:
        opened = World(database, own_valkey.url, group)
        await heard_on(opened.client)
        yield opened
        await opened.close()


async def heard_on(client: redis.asyncio.Redis) -> None:
    """Return as soon as a console listens."""
    async with asyncio.timeout(DEADLINE_SECONDS):
        while not (await client.pubsub_numsub(keys.REPORTS))[0][1]:
            await asyncio.sleep(0.02)


@pytest.mark.req("B-24")
async def test_a_new_node_is_seen_within_a_second_a_killed_one_is_lost_within_three(
    world: World,
) -> None:
    node = world.node(ReportBus(world.client))
    figure("a new node is seen", await world.until({"marsh-1": "up"}), 1, "s")
    await world.never("lost", 4.0)
    node.kill()
    figure("a killed node is lost", await world.until({"marsh-1": "lost"}), 3, "s")


async def test_a_node_that_left_in_order_is_gone_not_lost(world: World) -> None:
    node = world.node(ReportBus(world.client))
    await world.until({"marsh-1": "up"})
    await node.leave()
    figure("a node that left is gone", await world.until({}), 1, "s")
    assert world.services.all("node") == []


@pytest.mark.fault("F53")
async def test_a_node_that_cannot_reach_redis_is_seen_all_the_time(world: World) -> None:
    lost = connect(NOWHERE)
    world.node(ReportBus(lost))
    figure("a new node without Redis is seen", await world.until({"marsh-1": "up"}), 1.6, "s")
    await world.never("lost", 6.0)
    await lost.aclose()


@pytest.mark.fault("F54")
async def test_nodes_are_seen_while_redis_is_away_then_lost_late_rather_than_wrongly(
    world: World, own_valkey: Valkey
) -> None:
    node = world.node(ReportBus(world.client))
    await world.until({"marsh-1": "up"})
    own_valkey.kill()
    await world.never("lost", 6.0)
    own_valkey.start()
    await world.never("lost", 4.0)
    node.kill()
    figure("a killed node is lost", await world.until({"marsh-1": "lost"}), 5, "s")


@pytest.mark.parametrize("over_redis", [True, False])
async def test_what_a_node_says_arrives_whole_by_either_way(world: World, over_redis: bool) -> None:
    expected = NodeReport(
        node="marsh-1",
        slots=4,
        busy=1,
        free=3,
        mcp=McpFigures(servers=2, resources=3, prompts=1, tools=14),
        tools=("bash",),
    )
    world.node(ReportBus(world.client) if over_redis else None)
    await world.until({"marsh-1": "up"})
    (seen,) = (await world.census.registered()).nodes
    assert (seen.id, seen.report) == ("marsh-1.a", expected)


@pytest.mark.parametrize(
    "damaged",
    [b"", b"{}", b"\xff", b'{"type":"other"}', b'{"type":"reported","service_id":7}'],
)
def test_what_is_damaged_is_passed_over(damaged: bytes) -> None:
    assert decode(damaged) is None


@pytest.mark.fault("F60")
def test_a_report_has_a_bound_on_both_sides() -> None:
    names = tuple(f"mcp__server__tool_{number}" for number in range(5 * MOST_NAMES))
    assert encode_report(NodeReport(tools=names)).count("tool_") == MOST_NAMES
    assert decode(b" " * MOST_REPORT_BYTES + b'{"type":"pulse"}') is None


async def test_a_follower_is_told_of_a_node_as_it_comes_and_goes(world: World) -> None:
    with world.census.follow() as follower:
        node = world.node(ReportBus(world.client))
        await until_told(follower.take, "node.joined")
        node.kill()
        await until_told(follower.take, "node.lost")


async def until_told(take: Callable[..., object], kind: str) -> None:
    ends = time.monotonic() + DEADLINE_SECONDS
    while time.monotonic() < ends:
        taken = await take(1.0)  # type: ignore[misc]  # a coroutine function
        if kind in [each.kind for each in taken]:
            return
    raise AssertionError(f"nobody told {kind}")
