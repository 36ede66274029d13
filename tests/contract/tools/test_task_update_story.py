"""task_update, as an agent uses it: what follows what."""

import pytest

from redshank_node.tools.builtin import task_create, task_get, task_stop, task_update
from tests.contract.task_world import TaskNode, TaskWorld

pytest_plugins = ("tests.contract.task_fixtures",)
pytestmark = pytest.mark.req("K-24")


async def created(node: TaskNode) -> str:
    return (await node.call(task_create.TOOL, subject="mend")).output.split()[0]


async def test_a_task_goes_through_its_states(task_world: TaskWorld) -> None:
    async with task_world.node() as node:
        task_id = await created(node)
        seen = [
            (await node.call(task_update.TOOL, task_id=task_id, state=state)).output
            for state in ("in_progress", "blocked", "in_progress", "completed", "in_progress")
        ]

    assert [line.split()[1] for line in seen] == [
        "in_progress:",
        "blocked:",
        "in_progress:",
        "completed:",
        "in_progress:",
    ]


async def test_a_reason_goes_with_the_state_it_was_given_for(task_world: TaskWorld) -> None:
    async with task_world.node() as node:
        task_id = await created(node)
        blocked = await node.call(
            task_update.TOOL, task_id=task_id, state="blocked", reason="waits for a review"
        )
        resumed = await node.call(task_update.TOOL, task_id=task_id, state="in_progress")

    assert blocked.output == f"{task_id} blocked (waits for a review): task mend"
    assert resumed.output == f"{task_id} in_progress: task mend"


async def test_what_is_over_does_not_become_something_else_by_a_word(
    task_world: TaskWorld,
) -> None:
    async with task_world.node() as node:
        task_id = await created(node)
        await node.call(task_update.TOOL, task_id=task_id, state="failed")
        refused = await node.call(task_update.TOOL, task_id=task_id, state="completed")

    assert refused.is_error
    assert f"{task_id} is failed, completed cannot follow; set it in_progress" in refused.output


async def test_the_state_of_a_command_is_its_own(task_world: TaskWorld) -> None:
    async with task_world.node() as node:
        task_id = await node.started("sleep 300")
        refused = await node.call(task_update.TOOL, task_id=task_id, state="completed")
        renamed = await node.call(task_update.TOOL, task_id=task_id, subject="a long nap")
        await node.call(task_stop.TOOL, task_id=task_id)
        shown = await node.call(task_get.TOOL, task_id=task_id)

    assert refused.is_error
    assert "its state follows the command; task_stop stops it" in refused.output
    assert renamed.output == f"{task_id} in_progress: command a long nap"
    assert shown.output.startswith(f"{task_id} cancelled (stopped on request): command a long nap")


async def test_a_change_of_nothing_says_what_can_be_changed(task_world: TaskWorld) -> None:
    async with task_world.node() as node:
        refused = await node.call(task_update.TOOL, task_id=await created(node))

    assert refused.is_error
    assert "give state, subject, description or reason" in refused.output
