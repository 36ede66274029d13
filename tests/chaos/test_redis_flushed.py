"""Redis forgets everything, or is away: what is due is handed out again from the database."""

import asyncio
import time
from datetime import datetime

import pytest

from redshank_shared.queue.keys import queue_list, turns_queue
from tests.bench.figures import figure
from tests.fakes.cluster import Cluster
from tests.fakes.cluster_client import ClusterClient
from tests.fakes.cluster_fixtures import ClusterMaker
from tests.fakes.cluster_judging import faults, of_kind

DUE = 20
TAKEN_UP_WITHIN_SECONDS = 5.0
AWAY_SECONDS = 20.0


@pytest.mark.fault("F54")
async def test_redis_flushed(new_cluster: ClusterMaker) -> None:
    cluster = new_cluster()
    async with cluster.client() as person:
        for node in cluster.nodes:
            node.freeze()
        due = await many(person)
        assert queued(cluster) > 0
        with cluster.valkey.client() as client:
            client.flushall()
        assert queued(cluster) == 0
        for node in cluster.nodes:
            node.thaw()
        await all_taken_up(person, cluster, due, since=time.time())


@pytest.mark.fault("F54")
async def test_redis_flushed_while_every_slot_is_taken(new_cluster: ClusterMaker) -> None:
    cluster = new_cluster(settings={"REDSHANK_NODE__SLOTS": "2"})
    async with cluster.client() as person:
        busy = [
            await person.create("run: sleep 3; echo slept", mode="bypassPermissions")
            for _ in range(4)
        ]
        for workstream in busy:
            await person.wait_for_event(workstream, "call.started")
        due = await many(person)
        with cluster.valkey.client() as client:
            client.flushall()
        ended = [await person.wait_for_event(each, "call.finished") for each in busy]
        assert [event["output"] for event in ended] == ["slept\n"] * 4
        last = max(datetime.fromisoformat(event["at"]).timestamp() for event in ended)
        await all_taken_up(person, cluster, due, since=last)


@pytest.mark.fault("F54")
@pytest.mark.fault("F53")
async def test_work_goes_on_without_redis_and_all_is_taken_up_when_it_is_back(
    new_cluster: ClusterMaker,
) -> None:
    cluster = new_cluster()
    async with cluster.client() as person:
        running = await person.create(
            "run: sleep 2; echo one >> out.txt\nthen\nrun: sleep 1; echo two >> out.txt",
            mode="bypassPermissions",
        )
        await person.wait_for_event(running, "call.started")
        cluster.valkey.kill()
        cluster.forget_valkey()
        back_at = time.monotonic() + AWAY_SECONDS
        due = await many(person)
        await person.wait_for_state(running, "idle")
        assert cluster.lines("out.txt") == ["one", "two"]
        await asyncio.sleep(back_at - time.monotonic())
        cluster.valkey.start()
        await all_taken_up(person, cluster, due, since=time.time())


async def many(person: ClusterClient) -> list[str]:
    """Workstreams that have something to do; each was answered at once."""
    return [
        await person.create(f"run: echo {number} >> due.txt", mode="bypassPermissions")
        for number in range(DUE)
    ]


async def all_taken_up(
    person: ClusterClient, cluster: Cluster, due: list[str], since: float
) -> None:
    """Every one was taken up, asked is within 5 s, came to rest, did its work once."""
    waits = []
    for workstream in due:
        await person.wait_for_state(workstream, "idle")
        events = await person.events(workstream)
        assert faults(events) == {}
        turn = of_kind(events, "turn.started")[0]
        waits.append(datetime.fromisoformat(turn["at"]).timestamp() - since)
    figure("taken up", max(waits), TAKEN_UP_WITHIN_SECONDS, "s")
    assert sorted(cluster.lines("due.txt"), key=int) == [str(number) for number in range(DUE)]


def queued(cluster: Cluster) -> int:
    """How many nudges wait."""
    with cluster.valkey.client() as client:
        return int(client.llen(queue_list(turns_queue())))
