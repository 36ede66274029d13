"""Tools of a server wait in a real cluster; what was found stays when its node dies."""

import json
import sys
from pathlib import Path

import pytest

from tests.fakes.cluster_fixtures import ClusterMaker
from tests.fakes.cluster_judging import faults, of_kind

SHELF = Path(__file__).parents[1] / "fakes" / "mcp_shelf.py"
TAKE = 'call: mcp__shelf__take {"word": "jar"}'


def config(folder: Path) -> dict[str, str]:
    """The variables of a cluster with a server that works, one that does not start."""
    offered = folder / "shelf.txt"
    offered.write_text("take Takes what is on the shelf.\nlift Lifts a lid.\n")
    servers = {
        "shelf": {"command": sys.executable, "args": [str(SHELF), str(offered)]},
        "gone": {"command": sys.executable, "args": ["-c", "raise SystemExit(3)"]},
    }
    file = folder / "mcp.json"
    file.write_text(json.dumps({"mcpServers": servers}))
    return {"REDSHANK_MCP__CONFIG": str(file), "REDSHANK_TOOLS__SEARCH_MAX_RESULTS": "1"}


@pytest.mark.req("T-60", "T-62")
@pytest.mark.timeout(180)
async def test_a_tool_that_was_found_is_called_on_another_node_when_the_first_has_died(
    new_cluster: ClusterMaker, tmp_path: Path
) -> None:
    cluster = new_cluster(nodes=2, settings=config(tmp_path))
    async with cluster.client() as person:
        search = 'call: tool_search {"query": "what is on the shelf"}'
        workstream = await person.create(search, mode="bypassPermissions")
        await person.wait_for_state(workstream, "idle")
        events = await person.events(workstream)
        (finished,) = of_kind(events, "call.finished")
        assert "\n- mcp__shelf__take(" in finished["output"]
        assert "\nSearched 2 tools: shelf 2.\nNot searched: gone, which is " in finished["output"]
        (found,) = of_kind(events, "tools.found")
        assert found["names"] == ["mcp__shelf__take"]

        (began,) = of_kind(events, "turn.started")
        cluster.node(began["node"]).kill()
        await person.send(workstream, TAKE)
        await person.wait_for_state(workstream, "idle")
        events = await person.events(workstream)
        assert faults(events) == {}
        _, again = of_kind(events, "turn.started")
        assert again["node"] != began["node"]
        # The demo model calls only what it is shown.
        _, finished = of_kind(events, "call.finished")
        assert finished["tool"] == "mcp__shelf__take"
        assert "\ntaken\n" in finished["output"]
