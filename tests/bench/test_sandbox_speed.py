"""What the sandbox adds to a command."""

import os
import statistics
import sys
from pathlib import Path
from time import perf_counter

import pytest

from redshank_node.tools.builtin import bash
from redshank_node.tools.support.sandbox.groups import groups_here
from redshank_node.tools.support.sandbox.limits import ProcessLimits
from redshank_node.tools.support.sandbox.probe import given_here
from redshank_node.tools.support.sandbox.sandbox import Sandbox
from redshank_node.tools.support.sandbox.view import View
from redshank_node.tools.tool import CallContext, Workspace
from tests.bench.figures import figure

ROUNDS = 40


async def median_ms(workspace: Workspace) -> float:
    prepared = bash.prepare({"command": "true"}, workspace)
    context = CallContext("call_1", workspace, lambda _: None)
    seconds = []
    for _ in range(ROUNDS):
        begin = perf_counter()
        result = await bash.run(prepared, context)
        seconds.append(perf_counter() - begin)
        assert not result.is_error
    return statistics.median(seconds) * 1000


@pytest.mark.parametrize("backend", ["bwrap", "landlock"])
async def test_a_sandboxed_true(backend: str, tmp_path: Path) -> None:
    """Prints the median of bash `true`, bare and sandboxed (goal for what is added: 20 ms)."""
    view = View(tmp_path)
    given = given_here(backend, view)
    if given.walls is None:
        pytest.skip(f"{backend} confines nothing on this machine: {given.reason}")
    groups = groups_here(1 << 30, 100, os.getpid(), perf_counter)
    sandbox = Sandbox(given, view, ProcessLimits(processes=100), {}, groups)
    bare = await median_ms(Workspace(tmp_path))
    confined = await median_ms(Workspace(tmp_path, sandbox=sandbox))
    if groups is not None:
        groups.close()
    sys.stdout.write(
        f"\nbash true: {bare:.1f} ms bare, {confined:.1f} ms in {backend}: "
        f"{confined - bare:.1f} ms added\n"
    )
    figure(f"what {backend} adds", confined - bare, 20.0, "ms")
