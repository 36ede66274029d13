"""Nodes killed in the middle of effects: each that was begun has its record, in its place."""

import asyncio
import time

import pytest

from tests.fakes.cluster import Cluster
from tests.fakes.cluster_client import ClusterClient
from tests.fakes.cluster_fixtures import ClusterMaker
from tests.fakes.cluster_judging import of_kind

WORKSTREAMS = 8
SECONDS = 14.0
LEASE = {"REDSHANK_NODE__LEASE_SECONDS": "3"}
MESSAGE = "run: echo a; sleep 0.3\nrun: sleep 0.2\nthen\nrun: echo b; sleep 0.4"


async def kill_nodes(cluster: Cluster, end: float) -> int:
    killed = 0
    while time.monotonic() < end:
        # The story's own time: effects are under way when the next node dies.
        await asyncio.sleep(1.3)
        node = cluster.nodes[killed % len(cluster.nodes)]
        node.kill()
        node.start()
        killed += 1
    for node in cluster.nodes:
        node.wait_healthy()
    return killed


async def talk(person: ClusterClient, number: int, end: float) -> str:
    workstream = await person.create(mode="bypassPermissions", name=f"w{number}")
    while time.monotonic() < end:
        await person.send(workstream, MESSAGE)
        await asyncio.sleep(3.0)
    return workstream


@pytest.mark.timeout(150)
@pytest.mark.req("B-8", "K-7")
@pytest.mark.fault("F25")
async def test_killing_nodes_leaves_no_gap_in_the_ledger(
    new_cluster: ClusterMaker, database_url: str
) -> None:
    cluster = new_cluster(database_url, nodes=2, settings=LEASE)
    end = time.monotonic() + SECONDS
    async with cluster.client() as person:
        async with asyncio.TaskGroup() as group:
            killing = group.create_task(kill_nodes(cluster, end))
            talking = [
                group.create_task(talk(person, number, end)) for number in range(WORKSTREAMS)
            ]
        await person.wait_until_all_rest(60.0)
        begun = lost = 0
        for told in talking:
            events = await person.events(told.result())
            begun += len(of_kind(events, "call.started"))
            lost += len(of_kind(events, "call.interrupted"))
        answer = await person.get("/v1/ledger/verify")
    assert answer.status_code == 200, answer.text
    report = answer.json()
    assert (report["findings"], report["before"]) == ([], 0)
    assert report["records"] == begun
    assert killing.result() >= 5
    assert lost > 0, "no node died during an effect: the test showed nothing"
