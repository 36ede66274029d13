"""Several processes begin at once on an empty database."""

import pytest

from tests.fakes.cluster_fixtures import ClusterMaker


@pytest.mark.fault("F44")
async def test_six_processes_start_together_on_an_empty_database(
    new_cluster: ClusterMaker, empty_database_url: str
) -> None:
    cluster = new_cluster(empty_database_url, nodes=3, consoles=3)
    async with cluster.client() as person:
        for _ in cluster.consoles:
            workstream = await person.create("run: echo hi", mode="bypassPermissions")
            await person.wait_for_state(workstream, "idle")
        overview = (await person.get("/v1/cluster/overview")).json()
    assert overview["nodes"]["up"] == 3
    assert overview["version_drift"] is False
