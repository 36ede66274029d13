"""A console's /metrics over HTTP."""

import asyncio
import contextlib
import re
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import msgspec
import pytest

from redshank_console.bootstrap import Console
from redshank_console.services.cluster_reading import ClusterReading
from redshank_shared import clock
from redshank_shared.domain.errors import Unavailable
from redshank_shared.settings.sections import Settings
from redshank_shared.stores.backlog import Backlog, Waiting
from redshank_shared.stores.database import Database
from redshank_shared.stores.services import ServiceRow, Services
from redshank_shared.wire.version import VERSION
from tests.fakes.valkey import Valkey
from tests.integration.console_world import (
    DEADLINE_SECONDS,
    NO_PAGE,
    NodeSide,
    RunningConsole,
    now,
    running,
    settings_for,
)
from tests.integration.metrics_reading import documented, exported, families, value

pytest_plugins = ("tests.integration.console_fixtures",)

TOKEN = "scrape-token-of-the-tests"


def node_row(name: str, slots: int, *, draining: bool = False) -> ServiceRow:
    """What a node says of itself."""
    figures = {"node": name, "slots": slots, "busy": 0, "draining": draining}
    report = msgspec.json.encode(figures).decode()
    return ServiceRow(f"{name}.1", "node", "http://127.0.0.1:8081", VERSION, now(), report)


@contextlib.asynccontextmanager
async def reporting(console: RunningConsole, *rows: ServiceRow) -> AsyncIterator[None]:
    """Nodes that go on reporting themselves: silent ones are lost after some seconds."""
    services = Services(console.database)

    async def report() -> None:
        while True:
            for row in rows:
                services.register(row)
            await asyncio.sleep(0.5)

    async with asyncio.TaskGroup() as group:
        reports = group.create_task(report())
        yield
        reports.cancel()


async def scrape_until(console: RunningConsole, **wanted: float) -> httpx.Response:
    """The first scrape whose samples have these values; the console may keep the last for 2 s."""
    async with asyncio.timeout(DEADLINE_SECONDS):
        while True:
            answer = await console.client.get("/metrics")
            if all(value(answer, f"redshank_{name}") == each for name, each in wanted.items()):
                return answer
            await asyncio.sleep(0.1)


@pytest.mark.req("B-30")
async def test_the_document_lists_what_a_console_exports_and_nothing_else(
    console: RunningConsole,
) -> None:
    await console.client.get("/health")
    found = exported(await console.client.get("/metrics"))
    shared = documented("node").keys() - documented("console").keys()
    assert {name: found[name] for name in found if name not in shared} == documented("console")


@pytest.mark.fault("F32")
async def test_demand_is_what_waits_and_runs_over_the_slots_of_nodes_that_are_up(
    both: RunningConsole,
) -> None:
    for number in range(4):
        ws = await both.create(message="go")
        if number < 1:
            NodeSide(both, ws).claim()
    async with reporting(
        both,
        node_row("marsh-1", 3),
        node_row("marsh-2", 1),
        node_row("marsh-3", 64, draining=True),
    ):
        answer = await scrape_until(both, cluster_slots=4, cluster_waiting=3)
    assert value(answer, "redshank_cluster_running") == 1
    assert value(answer, "redshank_cluster_demand_ratio") == 1.0
    assert value(answer, "redshank_queue_depth") == 4
    assert value(answer, "redshank_queue_oldest_seconds") >= 0
    assert value(answer, "redshank_nodes", state="up") == 2
    assert value(answer, "redshank_nodes", state="draining") == 1
    assert value(answer, "redshank_due_overdue") == 0


async def test_without_a_slot_demand_is_a_number_to_start_from(console: RunningConsole) -> None:
    for _ in range(2):
        await console.create(message="go")
    answer = await scrape_until(console, cluster_waiting=2)
    assert value(answer, "redshank_cluster_slots") == 0
    assert value(answer, "redshank_cluster_demand_ratio") == 2.0
    assert value(answer, "redshank_cluster_waiting_oldest_seconds") > 0


async def test_approvals_that_wait_are_counted_with_the_age_of_the_first(
    both: RunningConsole,
) -> None:
    node = NodeSide(both, await both.create(message="go"))
    await node.ask_to_run("true", "false")
    first = await scrape_until(both, approvals_waiting=2)
    assert value(first, "redshank_needs_you") == 1
    age = value(first, "redshank_approvals_oldest_seconds")
    assert 0 <= age < DEADLINE_SECONDS
    async with asyncio.timeout(DEADLINE_SECONDS):
        while value(first, "redshank_approvals_oldest_seconds") <= age:
            first = await both.client.get("/metrics")
            await asyncio.sleep(0.1)


class CountedBacklog(Backlog):
    """Counts how often the database is asked; can be cut off from it."""

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self.asked = 0
        self.is_away = False

    def waiting(self) -> Waiting:
        self.asked += 1
        if self.is_away:
            raise Unavailable("the database does not answer")
        return super().waiting()


@pytest.mark.fault("F32")
async def test_however_many_scrape_the_database_is_read_once_in_two_seconds(
    console_settings: Settings,
) -> None:
    console = Console(console_settings, NO_PAGE)
    database = Database(console_settings.database.url)
    backlog = CountedBacklog(database)
    seconds = 100.0
    reading = ClusterReading(
        database, backlog, console.parts.overview, lambda: seconds, clock.now_utc
    )
    try:
        await asyncio.gather(*(reading.latest() for _ in range(50)))
        seconds = 101.9
        assert (await reading.latest()) is not None
        assert backlog.asked == 1
        seconds = 102.0
        backlog.is_away = True
        assert (await reading.latest()) is None
        backlog.is_away = False
        seconds = 103.9
        assert (await reading.latest()) is None
        assert backlog.asked == 2
        seconds = 104.0
        assert (await reading.latest()) is not None
    finally:
        await console.close()
        database.close()


@pytest.mark.fault("F32")
async def test_no_request_however_odd_adds_series(console: RunningConsole) -> None:
    ws = await console.create(message="hi")
    for path in (f"/v1/workstreams/{ws}", "/v1/none", "/metrics"):
        for method in ("GET", "ODD", "WEIRD-ONE"):
            await console.client.request(method, path, headers={"Host": "x" if path else ""})
            await console.client.request(method, path)
    answer = await console.client.get("/metrics")
    labels = [sample.labels for sample in families(answer)["redshank_requests"].samples]
    assert {each["method"] for each in labels} <= {"GET", "POST", "other"}
    assert all(re.fullmatch("[1-5]xx", each["status"]) for each in labels)
    assert ws not in answer.text


@pytest.mark.fault("F32")
async def test_the_scrapers_token_opens_the_metrics_and_nothing_else(
    tmp_path: Path, sqlite_url: str, valkey: Valkey
) -> None:
    file = tmp_path / "metrics.token"
    file.write_text(f"{TOKEN}\n")
    settings = settings_for(tmp_path, sqlite_url, valkey.url, METRICS__TOKEN_FILE=str(file))
    async with running(settings) as console:
        async with console.new_client({"Authorization": f"Bearer {TOKEN}"}) as scraper:
            assert families(await scraper.get("/metrics"))
            for path in ("/v1/me", "/v1/workstreams", "/v1/cluster/overview"):
                assert (await scraper.get(path)).status_code == 401
            assert (await scraper.post("/metrics")).status_code == 401
        async with console.new_client({"Authorization": "Bearer not-the-token"}) as stranger:
            assert (await stranger.get("/metrics")).status_code == 401
        assert families(await console.client.get("/metrics")), "an admin may read them too"


@pytest.mark.fault("F32")
async def test_without_redis_the_queue_is_left_out_and_the_rest_is_shown(
    tmp_path: Path, sqlite_url: str, own_valkey: Valkey
) -> None:
    async with running(settings_for(tmp_path, sqlite_url, own_valkey.url)) as console:
        await console.create(message="go")
        own_valkey.kill()
        async with asyncio.timeout(DEADLINE_SECONDS):
            while "redshank_queue_depth" in families(await console.client.get("/metrics")):
                await asyncio.sleep(0.1)
        answer = await scrape_until(console, cluster_waiting=1)
        assert value(answer, "redshank_cluster_demand_ratio") == 1.0
