"""task_create, as an agent uses it: work that is to be kept track of."""

import pytest

from redshank_node.engine import workstream_tasks
from redshank_node.tools.builtin import task_create, task_get, task_list
from redshank_node.tools.tool import BadArguments, CallContext, Workspace
from tests.contract.task_world import TaskWorld

pytest_plugins = ("tests.contract.task_fixtures",)
pytestmark = pytest.mark.req("K-24")


async def test_a_new_task_is_pending_and_keeps_what_is_said_of_it(task_world: TaskWorld) -> None:
    async with task_world.node() as node:
        created = await node.call(
            task_create.TOOL, subject="mend the\nparser", description="it drops the last line"
        )
        task_id = created.output.split()[0]
        shown = await node.call(task_get.TOOL, task_id=task_id)

    assert created.output == f"{task_id} pending: task mend the parser"
    assert "description: it drops the last line" in shown.output


async def test_a_task_runs_nothing_so_it_needs_no_subject_that_a_shell_could_read(
    task_world: TaskWorld,
) -> None:
    async with task_world.node() as node:
        await node.call(task_create.TOOL, subject="touch there; $(touch there)")

    assert list(task_world.folder.iterdir()) == []


async def test_another_workstream_does_not_see_it(task_world: TaskWorld) -> None:
    async with task_world.node() as node:
        created = await node.call(task_create.TOOL, subject="mine")
        task_id = created.output.split()[0]
        listed = await node.call_in("ws_2", task_list.TOOL)
        shown = await node.call_in("ws_2", task_get.TOOL, task_id=task_id)

    assert listed.output == "[no task]"
    assert shown.is_error
    assert shown.output == f"there is no task {task_id} here; task_list shows what there is"


async def test_too_many_tasks_are_refused_with_the_mend(
    task_world: TaskWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workstream_tasks, "MOST_TASKS", 2)
    async with task_world.node() as node:
        for _ in range(2):
            assert not (await node.call(task_create.TOOL, subject="x")).is_error
        refused = await node.call(task_create.TOOL, subject="x")

    assert refused.is_error
    assert "this workstream has 2 tasks, no more; task_delete those that are over" in refused.output


def test_an_empty_subject_is_refused_by_name(task_world: TaskWorld) -> None:
    with pytest.raises(BadArguments, match="subject must not be empty"):
        task_create.TOOL.prepare({"subject": ""}, Workspace(task_world.folder))


async def test_where_nothing_keeps_tasks_the_call_says_so(task_world: TaskWorld) -> None:
    workspace = Workspace(task_world.folder)
    prepared = task_create.TOOL.prepare({"subject": "x"}, workspace)
    result = await task_create.TOOL.run(prepared, CallContext("call_1", workspace, lambda _: None))

    assert (result.is_error, result.output) == (True, "there are no background tasks here")
