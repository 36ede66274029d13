"""task_list, as an agent uses it: all that goes on."""

import pytest

from redshank_node.tools.builtin import task_create, task_list, task_output
from tests.contract.task_world import TaskWorld

pytest_plugins = ("tests.contract.task_fixtures",)
pytestmark = pytest.mark.req("K-24")


async def test_tasks_and_commands_stand_in_the_order_they_came(task_world: TaskWorld) -> None:
    async with task_world.node() as node:
        await node.call(task_create.TOOL, subject="first")
        command = await node.started("true")
        await node.call(task_output.TOOL, task_id=command, wait_seconds=60)
        await node.call(task_create.TOOL, subject="last")
        every = (await node.call(task_list.TOOL)).output.splitlines()
        pending = (await node.call(task_list.TOOL, state="pending")).output.splitlines()

    assert [line.partition(" ")[2] for line in every] == [
        "pending: task first",
        "completed: command true",
        "pending: task last",
    ]
    assert pending == [every[0], every[2]]


async def test_an_empty_list_says_so(task_world: TaskWorld) -> None:
    async with task_world.node() as node:
        assert (await node.call(task_list.TOOL)).output == "[no task]"
