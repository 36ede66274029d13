"""What a command would use up: each bound holds, in the sandbox as a node sets it."""

import asyncio
import os
import time
from collections.abc import Callable, Iterator

import pytest

from redshank_node.tools.support.sandbox.groups import Groups, groups_here
from redshank_node.tools.support.sandbox.limits import ProcessLimits
from tests.contract.escape.confined import Grounds, python, ran, sandbox

BACKENDS = ("bwrap", "landlock")
MIB = 1024 * 1024


@pytest.fixture
def make_groups() -> Iterator[Callable[[int, int], Groups | None]]:
    """Makes control groups of so much memory and so many processes; they are gone at the end."""
    made: list[Groups] = []

    def make(memory_bytes: int, processes: int) -> Groups | None:
        groups = groups_here(memory_bytes, processes, os.getpid(), time.monotonic)
        if groups is not None:
            made.append(groups)
        return groups

    yield make
    end = time.monotonic() + 10
    while not all([groups.close() for groups in made]):
        assert time.monotonic() < end
        time.sleep(0.02)


@pytest.mark.parametrize("backend", BACKENDS)
async def test_a_memory_bomb_ends_at_the_address_space_of_a_process(
    backend: str, grounds: Grounds
) -> None:
    confined = sandbox(backend, grounds, ProcessLimits(address_space_bytes=512 * MIB))
    result = await ran(python("bytearray(1 << 30); print('ESCAPED')"), grounds, confined)
    assert "MemoryError" in result.output
    assert "ESCAPED" not in result.output


@pytest.mark.parametrize("backend", BACKENDS)
async def test_a_file_grows_no_larger_than_a_process_may_write(
    backend: str, grounds: Grounds
) -> None:
    confined = sandbox(backend, grounds, ProcessLimits(file_bytes=MIB))
    await ran("head -c 9000000 /dev/zero >big; echo went on", grounds, confined)
    assert (grounds.workspace / "big").stat().st_size <= MIB


@pytest.mark.parametrize("backend", BACKENDS)
async def test_a_process_opens_no_more_files_than_it_may(backend: str, grounds: Grounds) -> None:
    confined = sandbox(backend, grounds, ProcessLimits(open_files=40))
    code = "kept = [open('/dev/null') for _ in range(100)]; print('ESCAPED')"
    result = await ran(python(code), grounds, confined)
    assert "Too many open files" in result.output
    assert "ESCAPED" not in result.output


@pytest.mark.parametrize("backend", BACKENDS)
async def test_a_process_computes_no_longer_than_it_may(backend: str, grounds: Grounds) -> None:
    confined = sandbox(backend, grounds, ProcessLimits(cpu_seconds=1))
    result = await ran("while :; do :; done; echo ESCAPED", grounds, confined)
    assert result.is_error
    assert result.outcome == "error"
    assert "ESCAPED" not in result.output


async def test_a_command_fills_its_own_tmp_only_so_far(grounds: Grounds) -> None:
    confined = sandbox("bwrap", grounds, ProcessLimits(scratch_bytes=MIB))
    command = "head -c 9000000 /dev/zero >/tmp/full && echo ESCAPED; touch /dev/x && echo ESCAPED"
    result = await ran(command, grounds, confined)
    assert "No space left on device" in result.output
    assert "ESCAPED" not in result.output


@pytest.mark.parametrize("backend", BACKENDS)
async def test_a_fork_bomb_stops_at_the_processes_of_a_command(
    backend: str, grounds: Grounds, make_groups: Callable[[int, int], Groups | None]
) -> None:
    groups = make_groups(0, 40)
    if groups is None and os.getuid() == 0:
        pytest.skip("the kernel counts no processes of root, no control group may be made here")
    confined = sandbox(backend, grounds, ProcessLimits(processes=40), groups=groups)
    code = (
        "import os, time\n"
        "for count in range(900):\n"
        "    if os.fork() == 0: time.sleep(20); os._exit(0)\n"
        "print('ESCAPED')"
    )
    result = await ran(python(code), grounds, confined)
    assert "Resource temporarily unavailable" in result.output
    assert "ESCAPED" not in result.output


@pytest.mark.parametrize("backend", BACKENDS)
async def test_a_command_and_all_it_starts_share_one_bound_on_memory(
    backend: str, grounds: Grounds, make_groups: Callable[[int, int], Groups | None]
) -> None:
    groups = make_groups(64 * MIB, 0)
    if groups is None:
        pytest.skip("no control group may be made here")
    confined = sandbox(backend, grounds, groups=groups)
    each = "held = bytearray(48 << 20); time.sleep(2)"
    code = (
        "import os, time\n"
        "children = [os.fork() or 0 for _ in range(1)]\n"
        f"{each}\n"
        "if children[0]: print('ESCAPED' if os.waitpid(children[0], 0)[1] == 0 else 'killed')"
    )
    result = await ran(python(code), grounds, confined)
    lines = result.output.splitlines()
    assert "ESCAPED" not in lines
    assert result.is_error or "killed" in lines


async def test_a_bound_on_memory_lets_a_modest_command_run(
    grounds: Grounds, make_groups: Callable[[int, int], Groups | None]
) -> None:
    groups = make_groups(256 * MIB, 100)
    confined = sandbox("bwrap", grounds, groups=groups)
    result = await ran("seq 3 | tail -1", grounds, confined)
    assert result.output == "3\n"


async def test_commands_that_start_together_keep_their_control_groups(
    grounds: Grounds, make_groups: Callable[[int, int], Groups | None]
) -> None:
    confined = sandbox("bwrap", grounds, groups=make_groups(256 * MIB, 100))
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(ran("sleep 0.2; echo up", grounds, confined)) for _ in range(8)]
    assert [task.result().output for task in tasks] == ["up\n"] * 8
