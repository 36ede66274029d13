"""Nodes killed in the middle of effects: each that was begun has its record, in its place."""

import asyncio

import pytest

from redshank_shared.waiting import happened
from tests.fakes.cluster import Cluster
from tests.fakes.cluster_client import ClusterClient, until
from tests.fakes.cluster_fixtures import ClusterMaker
from tests.fakes.cluster_judging import of_kind

WORKSTREAMS = 8
# The story's own time between two deaths.
PAUSE_SECONDS = 0.5
KILLS = 6
LEASE = {"REDSHANK_NODE__LEASE_SECONDS": "3"}
MESSAGE = "run: echo a; sleep 0.3\nrun: sleep 0.2\nthen\nrun: echo b; sleep 0.4"


async def kill_nodes(cluster: Cluster, over: asyncio.Event) -> None:
    """One node after the other dies while effects are under way, each several times."""

    async def effects() -> bool | None:
        return bool(cluster.tool_processes()) or None

    for number in range(KILLS):
        node = cluster.nodes[number % len(cluster.nodes)]
        await asyncio.to_thread(node.wait_healthy)
        await asyncio.sleep(PAUSE_SECONDS)
        await until(effects, "an effect is under way")
        node.kill()
        node.start()
    over.set()
    for node in cluster.nodes:
        await asyncio.to_thread(node.wait_healthy)


async def talk(person: ClusterClient, number: int, over: asyncio.Event) -> str:
    workstream = await person.create(mode="bypassPermissions", name=f"w{number}")
    while not over.is_set():
        await person.send(workstream, MESSAGE)
        await happened(over, 3.0)
    return workstream


@pytest.mark.timeout(150)
@pytest.mark.req("B-8", "K-7")
@pytest.mark.fault("F25")
async def test_killing_nodes_leaves_no_gap_in_the_ledger(
    new_cluster: ClusterMaker, each_database: str
) -> None:
    cluster = new_cluster(each_database, nodes=2, settings=LEASE)
    async with cluster.client() as person:
        over = asyncio.Event()
        async with asyncio.TaskGroup() as group:
            group.create_task(kill_nodes(cluster, over))
            talking = [
                group.create_task(talk(person, number, over)) for number in range(WORKSTREAMS)
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
    assert lost > 0, "no node died during an effect: the test showed nothing"
