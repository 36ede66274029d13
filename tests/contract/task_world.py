"""Background tasks of a node over a real database, with tools called as the engine calls them."""

import asyncio
import contextlib
import os
import pathlib
import re
import secrets
from collections.abc import AsyncIterator, Callable, Mapping
from typing import Any

from redshank_node.engine.background import Background
from redshank_node.engine.workstream_tasks import WorkstreamTasks
from redshank_node.tools.builtin import bash
from redshank_node.tools.tool import CallContext, Result, Tool, Workspace
from redshank_shared import clock
from redshank_shared.domain.ids import new_id
from redshank_shared.queue.bus import Bus
from redshank_shared.stores.database import Database
from redshank_shared.vault.redaction import Redactor

WORKSTREAM = "ws_1"
DEADLINE_SECONDS = 30.0


def now() -> str:
    return clock.rfc3339(clock.now_utc())


def fresh_id(prefix: str) -> str:
    return new_id(prefix, clock.now_ms(), secrets.token_bytes(8))


class TaskWorld:
    """`folder` is the workspace; `nodes` run until the test ends, or are stopped by it."""

    def __init__(self, database: Database, folder: pathlib.Path) -> None:
        self.database = database
        self.folder = folder
        self.redactor = Redactor()
        self.bus: Bus | None = None

    @contextlib.asynccontextmanager
    async def node(self, name: str = "marsh-1") -> AsyncIterator["TaskNode"]:
        """A node's background, stopped as by a drain when the block ends."""
        stop = asyncio.Event()
        background = Background(self.database, self.redactor, now, self.bus)
        async with asyncio.TaskGroup() as group:
            group.create_task(background.run(name, stop))
            await asyncio.sleep(0)
            try:
                yield TaskNode(self, background)
            finally:
                stop.set()


class TaskNode:
    """One node, its tools called for one workstream."""

    def __init__(self, world: TaskWorld, background: Background) -> None:
        self.world = world
        self.background = background

    def tasks(self, workstream: str = WORKSTREAM) -> WorkstreamTasks:
        return WorkstreamTasks(self.world.database, self.background, workstream, now, fresh_id)

    async def call(
        self, tool: Tool, options: Mapping[str, str] | None = None, **said: Any
    ) -> Result:
        """Prepare and run it for the workstream; `options` is what a profile presets."""
        return await self.call_in(WORKSTREAM, tool, options, **said)

    async def call_in(
        self, workstream: str, tool: Tool, options: Mapping[str, str] | None = None, **said: Any
    ) -> Result:
        """The same for any workstream."""
        workspace = Workspace(self.world.folder, options=options or {})
        prepared = await asyncio.to_thread(tool.prepare, said, workspace)
        context = CallContext("call_1", workspace, lambda _: None, tasks=self.tasks(workstream))
        return await tool.run(prepared, context)

    async def started(self, command: str, **said: Any) -> str:
        """The id of a command that runs in the background."""
        result = await self.call(bash.TOOL, command=command, background=True, **said)
        found = re.search(r"task_\w+", result.output)
        assert found is not None, result.output
        return found[0]

    async def pid_in(self, name: str) -> int:
        """The process id that a command writes into a file of the workspace."""
        file = self.world.folder / name
        await until(lambda: file.exists() and file.read_text().endswith("\n"), f"{name} is written")
        return int(file.read_text())


async def until(met: Callable[[], bool], what: str) -> None:
    """Wait for something that must come to be."""
    end = clock.monotonic() + DEADLINE_SECONDS
    while not met():
        assert clock.monotonic() < end, f"never came to be: {what}"
        await asyncio.sleep(0.01)


def alive(process: int) -> bool:
    """Whether the process runs."""
    try:
        status = pathlib.Path(f"/proc/{process}/stat").read_text()
    except OSError:
        return False
    return status.rpartition(")")[2].split()[0] != "Z" and os.path.exists(f"/proc/{process}")
