"""What a node's tools started dies with the node, however it went."""

import pytest

from redshank_shared.clock import monotonic
from tests.bench.figures import figure
from tests.fakes.cluster_client import until
from tests.fakes.cluster_fixtures import ClusterMaker

GONE_WITHIN_SECONDS = 2.0
# In the background, in a session of its own, as an orphan of a double fork, deaf to hang-ups.
BRANCHES = (
    "sleep 300 & setsid sleep 300 & (setsid sh -c 'sleep 300 & sleep 300' &) ; "
    "nohup sleep 300 > /dev/null & echo begun > begun.txt; sleep 300"
)


@pytest.mark.fault("F11")
@pytest.mark.fault("F24")
async def test_every_child_of_a_killed_node_is_gone_within_two_seconds(
    new_cluster: ClusterMaker,
) -> None:
    cluster = new_cluster(nodes=1)
    async with cluster.client() as person:
        for _ in range(3):
            await person.create(f"run: {BRANCHES}", mode="bypassPermissions")

        async def all_run() -> bool | None:
            return len(cluster.tool_processes()) >= 3 * 8 or None

        await until(all_run, "every branch runs")
        killed_at = monotonic()
        cluster.nodes[0].kill()

        async def all_gone() -> bool | None:
            return None if cluster.tool_processes() else True

        await until(all_gone, "every process of a tool is gone")
        figure("children gone", monotonic() - killed_at, GONE_WITHIN_SECONDS, "s")
