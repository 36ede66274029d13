"""PostgreSQL goes away during turns: they go on when it is back."""

import asyncio
from collections import Counter
from contextlib import aclosing

import pytest

from tests.fakes.cluster_client import ClusterClient, Frame
from tests.fakes.cluster_fixtures import ClusterMaker
from tests.fakes.cluster_judging import faults, of_kind
from tests.store_fixtures import PostgresTemplate, running_postgres

WORKSTREAMS = 6
STEPS = 4
AWAY_SECONDS = 3.0
FINAL = ("turn.failed", "error")


@pytest.mark.fault("F56")
@pytest.mark.parametrize("how", ["stopped", "crashed"])
async def test_postgres_restarted(new_cluster: ClusterMaker, how: str) -> None:
    with running_postgres(durable=True) as postgres:
        cluster = new_cluster(postgres.url(PostgresTemplate(postgres).migrated()))
        async with cluster.client() as person:
            workstreams = [
                await person.create(work(number), mode="bypassPermissions")
                for number in range(WORKSTREAMS)
            ]
            async with asyncio.TaskGroup() as group:
                watching = [
                    group.create_task(watched(person, workstream)) for workstream in workstreams
                ]
                for workstream in workstreams:
                    await person.wait_for_event(workstream, "call.started")
                if how == "stopped":
                    postgres.stop()
                else:
                    postgres.kill()
                await asyncio.sleep(AWAY_SECONDS)
                postgres.start()
            logs = {each: await person.events(each) for each in workstreams}
        seen = dict(zip(workstreams, [task.result() for task in watching], strict=True))
        for process in cluster.processes:
            process.end()
    for workstream, events in logs.items():
        assert faults(events) == {}
        assert events[-1]["kind"] == "state"
        assert events[-1]["state"] == "idle"
        outcomes = [event["outcome"] for event in of_kind(events, "call.finished")]
        assert outcomes == ["ok"] * STEPS
        assert [frame.data for frame in seen[workstream] if frame.seq] == events
        assert [frame.kind for frame in seen[workstream] if frame.kind in FINAL] == []
    wanted = [f"{number}-{step}" for number in range(WORKSTREAMS) for step in range(STEPS)]
    assert Counter(cluster.lines("out.txt")) == Counter(wanted)


def work(number: int) -> str:
    """Steps that take several seconds together; each appends a line of its own."""
    steps = [f"run: sleep 1; echo {number}-{step} >> out.txt" for step in range(STEPS)]
    return "\nthen\n".join(steps)


async def watched(person: ClusterClient, workstream: str) -> list[Frame]:
    """All that a watcher saw who comes back whenever the stream ends, until the turn's end."""
    seen: list[Frame] = []
    async with asyncio.timeout(60.0), aclosing(person.follow(workstream)) as frames:
        async for frame in frames:
            seen.append(frame)
            if frame.kind == "state" and frame.data["state"] != "running":
                return seen
    return seen
