"""task_stop, as an agent uses it: a command with all that it started is gone."""

import asyncio

import pytest

from redshank_node.tools.builtin import task_create, task_output, task_stop
from tests.contract.task_world import TaskWorld, alive, until

pytest_plugins = ("tests.contract.task_fixtures",)
pytestmark = pytest.mark.req("K-24")

_STUBBORN = (
    "setsid bash -c 'trap \"\" TERM HUP; echo $$ > child; sleep 300; sleep 300' & "
    "trap '' TERM; echo $$ > pid; echo begun; sleep 300; sleep 300"
)


@pytest.mark.fault("F14")
async def test_a_stopped_command_leaves_no_process_and_keeps_its_output(
    task_world: TaskWorld,
) -> None:
    async with task_world.node() as node:
        task_id = await node.started(_STUBBORN)
        processes = [await node.pid_in("pid"), await node.pid_in("child")]
        stopped = await node.call(task_stop.TOOL, task_id=task_id)
        assert not any(alive(process) for process in processes)
        output = await node.call(task_output.TOOL, task_id=task_id)

    assert stopped.output.startswith(f"{task_id} cancelled (stopped on request): command setsid")
    assert not stopped.is_error
    assert output.output.endswith("\nbegun\n")


async def test_a_command_on_another_node_is_stopped_there(task_world: TaskWorld) -> None:
    async with task_world.node() as first, task_world.node("marsh-2") as second:
        task_id = await first.started("echo $$ > pid; sleep 300")
        process = await first.pid_in("pid")
        stopped = await second.call(task_stop.TOOL, task_id=task_id)
        await until(lambda: not alive(process), "it is gone")

    assert stopped.output.startswith(f"{task_id} cancelled (stopped on request)")


async def test_a_task_of_record_is_cancelled(task_world: TaskWorld) -> None:
    async with task_world.node() as node:
        task_id = (await node.call(task_create.TOOL, subject="x")).output.split()[0]
        stopped = await node.call(task_stop.TOOL, task_id=task_id)

    assert stopped.output == f"{task_id} cancelled: task x"


async def test_what_is_over_cannot_be_stopped(task_world: TaskWorld) -> None:
    async with task_world.node() as node:
        task_id = await node.started("true")
        await node.call(task_output.TOOL, task_id=task_id, wait_seconds=60)
        refused = await node.call(task_stop.TOOL, task_id=task_id)

    assert refused.is_error
    assert refused.output == f"{task_id} is completed already; there is nothing to stop"


async def test_two_stops_at_once_agree(task_world: TaskWorld) -> None:
    async with task_world.node() as node:
        task_id = await node.started("sleep 300")
        both = await asyncio.gather(*(node.call(task_stop.TOOL, task_id=task_id) for _ in range(2)))

    assert [result.output.split(":")[0] for result in both] == [
        f"{task_id} cancelled (stopped on request)"
    ] * 2
