"""MCP servers in a whole cluster: called under approvals, followed when they change, refused."""

import json
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.fakes.cluster import Cluster
from tests.fakes.cluster_fixtures import ClusterMaker
from tests.fakes.cluster_judging import of_kind
from tests.fakes.cluster_process import ClusterProcess

SHELF = Path(__file__).parents[1] / "fakes" / "mcp_shelf.py"
LATE_SECONDS = 60.0


def config(folder: Path, **servers: dict[str, Any]) -> dict[str, str]:
    """The variables of a cluster with these servers."""
    file = folder / "mcp.json"
    file.write_text(json.dumps({"mcpServers": servers}))
    # The demo model calls only what it is shown: nothing waits to be searched for.
    return {"REDSHANK_MCP__CONFIG": str(file), "REDSHANK_TOOLS__SEARCH": "off"}


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the server offers, a line each."""
    file = tmp_path_factory.mktemp("shelf") / "shelf.txt"
    file.write_text("take Takes what is on the shelf.\nuri:shelf://top The top board.\n")
    return file


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory, shelf: Path) -> Iterator[Cluster]:
    server = {
        "command": sys.executable,
        "args": [str(SHELF), str(shelf)],
        "startup_timeout_sec": 60,
    }
    maker = ClusterMaker(tmp_path_factory.mktemp("cluster"))
    try:
        yield maker(nodes=1, settings=config(shelf.parent, shelf=server))
    finally:
        maker.close()


@pytest.mark.req("T-72", "T-78")
async def test_a_servers_tool_waits_for_a_person_then_runs(cluster: Cluster) -> None:
    async with cluster.client() as person:
        workstream = await person.create('call: mcp__shelf__take {"word": "jar"}')
        view = await person.wait_for_state(workstream, "waiting")
        (approval,) = view["pending_approvals"]
        assert approval["preview"]["title"] == "shelf: take"
        await person.answer(workstream, approval["request_id"], "allow")
        await person.wait_for_state(workstream, "idle")
        (finished,) = of_kind(await person.events(workstream), "call.finished")
        assert "\ntaken\n" in finished["output"]
    health = httpx.get(f"{cluster.nodes[0].url}/health", trust_env=False).json()
    assert health["mcp"] == {"servers": 1, "resources": 1, "prompts": 0, "tools": 1}


@pytest.mark.fault("F64")
async def test_a_tool_that_changed_asks_whoever_allowed_everything(
    cluster: Cluster, shelf: Path
) -> None:
    async with cluster.client() as person:
        call = 'call: mcp__shelf__take {"word": "jar"}'
        before = await person.create(call, mode="bypassPermissions")
        await person.wait_for_state(before, "idle")
        shelf.write_text("take Takes all that you have.\n")
        refreshed = await person.post("/v1/mcp/servers/shelf/refresh")
        assert refreshed.is_success, refreshed.text
        workstream = await person.create(call, mode="bypassPermissions")
        view = await person.wait_for_state(workstream, "waiting")
        (approval,) = view["pending_approvals"]
        assert approval["preview"]["title"] == "shelf: take (changed)"
        assert "+Takes all that you have." in approval["preview"]["body"]
        await person.answer(workstream, approval["request_id"], "allow")
        await person.wait_for_state(workstream, "idle")


@pytest.fixture
def starting(tmp_path: Path, sqlite_template: Path) -> Iterator[Callable[..., ClusterProcess]]:
    """Starts a node with this one server, waits for nothing."""
    clusters: list[Cluster] = []

    def start(**server: Any) -> ClusterProcess:
        settings = config(tmp_path, only={"command": sys.executable, **server})
        shutil.copy(sqlite_template, tmp_path / "redshank.db")
        url = f"sqlite:///{tmp_path}/redshank.db"
        clusters.append(Cluster(tmp_path / "cluster", url, nodes=1, settings=settings))
        clusters[0].valkey.start()
        (node,) = clusters[0].nodes
        node.start()
        return node

    yield start
    for cluster in clusters:
        cluster.close()


def wait_for(met: Callable[[], bool], node: ClusterProcess) -> None:
    """Until that is so; fails with the node's log where it takes too long."""
    late = time.monotonic() + LATE_SECONDS
    while not met():
        assert time.monotonic() < late, node.log_tail()
        time.sleep(0.05)


@pytest.mark.req("K-59")
def test_a_node_whose_required_server_does_not_start_takes_no_work_and_says_why(
    starting: Callable[..., ClusterProcess],
) -> None:
    node = starting(args=["-c", "import sys; sys.exit(3)"], required=True)
    wait_for(lambda: not node.running, node)
    assert node.exit_code() == 2, node.log_tail()
    assert "redshank node: MCP server only is required, and did not start" in node.log_tail()


@pytest.mark.fault("F11")
def test_a_node_leaves_in_order_while_a_server_does_not_answer(
    starting: Callable[..., ClusterProcess], tmp_path: Path
) -> None:
    began = tmp_path / "began"
    silent = (
        "import os, time\n"
        f"with open({str(began)!r} + '.new', 'w') as file: file.write(str(os.getpid()))\n"
        f"os.rename({str(began)!r} + '.new', {str(began)!r})\n"
        "time.sleep(600)"
    )
    node = starting(args=["-c", silent], startup_timeout_sec=600)
    wait_for(began.exists, node)
    assert node.stop(LATE_SECONDS)[0] == 0, node.log_tail()
    assert not Path(f"/proc/{began.read_text()}").exists()
