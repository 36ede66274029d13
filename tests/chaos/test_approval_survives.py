"""An approval outlives every process, Redis's data too; what was approved runs once."""

import pytest

from tests.fakes.cluster_client import until
from tests.fakes.cluster_fixtures import ClusterMaker
from tests.fakes.cluster_judging import faults, of_kind

COMMAND = "echo once >> out.txt"


@pytest.mark.req("B-1")
@pytest.mark.fault("F1")
@pytest.mark.fault("F54")
@pytest.mark.parametrize(("brand", "redis"), [("sqlite", "lost"), ("postgresql", "kept")])
async def test_an_approval_survives_the_death_of_every_process(
    new_cluster: ClusterMaker, request: pytest.FixtureRequest, brand: str, redis: str
) -> None:
    cluster = new_cluster(
        request.getfixturevalue("migrated_postgres_url") if brand != "sqlite" else ""
    )
    async with cluster.client() as person:
        workstream = await person.create(f"run: {COMMAND}")
        before = await person.wait_for_state(workstream, "waiting")
        cluster.kill_everything()
        if redis == "lost":
            cluster.forget_valkey()
        cluster.start()

        after = await person.view(workstream)
        assert after["pending_approvals"] == before["pending_approvals"]
        assert (after["state"], after["last_seq"]) == ("waiting", before["last_seq"])
        assert cluster.lines("out.txt") == []

        assert (await person.resolve(workstream, "allow")).status_code == 200
        await person.wait_for_state(workstream, "idle")
        events = await person.events(workstream)
    assert cluster.lines("out.txt") == ["once"]
    assert faults(events) == {}
    assert [event["outcome"] for event in of_kind(events, "call.finished")] == ["ok"]
    assert len(of_kind(events, "call.started")) == 1


@pytest.mark.fault("F23")
async def test_an_approval_whose_node_was_killed_is_carried_out_by_another(
    new_cluster: ClusterMaker,
) -> None:
    # No lease runs out while the test waits: the answer alone must bring the turn to another.
    cluster = new_cluster(settings={"REDSHANK_NODE__LEASE_SECONDS": "600"})
    async with cluster.client() as person:
        workstream = await person.create(f"run: {COMMAND}")
        await person.wait_for_state(workstream, "waiting")
        (turn,) = of_kind(await person.events(workstream), "turn.started")
        cluster.node(turn["node"]).kill()
        assert (await person.view(workstream))["state"] == "waiting"

        assert (await person.resolve(workstream, "allow")).status_code == 200
        await person.wait_for_state(workstream, "idle")
        events = await person.events(workstream)
    (started,) = of_kind(events, "call.started")
    assert started["node"] != turn["node"]
    assert cluster.lines("out.txt") == ["once"]
    assert faults(events) == {}


@pytest.mark.req("O-21")
@pytest.mark.fault("F24")
async def test_an_approved_call_whose_node_is_killed_while_it_runs_is_never_run_again(
    new_cluster: ClusterMaker,
) -> None:
    cluster = new_cluster(settings={"REDSHANK_NODE__LEASE_SECONDS": "5"})
    async with cluster.client() as person:
        workstream = await person.create("run: echo begun >> out.txt; sleep 300; echo ended")
        await person.wait_for_state(workstream, "waiting")
        await person.resolve(workstream, "allow")

        async def begun() -> bool | None:
            return cluster.lines("out.txt") == ["begun"] or None

        await until(begun, "the command has begun")
        (started,) = of_kind(await person.events(workstream), "call.started")
        cluster.node(started["node"]).kill()
        await person.wait_for_state(workstream, "idle")
        events = await person.events(workstream)
    (interrupted,) = of_kind(events, "call.interrupted")
    assert interrupted["node"] == started["node"]
    assert "not run again" in interrupted["output"]
    assert cluster.lines("out.txt") == ["begun"]
    assert faults(events) == {}
    assert "Outcome unknown" in of_kind(events, "message.assistant")[-1]["text"]
