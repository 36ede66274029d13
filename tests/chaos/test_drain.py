"""A node that is told to stop hands over in time; one that is killed is not asked any more."""

import pytest

from tests.bench.figures import figure
from tests.fakes.cluster_client import until
from tests.fakes.cluster_fixtures import ClusterMaker
from tests.fakes.cluster_judging import faults, of_kind

EXIT_SECONDS = 10.0
# So long that what goes on was handed over: nobody waits for it to run out.
LEASE = {"REDSHANK_NODE__LEASE_SECONDS": "600"}
STEPS = 12


@pytest.mark.fault("F27")
async def test_a_node_that_is_told_to_stop_under_load_loses_nothing(
    new_cluster: ClusterMaker, each_database: str
) -> None:
    cluster = new_cluster(each_database)
    async with cluster.client() as person:
        workstreams = [
            await person.create(short_steps(number), mode="bypassPermissions")
            for number in range(10)
        ]
        for workstream in workstreams:
            await person.wait_for_event(workstream, "call.finished")
        code, seconds = cluster.nodes[0].stop()
        assert code == 0
        figure("a node ends in order", seconds, EXIT_SECONDS, "s")
        logs = {}
        for workstream in workstreams:
            await person.wait_for_state(workstream, "idle")
            logs[workstream] = await person.events(workstream)
    nodes = set()
    for events in logs.values():
        assert faults(events) == {}
        outcomes = [event["outcome"] for event in of_kind(events, "call.finished")]
        assert outcomes == ["ok"] * STEPS
        nodes |= {event["node"] for event in of_kind(events, "turn.started")}
    assert nodes == {"node-1", "node-2"}
    wanted = {f"{number}-{step}" for number in range(10) for step in range(STEPS)}
    assert sorted(cluster.lines("out.txt")) == sorted(wanted)


@pytest.mark.fault("F27")
async def test_a_call_that_outlasts_the_grace_is_cut_off_recorded_and_not_repeated(
    new_cluster: ClusterMaker,
) -> None:
    cluster = new_cluster(settings=LEASE)
    async with cluster.client() as person:
        workstream = await person.create(
            "run: echo begun >> out.txt; sleep 300; echo ended >> out.txt\n"
            "then\nrun: echo next >> out.txt",
            mode="bypassPermissions",
        )
        started = await person.wait_for_event(workstream, "call.started")

        async def begun() -> bool | None:
            return cluster.lines("out.txt") == ["begun"] or None

        await until(begun, "the command has begun")
        code, seconds = cluster.node(started["node"]).stop()
        assert code == 0
        figure("a node ends in order", seconds, EXIT_SECONDS, "s")
        assert cluster.tool_processes() == []
        await person.wait_for_state(workstream, "idle")
        events = await person.events(workstream)
    assert faults(events) == {}
    cut_off, after = of_kind(events, "call.finished")
    assert cut_off["outcome"] == "cancelled"
    assert "shutting down" in cut_off["output"]
    assert after["outcome"] == "ok"
    assert cluster.lines("out.txt") == ["begun", "next"]


@pytest.mark.fault("F28")
async def test_with_one_of_two_nodes_killed_no_create_or_send_fails(
    new_cluster: ClusterMaker,
) -> None:
    cluster = new_cluster()
    async with cluster.client() as person:
        cluster.nodes[0].kill()
        workstreams = [await person.create(mode="bypassPermissions") for _ in range(20)]
        for workstream in workstreams:
            await person.send(workstream, "run: echo done")
        for workstream in workstreams:
            await person.wait_for_state(workstream, "idle")
            assert faults(await person.events(workstream)) == {}


def short_steps(number: int) -> str:
    """Steps well within the grace; each appends a line of its own."""
    steps = [f"run: sleep 0.3; echo {number}-{step} >> out.txt" for step in range(STEPS)]
    return "\nthen\n".join(steps)
