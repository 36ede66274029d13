"""A node that was frozen past its lease has nothing more to say when it wakes."""

import pytest

from tests.fakes.cluster_client import until
from tests.fakes.cluster_fixtures import ClusterMaker
from tests.fakes.cluster_judging import faults, of_kind

STILL_RUNS = "sleep 60; echo late >> out.txt"
HAS_ENDED = "until [ -e frozen.txt ]; do sleep 0.1; done; echo done >> out.txt"


@pytest.mark.fault("F45")
@pytest.mark.parametrize(
    ("brand", "command", "left"),
    [("sqlite", STILL_RUNS, ["next"]), ("postgresql", HAS_ENDED, ["done", "next"])],
    ids=["its call still runs", "its call ended while it was frozen"],
)
async def test_stale_node_is_fenced(
    new_cluster: ClusterMaker,
    request: pytest.FixtureRequest,
    brand: str,
    command: str,
    left: list[str],
) -> None:
    cluster = new_cluster(
        request.getfixturevalue("migrated_postgres_url") if brand != "sqlite" else "",
        settings={"REDSHANK_NODE__LEASE_SECONDS": "5"},
    )
    async with cluster.client() as person:
        workstream = await person.create(
            f"run: echo begun > begun.txt; {command}\nthen\nrun: echo next >> out.txt",
            mode="bypassPermissions",
        )

        async def begun() -> bool | None:
            return bool(cluster.lines("begun.txt")) or None

        await until(begun, "the command has begun")
        started = await person.wait_for_event(workstream, "call.started")
        stale = cluster.node(started["node"])
        stale.freeze()
        (cluster.workspace / "frozen.txt").touch()
        taken = await person.wait_for_event(
            workstream,
            "turn.started",
            lambda event: event["node"] != stale.name,
        )
        await person.wait_for_state(workstream, "idle")
        at_rest = await person.events(workstream)
        stale.thaw()

        async def dropped() -> bool | None:
            said = stale.log.read_text()
            return (f"fenced off {workstream}" in said or f"dropped {workstream}" in said) or None

        await until(dropped, "the stale node has dropped its work")

        async def nothing_runs() -> bool | None:
            return None if cluster.tool_processes() else True

        await until(nothing_runs, "the stale node's process is killed")
        stale.wait_healthy()
        events = await person.events(workstream)
        assert (await person.view(workstream))["state"] == "idle"
    assert events == at_rest
    assert taken["epoch"] > started["epoch"]
    assert faults(events) == {}
    (interrupted,) = of_kind(events, "call.interrupted")
    assert interrupted["call_id"] == started["call_id"]
    assert interrupted["node"] == stale.name
    assert cluster.lines("out.txt") == left
