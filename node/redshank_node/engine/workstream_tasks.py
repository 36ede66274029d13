"""What the tools of one workstream do with its background tasks."""

import asyncio
from collections.abc import Callable

from redshank_node.engine.background import Background, stopped_on_request
from redshank_node.tools.tool import BackgroundCommand
from redshank_shared import clock
from redshank_shared.domain.errors import Conflict
from redshank_shared.domain.tasks import ENDED, Task, TaskChange, changed, checked_deletable
from redshank_shared.stores.database import Database
from redshank_shared.stores.tasks import Tasks
from redshank_shared.waiting import happened

MOST_TASKS = 500
_STOP_SECONDS = 10.0
_LOOK_SECONDS = 0.5


class WorkstreamTasks:
    """The tasks that a workstream has, wherever they run."""

    def __init__(
        self,
        database: Database,
        background: Background,
        workstream_id: str,
        now: Callable[[], str],
        new_id: Callable[[str], str],
    ) -> None:
        self._database = database
        self._background = background
        self._workstream_id = workstream_id
        self._tasks = Tasks(database)
        self._now = now
        self._new_id = new_id

    async def create(self, subject: str, description: str) -> Task:
        """A new task of record."""
        await self._check_room()
        at = self._now()
        task = Task(
            self._new_id("task"),
            self._workstream_id,
            "plain",
            subject,
            at,
            at,
            "pending",
            description,
        )
        await self._database.run(self._tasks.add, task)
        return task

    async def start(self, subject: str, command: BackgroundCommand) -> Task:
        """The command, running on this node until it ends, is stopped, or the node is."""
        await self._check_room()
        at = self._now()
        task = Task(
            task_id=self._new_id("task"),
            workstream_id=self._workstream_id,
            kind="shell",
            subject=subject,
            created_at=at,
            updated_at=at,
            state="in_progress",
            command=command.shown,
            node_id=self._background.node_id,
        )
        await self._background.start(task, command)
        return task

    async def all(self) -> list[Task]:
        """Every task, oldest first, without what they wrote."""
        return await self._database.run(self._tasks.of, self._workstream_id)

    async def get(self, task_id: str) -> Task:
        """The task with what it wrote so far."""
        return await self._database.run(self._tasks.get, self._workstream_id, task_id)

    async def ended(self, task_id: str, within_seconds: float) -> Task:
        """The task once it has ended, or as it is after so many seconds."""
        end = clock.monotonic() + within_seconds
        task = await self.get(task_id)
        while task.state not in ENDED and (left := end - clock.monotonic()) > 0:
            running = self._background.find(task_id)
            if running is not None:
                await happened(running.ended, left)
            else:
                await asyncio.sleep(min(_LOOK_SECONDS, left))
            task = await self.get(task_id)
        return task

    async def change(self, task_id: str, change: TaskChange) -> Task:
        """The task as it is after the change; Invalid where nothing is to change."""
        task = await self.get(task_id)
        after = changed(task, change, self._now())
        if not await self._database.run(self._tasks.put, after, task.state):
            raise Conflict(f"{task_id} changed meanwhile; look at it with task_get, then try again")
        return after

    async def stop(self, task_id: str) -> Task:
        """The task, cancelled: a command that ran is killed with all that it started."""
        task = await self.get(task_id)
        if task.state in ENDED:
            raise Conflict(f"{task_id} is {task.state} already; there is nothing to stop")
        if task.kind == "plain":
            return await self.change(task_id, TaskChange(state="cancelled"))
        running = self._background.find(task_id)
        if running is not None:
            running.stop(stopped_on_request(running.task))
        else:
            await self._database.run(self._tasks.ask_stop, self._workstream_id, task_id)
        return await self.ended(task_id, _STOP_SECONDS)

    async def delete(self, task_id: str) -> None:
        """Forget it, with what it wrote."""
        checked_deletable(await self.get(task_id))
        await self._database.run(self._tasks.delete, self._workstream_id, task_id)

    async def _check_room(self) -> None:
        if await self._database.run(self._tasks.count, self._workstream_id) >= MOST_TASKS:
            raise Conflict(
                f"this workstream has {MOST_TASKS} tasks, no more; task_delete those that are over"
            )
