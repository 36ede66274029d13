"""A watch's whole story: a file changes, the model reacts, nodes come and go, all starts anew."""

import asyncio
import re
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.cluster_client import ClusterClient, until
from tests.fakes.cluster_fixtures import ClusterMaker
from tests.fakes.cluster_judging import faults, of_kind

EVERY_SECONDS = 10


async def made(person: ClusterClient, workstream: str, stop_on: str) -> str:
    body = {
        "workstream": workstream,
        "name": "tide",
        "watch": {"command": "cat gauge.txt", "poll_every": EVERY_SECONDS, "stop_on": stop_on},
    }
    answer = await person.post("/v1/schedules", body)
    assert answer.status_code == 201, answer.text
    return str(answer.json()["id"])


async def runs(person: ClusterClient, schedule: str, state: str = "done") -> list[dict[str, Any]]:
    """The runs in this state, oldest first."""
    answer = await person.get(f"/v1/schedules/{schedule}")
    assert answer.status_code == 200, answer.text
    return [run for run in reversed(answer.json()["last_runs"]) if run["state"] == state]


async def polled(person: ClusterClient, schedule: str, times: int) -> list[dict[str, Any]]:
    async def enough() -> list[dict[str, Any]] | None:
        found = await runs(person, schedule)
        return found if len(found) >= times else None

    return await until(enough, f"{times} polls have ended", seconds=60.0)


def told(events: list[dict[str, Any]]) -> list[str]:
    return [
        event["text"] for event in of_kind(events, "message.user") if event["source"] == "watch"
    ]


@pytest.mark.req("T-50", "T-52", "T-53")
@pytest.mark.fault("F29")
@pytest.mark.timeout(180)
async def test_a_watch_goes_on_on_another_node_then_fires_and_the_model_reacts(
    new_cluster: ClusterMaker,
) -> None:
    cluster = new_cluster(nodes=2)
    gauge = Path(cluster.workspace) / "gauge.txt"
    gauge.write_text("low\n")
    (cluster.workspace / "tide.txt").write_text("high water at nine\n")
    async with cluster.client() as person:
        workstream = await person.create("hello")
        schedule = await made(person, workstream, '"read" in output')
        (first, *_) = await polled(person, schedule, 1)
        cluster.node(first["node"]).kill()
        second = (await polled(person, schedule, 2))[1]
        assert second["node"] != first["node"]

        gauge.write_text("read: tide.txt\n")

        async def fired() -> list[str] | None:
            return told(await person.events(workstream)) or None

        (text,) = await until(fired, "the watch has fired", seconds=40.0)
        assert re.search(r"tide.*fired", text)
        await person.wait_for_state(workstream, "idle")
        events = await person.events(workstream)
        results = [event["output"] for event in of_kind(events, "call.finished")]
        assert any("high water at nine" in output for output in results)
        assert faults(events) == {}
        assert (await person.get(f"/v1/schedules/{schedule}")).json()["state"] == "completed"


@pytest.mark.req("T-53")
@pytest.mark.timeout(180)
async def test_an_overdue_watch_fires_once_after_everything_was_started_anew(
    new_cluster: ClusterMaker,
) -> None:
    cluster = new_cluster(nodes=2)
    gauge = Path(cluster.workspace) / "gauge.txt"
    gauge.write_text("low\n")
    async with cluster.client() as person:
        workstream = await person.create("hello")
        schedule = await made(person, workstream, '"high" in output')
        await polled(person, schedule, 1)
        cluster.kill_everything()
        gauge.write_text("high\n")
        # Nobody lives for two due times: the story's own time, nothing that is waited for.
        await asyncio.sleep(EVERY_SECONDS * 2.5)
        cluster.start()

        async def fired() -> list[str] | None:
            return told(await person.events(workstream)) or None

        await until(fired, "the overdue watch has fired", seconds=30.0)
        await person.wait_for_state(workstream, "idle")
        assert len(told(await person.events(workstream))) == 1
        assert (await person.get(f"/v1/schedules/{schedule}")).json()["state"] == "completed"
        assert len(await runs(person, schedule)) == 2
