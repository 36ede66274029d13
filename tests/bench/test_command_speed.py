"""What running a command costs beside the command itself, bare; sixteen at once."""

import asyncio
import pathlib
import resource
import statistics
import subprocess
import sys
from time import perf_counter

import pytest

from redshank_node.tools.builtin import bash
from redshank_node.tools.tool import CallContext, Result, Workspace
from tests.bench.figures import figure

OVERHEAD_MILLISECONDS = 10
TOGETHER_SECONDS = 1.3
ROUNDS = 40


async def run(root: pathlib.Path, command: str) -> Result:
    workspace = Workspace(root)
    prepared = bash.TOOL.prepare({"command": command}, workspace)
    return await bash.TOOL.run(prepared, CallContext("call_1", workspace, lambda _: None))


class Costs:
    """What runs took, in milliseconds: by the clock, of processors."""

    def __init__(self) -> None:
        self._clock: list[float] = []
        self._processor: list[float] = []
        self._begin()

    def _begin(self) -> None:
        self._begun = (perf_counter(), processor_seconds())

    def __enter__(self) -> None:
        self._begin()

    def __exit__(self, *_: object) -> None:
        clock, processor = self._begun
        self._clock.append((perf_counter() - clock) * 1e3)
        self._processor.append((processor_seconds() - processor) * 1e3)

    def fastest(self) -> float:
        """By the clock, in the tenth that other work on the machine delayed least."""
        return statistics.quantiles(self._clock, n=10)[0]

    def processor(self) -> float:
        return statistics.median(self._processor)


def processor_seconds() -> float:
    used = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(each.ru_utime + each.ru_stime for each in used)


@pytest.mark.req("T-20")
async def test_what_a_command_costs_beside_itself(tmp_path: pathlib.Path) -> None:
    """By the clock, or in time of processors where the machine is so busy that the clock says more
    of others: one command runs at a time, so that on a quiet machine both are the same.
    """
    alone, called = Costs(), Costs()
    for _ in range(ROUNDS):
        with alone:
            subprocess.run(["bash", "-c", "true"], cwd=tmp_path, check=True)
        with called:
            await run(tmp_path, "true")
    clock = called.fastest() - alone.fastest()
    processor = called.processor() - alone.processor()
    sys.stdout.write(
        f"\nbash true: {alone.fastest():.1f} ms alone, {clock:.1f} ms more as a call "
        f"({processor:.1f} ms of processors)\n"
    )
    figure("what a call adds", min(clock, processor), OVERHEAD_MILLISECONDS, "ms")


@pytest.mark.req("T-16")
async def test_sixteen_commands_of_a_second_run_side_by_side(tmp_path: pathlib.Path) -> None:
    begin = perf_counter()
    results = await asyncio.gather(*(run(tmp_path, "sleep 1; echo $PPID") for _ in range(16)))
    seconds = perf_counter() - begin
    sys.stdout.write(f"\nsixteen commands of 1 s: {seconds:.2f} s\n")
    assert len({result.output for result in results}) == 16
    figure("sixteen together", seconds, TOGETHER_SECONDS, "s")
