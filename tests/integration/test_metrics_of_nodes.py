"""A node's /metrics over HTTP."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx
import pytest
import uvicorn

from redshank_node.api.health import node_api
from redshank_shared.metrics import Metrics
from redshank_shared.stores.database import Database
from tests.fakes.ports import free_port
from tests.fakes.valkey import Valkey
from tests.integration.console_world import DEADLINE_SECONDS
from tests.integration.engine_world import Probe, World, says
from tests.integration.metrics_reading import documented, exported, families, value

MANY = 10_000
TOKEN = "scrape-token-of-the-tests"


@asynccontextmanager
async def serving(metrics: Metrics, token: str = "") -> AsyncIterator[httpx.AsyncClient]:
    """A node's doors on a port of their own."""

    async def health() -> dict[str, object]:
        return {"status": "ok"}

    port = free_port()
    app = node_api(health, metrics, token)
    server = uvicorn.Server(uvicorn.Config(app, port=port, log_config=None, lifespan="off"))
    async with asyncio.TaskGroup() as group, httpx.AsyncClient(verify=False) as client:
        group.create_task(server.serve())
        client.base_url = httpx.URL(f"http://127.0.0.1:{port}")
        async with asyncio.timeout(DEADLINE_SECONDS):
            while not server.started:
                await asyncio.sleep(0.01)
        yield client
        server.should_exit = True


def everything(metrics: Metrics, tool: str, model: str, server: str) -> None:
    metrics.turn_started()
    metrics.turn_ended("idle")
    metrics.lease_lost()
    metrics.model_answered(model, 0.4)
    metrics.model_failed(model)
    metrics.tokens_used(model, 10, 5, 2)
    metrics.call_finished(tool, "ok", 0.1)
    metrics.mcp_called(server, "ok", 0.1)
    metrics.due_fired(0.01)
    metrics.poll_ended("fired")
    metrics.notification_settled("terminal", "sent")


@pytest.mark.req("B-30")
async def test_the_document_lists_what_a_node_exports_and_nothing_else() -> None:
    metrics = Metrics(tools=["bash"], models=["main"], servers=["wiki"])
    everything(metrics, "bash", "main", "wiki")
    async with serving(metrics) as node:
        found = exported(await node.get("/metrics"))
    del found["redshank_streams"]  # at rest on a node: only consoles have watchers
    assert found == documented("node")


@pytest.mark.fault("F32")
async def test_ten_thousand_hostile_names_leave_a_scrape_as_small_as_it_was() -> None:
    metrics = Metrics(tools=["bash"], models=["main"], servers=["wiki"])
    for known in ("bash", "main", "wiki"), ("x", "x", "x"):
        everything(metrics, *known)
    async with serving(metrics) as node:
        before = await node.get("/metrics")
        for number in range(MANY):
            name = f'ws_{number}"}} 1\nredshank_forged 1\n/home/ines\\'
            everything(metrics, name, name, name)
        after = await node.get("/metrics")

    def series(answer: httpx.Response) -> list[tuple[str, dict[str, str]]]:
        return [
            (sample.name, sample.labels)
            for family in families(answer).values()
            for sample in family.samples
        ]

    assert series(after) == series(before)
    assert value(after, "redshank_calls_total", tool="other", outcome="ok") == MANY + 1
    assert value(after, "redshank_tokens_total", model="other", kind="input") == 10 * (MANY + 1)


@pytest.mark.fault("F32")
async def test_a_node_with_a_token_shows_its_counters_only_to_who_carries_it() -> None:
    async with serving(Metrics(), TOKEN) as node:
        for header in (None, "Bearer wrong", TOKEN, "Bearer"):
            headers = {} if header is None else {"Authorization": header}
            refused = await node.get("/metrics", headers=headers)
            assert refused.status_code == 401
            assert refused.headers["content-type"] == "application/problem+json"
            assert refused.headers["www-authenticate"].startswith("Bearer")
            assert "metrics.token_file" in refused.json()["detail"]
            assert "redshank_turns" not in refused.text
        assert families(await node.get("/metrics", headers={"Authorization": f"Bearer {TOKEN}"}))
        assert (await node.get("/health")).status_code == 200


@pytest.mark.fault("F32")
async def test_a_turn_is_counted_with_its_answers_tokens_and_the_tools_it_ran(
    database: Database, valkey: Valkey
) -> None:
    world = World(database, valkey.url)
    hostile = [(f"ws_{number}/../x", "{}") for number in range(40)]
    asked = says("", ("look", '{"text":"a"}'), *hostile)
    probe = Probe()
    try:
        async with world.node([asked, says("done")], probe.tools()) as node:
            workstream = await world.create("go", mode="bypassPermissions")
            await node.turns.take_up(workstream)
            await world.until_rest(workstream)
            await world.until(lambda: node.turns.busy == 0, "the turn ends")
            async with serving(node.metrics) as client:
                answer = await client.get("/metrics")
    finally:
        await world.redis.aclose()
    assert value(answer, "redshank_turns_total", end="idle") == 1
    assert value(answer, "redshank_turns_running") == 0
    assert value(answer, "redshank_steps_total", model="main") == 2
    assert value(answer, "redshank_calls_total", tool="look", outcome="ok") == 1
    assert value(answer, "redshank_tokens_total", model="main", kind="input") == 22
    assert value(answer, "redshank_tokens_total", model="main", kind="output") == 14
    tools = {sample.labels["tool"] for sample in families(answer)["redshank_calls"].samples}
    assert tools <= {"look", "other"}
