"""task_output, as an agent uses it: what a command wrote, not whether it succeeded."""

import time

import pytest

from redshank_node.tools.builtin import task_create, task_output
from redshank_node.tools.tool import BadArguments, Workspace
from redshank_shared.vault.redaction import Redactor
from tests.contract.task_world import TaskWorld, until

pytest_plugins = ("tests.contract.task_fixtures",)
pytestmark = pytest.mark.req("K-24")


async def test_output_is_readable_while_the_command_runs(task_world: TaskWorld) -> None:
    async with task_world.node() as node:
        task_id = await node.started("echo one; echo two >&2; sleep 300")
        tasks = node.tasks()

        async def spooled() -> str:
            return (await tasks.get(task_id)).output

        while "two" not in await spooled():
            await tasks.ended(task_id, 0.1)
        result = await node.call(task_output.TOOL, task_id=task_id)

    first, *rest = result.output.splitlines()
    assert first.startswith(f"[{task_id} is in_progress; it wrote 17 bytes so far; ")
    assert sorted(rest) == ["[stderr] two", "one"]
    assert not result.is_error


async def test_reading_the_output_of_a_command_that_failed_succeeds_and_says_that_it_failed(
    task_world: TaskWorld,
) -> None:
    async with task_world.node() as node:
        task_id = await node.started("echo half; exit 3")
        result = await node.call(task_output.TOOL, task_id=task_id, wait_seconds=60)

    assert not result.is_error
    assert result.output == (
        f"[{task_id} is failed: exit code 3; it wrote 5 bytes. "
        "That they can be read does not mean that the command succeeded]\nhalf\n"
    )


async def test_waiting_ends_with_the_command(task_world: TaskWorld) -> None:
    async with task_world.node() as node:
        begin = time.monotonic()
        task_id = await node.started("until [ -e go ]; do sleep 0.01; done; echo gone")
        early = await node.call(task_output.TOOL, task_id=task_id)
        (task_world.folder / "go").touch()
        late = await node.call(task_output.TOOL, task_id=task_id, wait_seconds=60)

    assert "in_progress" in early.output
    assert late.output.endswith("\ngone\n")
    assert time.monotonic() - begin < 20


@pytest.mark.parametrize("seconds", [-1, 91])
def test_a_wait_has_its_bounds(task_world: TaskWorld, seconds: int) -> None:
    with pytest.raises(BadArguments, match="wait_seconds must be between 0 and 90"):
        task_output.TOOL.prepare(
            {"task_id": "x", "wait_seconds": seconds}, Workspace(task_world.folder)
        )


@pytest.mark.fault("F15")
async def test_endless_output_keeps_its_beginning_and_its_end(task_world: TaskWorld) -> None:
    async with task_world.node() as node:
        task_id = await node.started(
            "echo first; head -c 3000000 /dev/zero | tr '\\0' x; echo; echo last"
        )
        result = await node.call(task_output.TOOL, task_id=task_id, wait_seconds=60)

    assert result.truncated
    assert len(result.output.encode()) <= 262144
    assert "\nfirst\n" in result.output
    assert result.output.endswith("\nlast\n")
    assert "bytes left out here" in result.output


async def test_a_task_of_record_wrote_nothing(task_world: TaskWorld) -> None:
    async with task_world.node() as node:
        task_id = (await node.call(task_create.TOOL, subject="x")).output.split()[0]
        result = await node.call(task_output.TOOL, task_id=task_id)

    assert result.output == f"[{task_id} is pending; it runs no command, so wrote nothing]"


async def test_a_secret_is_not_kept(task_world: TaskWorld) -> None:
    task_world.redactor = Redactor(["hunter2-hunter2-hunter2"])
    async with task_world.node() as node:
        task_id = await node.started("echo my hunter2-hunter2-hunter2")
        result = await node.call(task_output.TOOL, task_id=task_id, wait_seconds=60)

    assert "hunter2" not in result.output
    assert "my " in result.output


async def test_the_profile_has_its_own_word_for_the_end_of_the_node(task_world: TaskWorld) -> None:
    async with task_world.node() as node:
        task_id = await node.started("echo here; sleep 300")
        await until(lambda: node.background.find(task_id) is not None, "it runs")
    async with task_world.node("marsh-2") as node:
        plain = await node.call(task_output.TOOL, task_id=task_id)
        kheish = await node.call(
            task_output.TOOL, {"node_stopped": "daemon_restarted"}, task_id=task_id
        )

    assert plain.output.startswith(f"[{task_id} is failed: node_stopped; ")
    assert kheish.output.startswith(f"[{task_id} is failed: daemon_restarted; ")
