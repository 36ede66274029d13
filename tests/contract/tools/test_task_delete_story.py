"""task_delete, as an agent uses it: what is over is forgotten, what runs is not."""

import pytest

from redshank_node.tools.builtin import task_create, task_delete, task_list, task_stop
from tests.contract.task_world import TaskWorld

pytest_plugins = ("tests.contract.task_fixtures",)
pytestmark = pytest.mark.req("K-24")


async def test_a_running_command_is_stopped_before_it_is_deleted(task_world: TaskWorld) -> None:
    async with task_world.node() as node:
        task_id = await node.started("sleep 300")
        refused = await node.call(task_delete.TOOL, task_id=task_id)
        await node.call(task_stop.TOOL, task_id=task_id)
        deleted = await node.call(task_delete.TOOL, task_id=task_id)
        listed = await node.call(task_list.TOOL)

    assert refused.is_error
    assert refused.output == f"{task_id} still runs; task_stop stops it, then delete it"
    assert deleted.output == f"{task_id} is deleted, with what it wrote"
    assert listed.output == "[no task]"


async def test_a_deleted_task_is_not_there_any_more(task_world: TaskWorld) -> None:
    async with task_world.node() as node:
        task_id = (await node.call(task_create.TOOL, subject="x")).output.split()[0]
        await node.call(task_delete.TOOL, task_id=task_id)
        again = await node.call(task_delete.TOOL, task_id=task_id)

    assert again.is_error
    assert "task_list shows what there is" in again.output


async def test_only_its_own_workstream_may_delete_it(task_world: TaskWorld) -> None:
    async with task_world.node() as node:
        task_id = (await node.call(task_create.TOOL, subject="x")).output.split()[0]
        refused = await node.call_in("ws_2", task_delete.TOOL, task_id=task_id)
        listed = await node.call(task_list.TOOL)

    assert refused.is_error
    assert task_id in listed.output
