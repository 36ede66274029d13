"""Several processes begin at once on an empty database."""

from typing import Any

import pytest

from tests.fakes.cluster_client import until
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

        async def all_are_seen() -> dict[str, Any] | None:
            overview: dict[str, Any] = (await person.get("/v1/cluster/overview")).json()
            return overview if overview["nodes"]["up"] == 3 else None

        for _ in cluster.consoles:
            overview = await until(all_are_seen, "a console sees all three nodes", seconds=30.0)
            assert overview["version_drift"] is False
