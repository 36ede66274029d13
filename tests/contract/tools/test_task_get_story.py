"""task_get, as an agent uses it: how a command stands."""

import pytest

from redshank_node.tools.builtin import task_get, task_output
from tests.contract.task_world import TaskWorld

pytest_plugins = ("tests.contract.task_fixtures",)
pytestmark = pytest.mark.req("K-24")


@pytest.mark.parametrize(
    ("command", "state", "code"),
    [
        ("echo hi", "completed", "0"),
        ("echo hi; exit 1", "failed (exit code 1)", "1"),
        ("kill -9 $$", "failed (ended by signal 9)", "-9"),
    ],
)
async def test_a_command_that_ended_shows_how(
    task_world: TaskWorld, command: str, state: str, code: str
) -> None:
    async with task_world.node() as node:
        task_id = await node.started(command)
        await node.call(task_output.TOOL, task_id=task_id, wait_seconds=60)
        shown = (await node.call(task_get.TOOL, task_id=task_id)).output

    wrote = 3 if "echo" in command else 0
    assert shown.startswith(f"{task_id} {state}: command {command}\n")
    assert f"command: {command}\nexit code: {code}; wrote {wrote} bytes" in shown


async def test_a_command_that_runs_too_long_is_stopped_and_says_so(task_world: TaskWorld) -> None:
    async with task_world.node() as node:
        task_id = await node.started("echo before; sleep 300", timeout=1)
        await node.call(task_output.TOOL, task_id=task_id, wait_seconds=60)
        shown = (await node.call(task_get.TOOL, task_id=task_id)).output

    assert shown.startswith(f"{task_id} failed (stopped after 1 s): ")
