"""Web tools in a real cluster: what the operator sets about the web holds in its nodes."""

import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from aiohttp import web

from tests.fakes.cluster_client import ClusterClient
from tests.fakes.cluster_fixtures import ClusterMaker
from tests.fakes.cluster_judging import faults, of_kind
from tests.fakes.search_server import SearchServer, result


class Inside:
    """A page on this machine that counts who came."""

    def __init__(self) -> None:
        self.requests = 0
        self.url = ""

    async def handle(self, _: web.BaseRequest) -> web.StreamResponse:
        self.requests += 1
        return web.Response(text="<p>The tide is in at six.</p>", content_type="text/html")


@asynccontextmanager
async def inside() -> AsyncGenerator[Inside]:
    page = Inside()
    runner = web.ServerRunner(web.Server(page.handle))
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        page.url = f"http://127.0.0.1:{runner.addresses[0][1]}/"
        yield page
    finally:
        await runner.cleanup()


def call(tool: str, **arguments: Any) -> str:
    """What the demo model takes as a call."""
    return f"call: {tool} {json.dumps(arguments)}"


async def output(person: ClusterClient, workstream: str) -> str:
    """What the workstream's one call gave."""
    await person.wait_for_state(workstream, "idle")
    events = await person.events(workstream)
    assert faults(events) == {}
    (finished,) = of_kind(events, "call.finished")
    return str(finished["output"])


@pytest.mark.req("T-30", "K-13")
@pytest.mark.fault("F63")
@pytest.mark.timeout(120)
async def test_a_private_page_is_refused_unless_it_is_let_in_and_then_somebody_is_asked(
    new_cluster: ClusterMaker,
) -> None:
    async with inside() as page:
        async with new_cluster(nodes=1).client() as person:
            refused = await person.create(call("web_fetch", url=page.url), mode="bypassPermissions")
            said = await output(person, refused)
        assert "url is refused: 127.0.0.1 lies in a private network" in said
        assert page.requests == 0

        settings = {"REDSHANK_TOOLS__ALLOW_PRIVATE_NETWORK": "true"}
        opened = new_cluster(nodes=1, settings=settings)
        async with opened.client() as person:
            workstream = await person.create(call("web_fetch", url=page.url))
            view = await person.wait_for_state(workstream, "waiting")
            (waiting,) = view["pending_approvals"]
            assert "PRIVATE NETWORK (127.0.0.1)" in json.dumps(waiting)
            assert page.requests == 0
            answer = await person.answer(workstream, waiting["request_id"], "allow")
            assert answer.status_code < 300, answer.text
            said = await output(person, workstream)
        assert "The tide is in at six." in said
        assert page.requests == 1


@pytest.mark.req("T-31", "T-32")
@pytest.mark.timeout(120)
async def test_a_search_goes_by_the_searxng_and_the_reranker_that_are_set(
    new_cluster: ClusterMaker,
) -> None:
    found = [result("Tides", "https://a.example/"), result("Redshank", "https://b.example/")]
    async with SearchServer(found).serving() as server:
        settings = {
            "REDSHANK_TOOLS__SEARXNG_URL": server.url,
            "REDSHANK_RERANK__URL": f"{server.url}/rerank",
            "REDSHANK_RERANK__API_KEY_SLOT": "rerank.main",
            "REDSHANK_SLOT__RERANK_MAIN": "k-canary-42",
        }
        async with new_cluster(nodes=1, settings=settings).client() as person:
            workstream = await person.create(call("web_search", query="redshank"))
            said = await output(person, workstream)

    assert "1. Redshank\n   https://b.example/" in said
    assert server.keys == ["Bearer k-canary-42"]
