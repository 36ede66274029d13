"""The cluster as a console answers it over HTTP."""

import asyncio
import contextlib
import json
import time
from collections.abc import AsyncIterator
from typing import Any

import msgspec
import pytest

from redshank_console.services.cluster_views import ClusterNodeView, SnapshotView
from redshank_shared import clock
from redshank_shared.queue.reports import McpFigures, NodeReport, ReportBus, encode_report
from redshank_shared.settings.secret import Secret
from redshank_shared.settings.sections import Settings
from redshank_shared.stores.services import Services
from redshank_shared.wire.service_token import CONSOLE_AUDIENCE, GATEWAY_AUDIENCE, sign
from redshank_shared.wire.views import OverviewView
from tests.integration.console_fixtures import *  # noqa: F403 - fixtures are found by name
from tests.integration.console_world import RunningConsole, running, settings_for

AT = "2026-11-30T08:15:00.250Z"
DEADLINE_SECONDS = 30.0
SECRET = "a-service-secret-for-tests-of-some-length"
GATEWAY = {
    "service_id": "gateway-1.a",
    "kind": "gateway",
    "address": "http://127.0.0.1:8091",
    "version": "0.0.1",
    "report": {"channels": [{"name": "terminal", "state": "ready"}]},
}


async def says(world: RunningConsole, name: str, version: str = "0.1.0", **figures: Any) -> None:
    """A node's report, heard by the console."""
    report = encode_report(msgspec.structs.replace(NodeReport(node=name), **figures))
    bus = ReportBus(world.redis)
    async with asyncio.timeout(DEADLINE_SECONDS):
        while not await bus.report(f"{name}.a", "http://127.0.0.1:8081", version, AT, report):
            await asyncio.sleep(0.02)


@contextlib.asynccontextmanager
async def reporting(world: RunningConsole, *names: str, **figures: Any) -> AsyncIterator[None]:
    """Nodes that go on reporting themselves: silent ones are lost after some seconds."""

    async def report() -> None:
        while True:
            for name in names:
                await says(world, name, **figures)
            await asyncio.sleep(0.5)

    async with asyncio.TaskGroup() as group:
        reports = group.create_task(report())
        yield
        reports.cancel()


async def get(world: RunningConsole, path: str, **params: Any) -> Any:
    answer = await world.client.get(f"/v1/cluster{path}", params=params)
    assert answer.status_code == 200, answer.text
    return answer.json()


async def seen(world: RunningConsole, count: int) -> list[dict[str, Any]]:
    """All nodes, as soon as there are so many."""
    ends = time.monotonic() + DEADLINE_SECONDS
    while True:
        items = (await get(world, "/nodes"))["items"]
        if len(items) == count:
            return list(items)
        assert time.monotonic() < ends, items
        await asyncio.sleep(0.02)


async def frames(lines: AsyncIterator[str]) -> AsyncIterator[tuple[str, Any]]:
    """Kind and data of each frame of a stream."""
    kind = ""
    async for line in lines:
        name, _, value = line.partition(": ")
        if name == "event":
            kind = value
        elif name == "data":
            yield kind, json.loads(value)


async def next_of(stream: AsyncIterator[tuple[str, Any]], kind: str) -> Any:
    async with asyncio.timeout(DEADLINE_SECONDS):
        async for found, data in stream:
            if found == kind:
                return data
    raise AssertionError(f"the stream ended without {kind}")


@pytest.mark.req("B-24")
async def test_a_node_is_shown_with_its_figures(console: RunningConsole) -> None:
    mcp = McpFigures(servers=2, tools=14)
    figures = {"slots": 4, "busy": 1, "free": 3, "load": 0.5, "mcp": mcp, "tools": ("bash",)}
    async with reporting(console, "marsh-1", **figures):
        (node,) = await seen(console, 1)
    assert ClusterNodeView.model_validate(node).model_dump() == node
    assert (node["id"], node["name"], node["state"]) == ("marsh-1.a", "marsh-1", "up")
    assert node["report"]["tools"] == ["bash"]
    for named in ("marsh-1", "marsh-1.a"):
        assert (await get(console, f"/nodes/{named}"))["id"] == "marsh-1.a"


@pytest.mark.req("T-78")
async def test_the_overview_sums_what_nodes_reach_and_shows_versions_that_differ(
    console: RunningConsole,
) -> None:
    reached = McpFigures(servers=1, resources=3, prompts=2, tools=7)
    async with (
        reporting(console, "marsh-1", mcp=reached),
        reporting(console, "marsh-2", version="0.0.9", mcp=reached),
    ):
        await seen(console, 2)
        async with asyncio.timeout(DEADLINE_SECONDS):
            while (overview := await get(console, "/overview"))["nodes"]["up"] != 2:
                await asyncio.sleep(0.02)
    assert OverviewView.model_validate(overview).model_dump() == overview
    assert overview["nodes"] == {"up": 2, "lost": 0, "draining": 0, "total": 2}
    assert overview["mcp"] == {"servers": 2, "resources": 6, "prompts": 4, "tools": 14}
    assert "0.0.9" in overview["versions"]
    assert overview["version_drift"] is True


async def test_the_nodes_come_in_pages_by_name(console: RunningConsole) -> None:
    for name in ("marsh-2", "marsh-3", "marsh-1"):
        await says(console, name)
    await seen(console, 3)
    first = await get(console, "/nodes", limit=2)
    assert [node["name"] for node in first["items"]] == ["marsh-1", "marsh-2"]
    second = await get(console, "/nodes", limit=2, cursor=first["next_cursor"])
    assert [node["name"] for node in second["items"]] == ["marsh-3"]
    assert (second["next_cursor"], second["total"]) == (None, 3)


@pytest.mark.fault("F69")
@pytest.mark.parametrize(
    ("params", "field"),
    [({"limit": 0}, "limit"), ({"limit": 1001}, "limit"), ({"cursor": "?"}, "cursor")],
)
async def test_a_bad_page_is_refused_by_name(
    standing: RunningConsole, params: dict[str, Any], field: str
) -> None:
    answer = await standing.client.get("/v1/cluster/nodes", params=params)
    assert (answer.status_code, answer.json()["field"]) == (422, field)


async def test_a_node_that_is_not_there_is_not_found(console: RunningConsole) -> None:
    answer = await console.client.get("/v1/cluster/nodes/nowhere")
    assert (answer.status_code, answer.json()["code"]) == (404, "node_not_found")
    assert "GET /v1/cluster/nodes" in answer.json()["detail"]


async def test_the_stream_begins_with_a_snapshot_then_tells_what_changes(
    console: RunningConsole,
) -> None:
    async with reporting(console, "marsh-1", slots=4):
        await seen(console, 1)
        async with console.client.stream("GET", "/v1/cluster/events") as response:
            assert response.headers["content-type"].startswith("text/event-stream")
            stream = frames(response.aiter_lines())
            kind, snapshot = await anext(stream)
            assert kind == "snapshot"
            assert SnapshotView.model_validate(snapshot).model_dump() == snapshot
            assert [node["name"] for node in snapshot["nodes"]] == ["marsh-1"]
            await tell_of_another(console, stream)


async def tell_of_another(console: RunningConsole, stream: AsyncIterator[tuple[str, Any]]) -> None:
    """What a stream tells of a node that comes, works, falls silent, leaves."""
    async with reporting(console, "marsh-2"):
        assert (await next_of(stream, "node.joined"))["name"] == "marsh-2"
    async with reporting(console, "marsh-2", busy=1):
        assert (await next_of(stream, "node.changed"))["report"]["busy"] == 1
        overview = await next_of(stream, "overview")
        assert overview["nodes"]["total"] == 2
    lost = await next_of(stream, "node.lost")
    assert (lost["name"], lost["state"]) == ("marsh-2", "lost")
    await ReportBus(console.redis).depart("marsh-2.a")
    assert (await next_of(stream, "node.left"))["id"] == "marsh-2.a"


async def test_a_stream_ends_when_the_console_stops(
    console_settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    # So long would the console wait for a stream that does not end by itself.
    monkeypatch.setattr("redshank_console.bootstrap._GRACE_SECONDS", 60)
    async with (
        running(console_settings) as world,
        world.client.stream("GET", "/v1/cluster/events") as response,
    ):
        stream = frames(response.aiter_lines())
        assert (await anext(stream))[0] == "snapshot"
        await asyncio.to_thread(world.thread.end)
        assert [kind async for kind, _ in stream if kind != "overview"] == []


@pytest.fixture
async def guarded(tmp_path: Any, sqlite_url: str, valkey: Any) -> AsyncIterator[RunningConsole]:
    """A console that knows the service secret."""
    settings = settings_for(tmp_path, sqlite_url, valkey.url)
    keys = msgspec.structs.replace(settings.gateway_keys, service_secret=Secret(SECRET))
    async with running(msgspec.structs.replace(settings, gateway_keys=keys)) as world:
        yield world


def gateways(world: RunningConsole) -> list[str]:
    return [row.service_id for row in Services(world.database).all("gateway")]


def service_token(audience: str = CONSOLE_AUDIENCE) -> dict[str, str]:
    token = sign(SECRET, "gateway-1", audience, clock.now_utc())
    return {"Authorization": f"Bearer {token}"}


async def test_a_gateway_announces_itself_with_a_service_token(guarded: RunningConsole) -> None:
    async with guarded.new_client(service_token()) as gateway:
        for _ in range(2):
            answer = await gateway.post("/v1/cluster/services", json=GATEWAY)
            assert (answer.status_code, answer.content) == (204, b"")
    assert gateways(guarded) == ["gateway-1.a"]


async def test_an_admin_may_announce_a_gateway(console: RunningConsole) -> None:
    answer = await console.client.post("/v1/cluster/services", json=GATEWAY)
    assert answer.status_code == 204
    ends = time.monotonic() + DEADLINE_SECONDS
    while "0.0.1" not in (await get(console, "/overview"))["versions"]:
        assert time.monotonic() < ends
        await asyncio.sleep(0.05)


@pytest.mark.fault("F42")
@pytest.mark.fault("F71")
async def test_nobody_else_announces_a_gateway(guarded: RunningConsole) -> None:
    for headers in ({}, {"Authorization": "Bearer no-such"}, service_token(GATEWAY_AUDIENCE)):
        async with guarded.new_client(headers) as stranger:
            answer = await stranger.post("/v1/cluster/services", json=GATEWAY)
        assert answer.status_code == 401, headers
    assert gateways(guarded) == []


async def test_a_service_token_opens_no_other_door(guarded: RunningConsole) -> None:
    async with guarded.new_client(service_token()) as gateway:
        assert (await gateway.get("/v1/cluster/overview")).status_code == 401


@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        ({"service_id": "a b"}, "service_id"),
        ({"kind": "node"}, "kind"),
        ({"report": {"x": "y" * 20_000}}, "report"),
        ({"extra": 1}, "extra"),
    ],
)
async def test_a_bad_announcement_is_refused_by_name(
    standing: RunningConsole, wrong: dict[str, Any], field: str
) -> None:
    answer = await standing.client.post("/v1/cluster/services", json={**GATEWAY, **wrong})
    assert (answer.status_code, answer.json()["field"]) == (422, field)
    assert gateways(standing) == []


async def test_a_gateway_cannot_take_the_row_of_another_kind(console: RunningConsole) -> None:
    taken = Services(console.database).beats()[0].service_id
    body = {**GATEWAY, "service_id": taken}
    answer = await console.client.post("/v1/cluster/services", json=body)
    assert (answer.status_code, answer.json()["code"]) == (409, "service_id_taken")
