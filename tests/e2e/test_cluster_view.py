"""A person watches the cluster while its nodes are killed, started, simulated by the thousand."""

import asyncio
import json
import os
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from typing import Any

import pytest

from redshank_shared.settings.environment import process_environment
from tests.architecture.sources import PACKAGES
from tests.bench.figures import figure
from tests.fakes.cluster import Cluster
from tests.fakes.cluster_client import ClusterClient
from tests.fakes.cluster_fixtures import ClusterMaker

DEADLINE_SECONDS = 40.0
MOST_MEMORY_BYTES = 200_000_000
MOST_MILLISECONDS = 50.0


class Told:
    """Everything that a cluster's stream tells, with the moment."""

    def __init__(self) -> None:
        self.frames: list[tuple[str, dict[str, Any], float]] = []
        self._more = asyncio.Event()

    async def listen(self, lines: AsyncIterator[str]) -> None:
        kind = ""
        async for line in lines:
            name, _, value = line.partition(": ")
            if name == "event":
                kind = value
            elif name == "data":
                self.frames.append((kind, json.loads(value), time.monotonic()))
                self._more.set()

    async def first(self, kind: str, name: str, since: float = 0.0) -> float:
        """When this was told of this node, as soon as it is."""
        async with asyncio.timeout(DEADLINE_SECONDS):
            while True:
                for found, data, at in self.frames:
                    if found == kind and data["name"] == name and at >= since:
                        return at
                self._more.clear()
                await self._more.wait()


@pytest.mark.req("B-24")
async def test_a_killed_node_is_shown_lost_within_three_seconds_a_new_one_within_one(
    new_cluster: ClusterMaker,
) -> None:
    cluster = new_cluster(nodes=3)
    node = cluster.node("node-3")
    async with cluster.client() as person:
        for name in ("node-1", "node-2", "node-3"):
            await shown(person, name, "up")
        url = f"{cluster.consoles[0].url}/v1/cluster/events"
        told = Told()
        async with person.http.stream("GET", url) as answer, asyncio.TaskGroup() as group:
            listening = group.create_task(told.listen(answer.aiter_lines()))
            async with asyncio.timeout(DEADLINE_SECONDS):
                while not told.frames:
                    await asyncio.sleep(0.02)
            killed_at = time.monotonic()
            node.kill()
            lost_at = await told.first("node.lost", "node-3")
            figure("a killed node is shown lost", lost_at - killed_at, 3, "s")
            await shown(person, "node-1", "up")
            await asyncio.to_thread(node.start)
            await asyncio.to_thread(node.wait_healthy)
            healthy_at = time.monotonic()
            joined_at = await told.first("node.joined", "node-3", killed_at)
            figure("a new node is shown", joined_at - healthy_at, 1, "s")
            stopped_at = time.monotonic()
            await asyncio.to_thread(node.stop)
            await told.first("node.left", "node-3", stopped_at)
            listening.cancel()


async def shown(person: ClusterClient, name: str, state: str) -> None:
    """Return as soon as the node is shown in this state, with its figures."""
    async with asyncio.timeout(DEADLINE_SECONDS):
        while True:
            answer = await person.get(f"/v1/cluster/nodes/{name}")
            if answer.status_code == 200 and answer.json()["state"] == state:
                assert answer.json()["report"]["memory_bytes"] > 1_000_000
                assert "bash" in answer.json()["report"]["tools"]
                return
            await asyncio.sleep(0.05)


def redshank(cluster: Cluster, *words: str) -> Any:
    """What the command prints as JSON."""
    environ = {
        **process_environment(),
        "PYTHONPATH": os.pathsep.join(str(package.parent) for package in PACKAGES),
        "REDSHANK_URL": cluster.consoles[0].url,
        "REDSHANK_TOKEN": (cluster.folder / "admin.token").read_text(),
        "XDG_CONFIG_HOME": str(cluster.folder / "config"),
    }
    command = "from redshank_console.cli.main import app; app()"
    done = subprocess.run(
        [sys.executable, "-P", "-c", command, *words, "-o", "json"],
        env=environ,
        cwd=cluster.folder,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.req("B-24")
def test_a_thousand_nodes_take_little_memory_little_time(new_cluster: ClusterMaker) -> None:
    cluster = new_cluster(nodes=1)
    found = redshank(
        cluster,
        *("bench", "cluster", "--nodes", "1000", "--workstreams", "50"),
        *("--redis", cluster.valkey.url),
    )
    assert found["nodes"] >= 1000
    assert 0 < found["memory_bytes"] < MOST_MEMORY_BYTES
    assert {call["path"] for call in found["calls"]} == {
        "/v1/cluster/overview",
        "/v1/cluster/nodes",
        "/v1/cluster/snapshot",
    }
    slowest = max(call["p50_ms"] for call in found["calls"])
    figure("a call about a thousand nodes", slowest, MOST_MILLISECONDS, "ms")
    names = [node["name"] for node in redshank(cluster, "nodes", "ls")]
    assert names == ["node-1"]
