"""Two hundred wakes over half a minute while nodes and the clock's leader die: each fires once."""

import asyncio
import random
import sys
from datetime import UTC, datetime
from typing import Any

import pytest

from redshank_shared import clock
from tests.fakes.cluster import Cluster
from tests.fakes.cluster_client import ClusterClient, until
from tests.fakes.cluster_fixtures import ClusterMaker
from tests.fakes.cluster_judging import faults, of_kind

# How many wakes, over how many seconds.
RUNS = {"sqlite": (200, 30.0), "postgresql": (100, 15.0)}
WORKSTREAMS = 20


@pytest.mark.req("B-10")
@pytest.mark.fault("F41")
@pytest.mark.fault("F30")
@pytest.mark.timeout(240)
@pytest.mark.parametrize("brand", RUNS)
async def test_each_wake_fires_once_while_nodes_are_killed(
    new_cluster: ClusterMaker, request: pytest.FixtureRequest, brand: str
) -> None:
    url = request.getfixturevalue("migrated_postgres_url") if brand == "postgresql" else ""
    cluster = new_cluster(url, nodes=3)
    chance = random.Random(7)
    wakes, seconds = RUNS[brand]
    async with cluster.client() as person:
        streams = [await person.create("hello") for _ in range(WORKSTREAMS)]
        begin = clock.now_utc().timestamp() + 8.0
        due = {f"wake {n}": begin + n * seconds / wakes for n in range(wakes)}
        for number, (name, at) in enumerate(due.items()):
            await _wake(person, streams[number % WORKSTREAMS], name, at)
        await _kill_until(cluster, chance, begin + seconds)
        fired: dict[str, list[float]] = {}

        async def all_fired() -> bool | None:
            fired.clear()
            for stream in streams:
                for event in of_kind(await person.events(stream), "message.user"):
                    if event["source"] == "wake":
                        fired.setdefault(event["text"], []).append(_seconds(event["at"]))
            return len(fired) == wakes or None

        await until(all_fired, "every wake has fired", seconds=60.0)
        for stream in streams:
            await person.wait_for_state(stream, "idle")
            assert faults(await person.events(stream)) == {}
    assert {name: len(times) for name, times in fired.items() if len(times) != 1} == {}
    late = sorted(times[0] - due[name] for name, times in fired.items())
    assert late[0] > -0.05
    sys.stdout.write(
        f"\n{brand}: lateness of {wakes} wakes while nodes die: "
        f"p50 {late[wakes // 2] * 1000:.0f} ms, p99 {late[wakes * 99 // 100] * 1000:.0f} ms\n"
    )


async def _wake(person: ClusterClient, workstream: str, name: str, at: float) -> None:
    body: dict[str, Any] = {
        "workstream": workstream,
        "name": name,
        "message": name,
        "once": {"at": datetime.fromtimestamp(at, UTC).isoformat()},
    }
    answer = await person.post("/v1/schedules", body)
    assert answer.status_code == 201, answer.text


async def _kill_until(cluster: Cluster, chance: random.Random, end: float) -> None:
    """A node in turn dies every three seconds or so; another stands up in its place."""
    while (left := end - clock.now_utc().timestamp()) > 0:
        await asyncio.sleep(min(left, chance.uniform(2.0, 4.0)))
        node = chance.choice(cluster.nodes)
        node.kill()
        node.start()


def _seconds(at: str) -> float:
    return datetime.fromisoformat(at).timestamp()
