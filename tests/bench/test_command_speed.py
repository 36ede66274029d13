"""What running a command costs beside the command itself, bare; sixteen at once."""

import asyncio
import pathlib
import statistics
import subprocess
import sys
from time import perf_counter

import pytest

from redshank_node.tools.builtin import bash
from redshank_node.tools.tool import CallContext, Result, Workspace

OVERHEAD_MILLISECONDS = 10
TOGETHER_SECONDS = 1.3
ROUNDS = 40


async def run(root: pathlib.Path, command: str) -> Result:
    workspace = Workspace(root)
    prepared = bash.TOOL.prepare({"command": command}, workspace)
    return await bash.TOOL.run(prepared, CallContext("call_1", workspace, lambda _: None))


def fastest(milliseconds: list[float]) -> float:
    """The tenth that nothing disturbed."""
    return statistics.quantiles(milliseconds, n=10)[0]


@pytest.mark.req("T-20")
async def test_what_a_command_costs_beside_itself(tmp_path: pathlib.Path) -> None:
    """The fastest of runs that take turns: what others do on the machine meanwhile is not ours."""
    alone, called = [], []
    for _ in range(ROUNDS):
        begin = perf_counter()
        subprocess.run(["bash", "-c", "true"], cwd=tmp_path, check=True)
        alone.append((perf_counter() - begin) * 1e3)
        begin = perf_counter()
        await run(tmp_path, "true")
        called.append((perf_counter() - begin) * 1e3)
    overhead = fastest(called) - fastest(alone)
    median = statistics.median(called) - statistics.median(alone)
    sys.stdout.write(
        f"\nbash true: {fastest(alone):.1f} ms alone, {overhead:.1f} ms more as a call "
        f"({median:.1f} ms in the median)\n"
    )
    assert overhead <= OVERHEAD_MILLISECONDS


@pytest.mark.req("T-16")
async def test_sixteen_commands_of_a_second_run_side_by_side(tmp_path: pathlib.Path) -> None:
    begin = perf_counter()
    results = await asyncio.gather(*(run(tmp_path, "sleep 1; echo $PPID") for _ in range(16)))
    seconds = perf_counter() - begin
    sys.stdout.write(f"\nsixteen commands of 1 s: {seconds:.2f} s\n")
    assert len({result.output for result in results}) == 16
    assert seconds <= TOGETHER_SECONDS
