"""Background commands on both databases: they die with their node, which somebody then says."""

import asyncio
import os
import pathlib
import signal
import subprocess
import sys

import msgspec
import pytest

from redshank_node.engine import background
from redshank_node.engine.background import Background
from redshank_node.tools.builtin import bash
from redshank_node.tools.tool import BackgroundCommand
from redshank_shared.domain.commands import CloseWorkstream
from redshank_shared.domain.errors import Conflict, NotFound
from redshank_shared.domain.ids import WorkstreamId
from redshank_shared.domain.tasks import Task
from redshank_shared.queue.bus import Bus
from redshank_shared.queue.connection import connect
from redshank_shared.queue.live import LiveNotice, TaskOutput
from redshank_shared.queue.watchers import Watchers
from redshank_shared.settings.environment import process_environment
from redshank_shared.stores.database import Database
from redshank_shared.stores.tasks import Tasks
from redshank_shared.vault.redaction import Redactor
from tests.contract.task_world import DEADLINE_SECONDS, TaskWorld, alive, now, until
from tests.fakes.valkey import Valkey
from tests.integration.engine_world import World
from tests.store_fixtures import AT

pytestmark = pytest.mark.req("K-24")

NODE = """
import asyncio, os, pathlib, sys
from redshank_node.engine.background import Background
from redshank_node.tools.tool import BackgroundCommand
from redshank_shared.domain.tasks import Task
from redshank_shared.stores.database import Database
from redshank_shared.vault.redaction import Redactor

AT = "2026-11-30T08:15:00.250Z"

async def main():
    database = Database(sys.argv[1])
    background = Background(database, Redactor(), lambda: AT)
    task = Task("task_1", "ws_1", "shell", "x", AT, AT, "in_progress", node_id="marsh-1")
    line = "echo $$ > pid; echo begun; sleep 300; sleep 300"
    environment = {"PATH": os.environ["PATH"]}
    argv, folder = ("bash", "-c", line), pathlib.Path(sys.argv[2])
    command = BackgroundCommand(line, argv, folder, environment, 900.0)
    async with asyncio.TaskGroup() as group:
        group.create_task(background.run("marsh-1", asyncio.Event()))
        await asyncio.sleep(0)
        await background.start(task, command)

asyncio.run(main())
"""


@pytest.fixture
def world(database: Database, tmp_path: pathlib.Path) -> TaskWorld:
    folder = tmp_path / "workspace"
    folder.mkdir()
    return TaskWorld(database, folder)


def shell_task(task_id: str = "task_1", node: str = "marsh-1") -> Task:
    return Task(task_id, "ws_1", "shell", "x", AT, AT, "in_progress", node_id=node)


def command(line: str, folder: pathlib.Path) -> BackgroundCommand:
    return BackgroundCommand(line, ("bash", "-c", line), folder, process_environment(), 900.0)


@pytest.mark.fault("F-12")
async def test_what_a_command_writes_is_shown_while_it_runs_its_secrets_masked(
    world: TaskWorld, valkey: Valkey
) -> None:
    redis = connect(valkey.url)
    world.bus, world.redactor = Bus(redis), Redactor(["canary-of\nthe-tide"])
    watchers = Watchers(valkey.url)
    line = "echo low; echo canary-of; until [ -e go ]; do sleep 0.01; done; echo the-tide; exit 3"
    heard: list[TaskOutput] = []
    async with asyncio.TaskGroup() as group:
        watching = group.create_task(watchers.run())
        await until(lambda: watchers.connected, "watchers hear")
        async with world.node() as node, watchers.watch(WorkstreamId("ws_1")) as watcher:
            task_id = await node.started(line)
            async with asyncio.timeout(DEADLINE_SECONDS):
                while not heard or heard[-1].state == "in_progress":
                    item = await watcher.next()
                    if isinstance(item, LiveNotice):
                        assert item.frame.startswith(b'{"kind":"task.output",')
                        heard.append(msgspec.json.decode(item.frame, type=TaskOutput))
                        (world.folder / "go").touch()
        watching.cancel()
    await redis.aclose()

    assert heard[0] == TaskOutput(task_id, "in_progress", 0, "low\n")
    assert "".join(said.text for said in heard) == "low\n***\n"
    assert [said.offset for said in heard] == [
        sum(len(said.text) for said in heard[:place]) for place in range(len(heard))
    ]
    assert (heard[-1].task_id, heard[-1].state) == (task_id, "failed")


async def test_closing_a_workstream_stops_its_commands_on_every_node(
    world: TaskWorld, valkey: Valkey
) -> None:
    made = World(world.database, valkey.url)
    closed, open_ = await made.create("go"), await made.create("go")
    line = "trap '' TERM; echo $$ > {}; sleep 300; true"
    async with world.node("marsh-1") as one, world.node("marsh-2") as other:
        await one.call_in(closed, bash.TOOL, command=line.format("a"), background=True)
        await other.call_in(closed, bash.TOOL, command=line.format("b"), background=True)
        await other.call_in(open_, bash.TOOL, command=line.format("c"), background=True)
        stopped = [await one.pid_in(name) for name in ("a", "b")]
        goes_on = await one.pid_in("c")

        await made.do(closed, CloseWorkstream("ines"))

        await until(lambda: not any(map(alive, stopped)), "both nodes stop them")
        tasks = Tasks(world.database)
        await until(
            lambda: {task.state for task in tasks.of(closed)} == {"cancelled"}, "it is marked"
        )
        assert {task.reason for task in tasks.of(closed)} == {"the workstream was closed"}
        assert alive(goes_on)
        assert [task.state for task in tasks.of(open_)] == ["in_progress"]
    await made.redis.aclose()


@pytest.mark.fault("F24")
async def test_a_killed_node_takes_its_commands_with_it_and_another_node_says_so(
    world: TaskWorld, database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    environment = {**process_environment(), "PYTHONPATH": os.pathsep.join(sys.path)}
    tasks = Tasks(world.database)
    pid = world.folder / "pid"
    with subprocess.Popen(
        [sys.executable, "-c", NODE, database_url, str(world.folder)], env=environment
    ) as process:
        await until(lambda: pid.exists() and pid.read_text().endswith("\n"), "the command runs")
        await until(lambda: "begun" in tasks.get("ws_1", "task_1").output, "its output is kept")
        process.send_signal(signal.SIGKILL)
        process.wait()
    shell = int(pid.read_text())
    await until(lambda: not alive(shell), "the command is gone")
    assert tasks.get("ws_1", "task_1").state == "in_progress"

    monkeypatch.setattr(background, "_UNSEEN_SECONDS", 0.0)
    monkeypatch.setattr(background, "_SWEEP_SECONDS", 0.05)
    async with world.node("marsh-2") as node:
        await until(lambda: tasks.get("ws_1", "task_1").state == "failed", "another node marks it")
        lost = await node.tasks("ws_1").get("task_1")

    assert (lost.reason, lost.exit_code, lost.output) == ("node_stopped", None, "begun\n")


@pytest.mark.fault("F11")
async def test_a_node_that_drains_stops_its_commands_each_with_its_mark(world: TaskWorld) -> None:
    async with world.node() as node:
        ids = [
            await node.started(f"echo $$ > pid{number}; echo begun; trap '' TERM; sleep 300; true")
            for number in range(3)
        ]
        processes = [await node.pid_in(f"pid{number}") for number in range(3)]

    assert not any(alive(process) for process in processes)
    tasks = Tasks(world.database)
    found = [tasks.get("ws_1", task_id) for task_id in ids]
    assert [(task.state, task.reason) for task in found] == [("failed", "node_stopped")] * 3
    assert {task.output for task in found} == {"begun\n"}


async def test_a_command_outlives_the_call_that_started_it(world: TaskWorld) -> None:
    async with world.node() as node:
        async with asyncio.TaskGroup() as turn:
            call = turn.create_task(node.started("until [ -e go ]; do sleep 0.01; done; echo on"))
        (world.folder / "go").touch()
        ended = await node.tasks().ended(call.result(), 15.0)

    assert (ended.state, ended.exit_code, ended.output) == ("completed", 0, "on\n")


async def test_a_command_that_somebody_else_declared_lost_is_stopped(world: TaskWorld) -> None:
    async with world.node() as node:
        task_id = await node.started("echo $$ > pid; sleep 300")
        process = await node.pid_in("pid")
        Tasks(world.database).fail_unseen("marsh-9", -60.0, AT)
        await until(lambda: not alive(process), "its node lets go of it")
        kept = await node.tasks().get(task_id)

    assert (kept.state, kept.reason, kept.updated_at) == ("failed", "node_stopped", AT)


async def test_what_cannot_be_started_is_failed_with_the_reason(world: TaskWorld) -> None:
    async with world.node() as node:
        gone = world.folder / "gone"
        started = await node.tasks().start("x", command("true", gone))
        ended = await node.tasks().ended(started.task_id, 15.0)

    assert ended.state == "failed"
    assert ended.reason.startswith("the command cannot be started: ")


async def test_a_node_with_its_hands_full_refuses_and_says_what_to_do(
    world: TaskWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(background, "MOST_RUNNING", 1)
    async with world.node() as node:
        await node.started("sleep 300")
        with pytest.raises(Conflict, match="1 background commands, no more; stop one"):
            await node.tasks().start("x", command("true", world.folder))


async def test_a_node_that_is_stopping_starts_nothing_more(world: TaskWorld) -> None:
    idle = Background(world.database, Redactor(), now)
    with pytest.raises(Conflict, match="this node is stopping"):
        await idle.start(shell_task(), command("true", world.folder))
    with pytest.raises(NotFound):
        Tasks(world.database).get("ws_1", "task_1")


def test_only_the_node_that_runs_a_task_writes_its_output(database: Database) -> None:
    tasks = Tasks(database)
    tasks.add(shell_task())

    assert tasks.beat("task_1", "marsh-2", "forged", 6) is None
    assert tasks.beat("task_1", "marsh-1", "mine\0", 5) == "on"
    tasks.ask_stop("ws_1", "task_1")
    assert tasks.beat("task_1", "marsh-1", None, 5) == "stop"
    assert tasks.get("ws_1", "task_1").output == "mine\ufffd"


def test_a_task_that_is_seen_is_not_declared_lost(database: Database) -> None:
    tasks = Tasks(database)
    tasks.add(shell_task())
    tasks.add(Task("task_2", "ws_1", "plain", "x", AT, AT, "in_progress"))

    assert tasks.fail_unseen("marsh-2", 15.0, AT) == 0
    assert tasks.fail_unseen("marsh-1", -60.0, AT) == 0
    assert tasks.fail_unseen("marsh-2", -60.0, AT) == 1
    assert tasks.get("ws_1", "task_2").state == "in_progress"


def test_a_change_of_what_changed_meanwhile_is_not_written(database: Database) -> None:
    tasks = Tasks(database)
    plain = Task("task_1", "ws_1", "plain", "x", AT, AT)
    tasks.add(plain)

    assert not tasks.put(plain, "in_progress")
    assert tasks.put(plain, "pending")
