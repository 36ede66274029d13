"""MCP servers from the command line: added, asked again, removed on every node of an `up`."""

import json
import os
import re
import shlex
import signal
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.e2e.document_world import *  # noqa: F403 - fixtures are found by name
from tests.e2e.document_world import BLOCK, does, shell
from tests.e2e.redshank_up import ROOT, Home, Up

pytestmark = pytest.mark.timeout(300)

SHELF = Path(__file__).parents[1] / "fakes" / "mcp_shelf.py"
DEADLINE_SECONDS = 90.0


@pytest.fixture(scope="module")
def shelf(home: Home) -> Path:
    """What the server offers that `uvx` starts on this machine."""
    file = home.folder / "shelf.txt"
    file.write_text("now Says what time it is.\nconvert Converts it.\n")
    command = shlex.join([sys.executable, str(SHELF), str(file)])
    program = home.folder / "bin" / "uvx"
    program.write_text(f"#!/bin/sh\nexec {command}\n")
    program.chmod(0o755)
    return file


@pytest.fixture(scope="module")
def running(home: Home, shelf: Path) -> Iterator[Up]:
    with home.up("--nodes", "2") as up:
        yield up.ready()


def answered(home: Home, command: str) -> Any:
    """The JSON that a command prints."""
    done = shell(home, f"{command} -o json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def until(holds: Callable[[], bool]) -> None:
    end = time.monotonic() + DEADLINE_SECONDS
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.2)


def looked(home: Home, path: str) -> Any:
    """What the console says."""
    token = (home.data / "admin.token").read_text().strip()
    return httpx.get(
        f"{home.url}{path}",
        headers={"Authorization": f"Bearer {token}"},
        timeout=DEADLINE_SECONDS,
        trust_env=False,
    ).json()


def processes(home: Home) -> set[str]:
    """The starts of nodes that are up: each has an id of its own."""
    items = looked(home, "/v1/cluster/nodes")["items"]
    return {each["id"] for each in items if each["state"] == "up"}


def states(home: Home, name: str) -> list[str]:
    """How the server is on the nodes that are up."""
    servers = {each["name"]: each for each in looked(home, "/v1/mcp/servers")["items"]}
    nodes = servers[name]["nodes"] if name in servers else []
    return [each["state"] for each in nodes if each["node_state"] == "up"]


def is_connected(home: Home, name: str) -> bool:
    return states(home, name) == ["connected", "connected"]


def in_the_matrix(home: Home, name: str) -> list[str]:
    rows = answered(home, "redshank permissions matrix")["rows"]
    return [row["tool"] for row in rows if row["server"] == name]


@pytest.mark.req("K-56", "K-71", "T-73")
def test_the_commands_of_the_document_do_what_it_says(home: Home, running: Up) -> None:
    text = (ROOT / "docs" / "mcp.md").read_text()
    section = text.partition("## Servers in the cluster")[2].partition("\n## ")[0]
    done = 0
    for _, block in BLOCK.findall(section):
        for step in re.split(r"^\$ ", block, flags=re.M)[1:]:
            command, _, lines = step.partition("\n")
            does(home, command, lines.splitlines(), running)
            done += 1
            if command.startswith("redshank mcp add time"):
                until(lambda: is_connected(home, "time"))
    assert done >= 12


@pytest.mark.req("K-69", "T-73", "B-26")
@pytest.mark.fault("F68")
def test_a_server_is_on_both_nodes_and_again_after_one_was_killed(
    home: Home, running: Up, shelf: Path
) -> None:
    command = shlex.join(["redshank", "mcp", "add", "shelf", "--", sys.executable, str(SHELF)])
    done = shell(home, f"{command} {shlex.quote(str(shelf))}")
    assert done.returncode == 0, done.stderr
    until(lambda: is_connected(home, "shelf"))

    shelf.write_text("now Says what time it is.\nring Rings.\n")
    (order,) = answered(home, "redshank mcp refresh shelf")
    assert [(node["added"], node["removed"]) for node in order["nodes"]] == [
        (["ring"], ["convert"])
    ] * 2
    # Each node writes what it offers into the registry once a second.
    until(lambda: in_the_matrix(home, "shelf") == ["mcp__shelf__now", "mcp__shelf__ring"])

    before = processes(home)
    os.kill(running.children()["node"], signal.SIGKILL)
    until(lambda: len(processes(home) - before) == 1 and len(processes(home)) == 2)
    until(lambda: is_connected(home, "shelf"))

    again = shell(home, command)
    assert again.returncode == 4, again.stderr
    assert "the name shelf is taken" in again.stderr
    assert shell(home, "redshank mcp rm shelf").returncode == 0
    until(lambda: states(home, "shelf") == [])
    unknown = shell(home, "redshank mcp show shelf")
    assert unknown.returncode == 3, unknown.stderr
    contradiction = shell(home, "redshank mcp add bad --address ftp://x --cwd /tmp")
    assert contradiction.returncode == 2, contradiction.stderr
    assert "cwd means nothing" in contradiction.stderr
