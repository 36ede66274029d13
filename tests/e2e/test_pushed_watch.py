"""A watch that is pushed, in a cluster whose nodes come and go."""

import asyncio
import time
from typing import Any

import httpx
import pytest

from tests.bench.figures import figure
from tests.fakes.cluster_client import ClusterClient, until
from tests.fakes.cluster_fixtures import ClusterMaker
from tests.fakes.cluster_judging import faults, of_kind


async def hooked(person: ClusterClient, workstream: str, stop_on: str) -> tuple[str, str]:
    """A watch that polls once an hour, with its address."""
    watch = {"command": "echo polled", "poll_every": 3600, "stop_on": stop_on}
    body: dict[str, Any] = {"workstream": workstream, "name": "tide", "watch": watch}
    answer = await person.post("/v1/schedules", body)
    assert answer.status_code == 201, answer.text
    schedule = str(answer.json()["id"])
    answer = await person.post(f"/v1/schedules/{schedule}/hook")
    assert answer.status_code == 201, answer.text
    return schedule, str(answer.json()["address"])


async def told(person: ClusterClient, workstream: str) -> list[str]:
    events = of_kind(await person.events(workstream), "message.user")
    return [event["text"] for event in events if event["source"] == "watch"]


@pytest.mark.req("B-10", "T-50")
@pytest.mark.timeout(120)
async def test_a_push_reaches_the_model_at_once_and_ends_the_watch(
    new_cluster: ClusterMaker,
) -> None:
    cluster = new_cluster(nodes=2)
    (cluster.workspace / "tide.txt").write_text("high water at nine\n")
    async with cluster.client() as person, httpx.AsyncClient(verify=False) as outside:
        workstream = await person.create("hello")
        await person.wait_for_state(workstream, "idle")
        schedule, address = await hooked(person, workstream, '"read" in output')
        assert (await outside.post(address, content="nothing yet")).status_code == 202
        began = time.monotonic()
        assert (await outside.post(address, content="read: tide.txt\n")).status_code == 202

        async def fired() -> list[str] | None:
            return await told(person, workstream) or None

        (text,) = await until(fired, "the pushed watch has fired", seconds=45.0)
        figure("a push is told to the model", time.monotonic() - began, 5, "s")
        assert "tide fired" in text
        await person.wait_for_state(workstream, "idle")
        events = await person.events(workstream)
        assert any("high water" in end["output"] for end in of_kind(events, "call.finished"))
        assert faults(events) == {}
        view = (await person.get(f"/v1/schedules/{schedule}")).json()
        assert (view["state"], view["runs"]) == ("completed", 2)
        assert (await outside.post(address, content="again")).status_code == 404


@pytest.mark.req("B-10")
@pytest.mark.fault("F29", "F54")
@pytest.mark.timeout(120)
async def test_a_push_that_was_answered_is_judged_though_every_process_died_behind_it(
    new_cluster: ClusterMaker,
) -> None:
    cluster = new_cluster(nodes=2)
    async with cluster.client() as person, httpx.AsyncClient(verify=False) as outside:
        workstream = await person.create("hello")
        await person.wait_for_state(workstream, "idle")
        for node in cluster.nodes:
            node.kill()
        schedule, address = await hooked(person, workstream, "True")
        pushed = [outside.post(address, content=f"push {number}") for number in range(3)]
        answers = await asyncio.gather(*pushed)
        assert [answer.status_code for answer in answers] == [202, 202, 202]
        cluster.kill_everything()
        cluster.forget_valkey()
        cluster.start()

        async def fired() -> list[str] | None:
            return await told(person, workstream) or None

        await until(fired, "the push that was kept has fired", seconds=45.0)
        await person.wait_for_state(workstream, "idle")

        async def over() -> bool | None:
            view = (await person.get(f"/v1/schedules/{schedule}")).json()
            states = sorted(run["state"] for run in view["last_runs"])
            return view["state"] == "completed" and states == ["done", "skipped", "skipped"] or None

        await until(over, "each push has its run, one of them spoke", seconds=45.0)
        assert len(await told(person, workstream)) == 1
