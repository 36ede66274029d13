"""Runs commands beyond the turns that started them, as long as their node lives."""

import asyncio
import logging
from collections.abc import Callable

import msgspec

from redshank_node.engine.live_task import LiveTask
from redshank_node.tools.support.commands.output import GatheredOutput
from redshank_node.tools.support.commands.processes import Command, Ended, run_command
from redshank_node.tools.tool import BackgroundCommand
from redshank_shared.domain.errors import Conflict, Unavailable
from redshank_shared.domain.tasks import NODE_STOPPED, Task, ended_state
from redshank_shared.queue.bus import Bus
from redshank_shared.stores.database import Database
from redshank_shared.stores.tasks import Tasks
from redshank_shared.vault.redaction import Redactor
from redshank_shared.vault.streaming import redacted
from redshank_shared.waiting import happened

logger = logging.getLogger(__name__)

MOST_RUNNING = 64
_OUTPUT_BYTES = 262144
# What is written while it runs stays smaller: it is written anew each time.
_SPOOLED_BYTES = 65536
_BEAT_SECONDS = 1.0
_UNSEEN_SECONDS = 15.0
_SWEEP_SECONDS = 5.0


class Running:
    """A command at work. `ended` is set when its last word is written."""

    def __init__(self, task: Task, command: BackgroundCommand, live: LiveTask) -> None:
        self.task = task
        self.command = command
        self.live = live
        self.output = GatheredOutput(_OUTPUT_BYTES)
        self.ended = asyncio.Event()
        self.wanted: Task | None = None
        self.due = asyncio.Event()
        self.spooled_bytes = -1

    def stop(self, state: Task) -> None:
        """Have it killed; this is what it ends as."""
        if self.wanted is None:
            self.wanted = state
        self.due.set()


class Background:
    """The commands of one node. What no node says to run any more is marked as stopped with it.
    `bus`: where watchers are shown what they write, nowhere without one.
    """

    def __init__(
        self,
        database: Database,
        redactor: Redactor,
        now: Callable[[], str],
        bus: Bus | None = None,
    ) -> None:
        self.node_id = ""
        self._bus = bus
        self._database = database
        self._tasks = Tasks(database)
        self._redactor = redactor
        self._now = now
        self._running: dict[str, Running] = {}
        self._group: asyncio.TaskGroup | None = None

    async def run(self, node_id: str, stop: asyncio.Event) -> None:
        """Until `stop`: then every command is killed, each with its mark (K-24)."""
        self.node_id = node_id
        async with asyncio.TaskGroup() as group:
            self._group = group
            while not await happened(stop, _SWEEP_SECONDS):
                await self._mark_unseen()
            self._group = None
            for running in self._running.values():
                running.stop(stopped_with_node(running.task))

    async def start(self, task: Task, command: BackgroundCommand) -> None:
        """Keep the task, run its command. Conflict where the node stops or has its hands full."""
        if self._group is None:
            raise Conflict("this node is stopping; start the command again in the next turn")
        if len(self._running) >= MOST_RUNNING:
            raise Conflict(
                f"this node runs {MOST_RUNNING} background commands, no more; "
                "stop one with task_stop, or wait"
            )
        running = Running(task, command, LiveTask(self._bus, task, self._redactor))
        self._running[task.task_id] = running
        try:
            await self._database.run(self._tasks.add, task)
        except BaseException:
            del self._running[task.task_id]
            raise
        self._group.create_task(self._carry(running))

    def find(self, task_id: str) -> Running | None:
        """The command, if it runs here."""
        return self._running.get(task_id)

    async def _mark_unseen(self) -> None:
        try:
            lost = await self._database.run(
                self._tasks.fail_unseen, self.node_id, _UNSEEN_SECONDS, self._now()
            )
        except Unavailable as error:
            logger.warning("background tasks are not looked after: %s", error.detail)
            return
        if lost:
            logger.warning("%d background tasks died with their node", lost)

    async def _carry(self, running: Running) -> None:
        task_id = running.task.task_id
        try:
            task = await self._to_its_end(running)
            await self._finish(task)
            if task is not None:
                await running.live.end(task)
        except Exception:  # noqa: BLE001 - one command's fault must not end the others
            logger.exception("background task %s is not looked after", task_id)
        finally:
            running.ended.set()
            del self._running[task_id]

    async def _to_its_end(self, running: Running) -> Task | None:
        """The task as it ended; None where it is another's by now."""
        outcome: Task | None
        try:
            async with asyncio.TaskGroup() as group:
                process = group.create_task(self._process(running))
                process.add_done_callback(lambda _: running.due.set())
                group.create_task(running.live.run())
                await self._watched(running, process)
                running.live.finish()
        except* OSError as failed:
            said = f"the command cannot be started: {failed.exceptions[0]}"
            outcome = msgspec.structs.replace(running.task, state="failed", reason=said)
        else:
            ended = None if process.cancelled() else process.result()
            outcome = _outcome(running, ended)
        return None if outcome is None else await self._with_output(running, outcome)

    async def _watched(self, running: Running, process: asyncio.Task[Ended]) -> None:
        """Until the command has ended, or was told to."""
        while not process.done():
            await happened(running.due, _BEAT_SECONDS)
            if not process.done() and not await self._beat(running):
                process.cancel()
                break

    async def _process(self, running: Running) -> Ended:
        command = running.command
        return await run_command(
            Command(
                argv=command.argv,
                folder=command.folder,
                environment=command.environment,
                timeout_seconds=command.timeout_seconds,
                max_output_bytes=_OUTPUT_BYTES,
                confine=command.confine,
            ),
            running.live.add,
            running.output,
        )

    async def _beat(self, running: Running) -> bool:
        """Say that it runs, spool what it wrote; whether it is to go on."""
        if running.wanted is not None:
            return False
        total = running.output.total_bytes
        text = None
        if total != running.spooled_bytes:
            text = await self._text(running, _OUTPUT_BYTES - _SPOOLED_BYTES)
        task = running.task
        try:
            wish = await self._database.run(
                self._tasks.beat, task.task_id, self.node_id, text, total
            )
        except Unavailable as error:
            logger.warning("output of %s is not kept yet: %s", task.task_id, error.detail)
            return True
        running.spooled_bytes = total
        match wish:
            case "stop":
                running.stop(stopped_on_request(task))
            case "closed":
                running.stop(stopped_with_workstream(task))
            case None:
                logger.warning("background task %s is another node's or gone", task.task_id)
                running.stop(task)
        return not running.due.is_set()

    async def _text(self, running: Running, reserve_bytes: int = 0) -> str:
        return await redacted(self._redactor, running.output.text(reserve_bytes)[0])

    async def _with_output(self, running: Running, task: Task) -> Task:
        return msgspec.structs.replace(
            task,
            output=await self._text(running),
            output_bytes=running.output.total_bytes,
            updated_at=self._now(),
        )

    async def _finish(self, task: Task | None) -> None:
        """Write how it ended, for as long as the store is away and the node is not."""
        while task is not None:
            try:
                await self._database.run(self._tasks.end, task)
            except Unavailable as error:
                logger.warning("the end of %s is not kept yet: %s", task.task_id, error.detail)
                if self._group is None:
                    return
                await asyncio.sleep(_BEAT_SECONDS)
            else:
                return


def stopped_on_request(task: Task) -> Task:
    """The task as somebody's stop leaves it."""
    return msgspec.structs.replace(task, state="cancelled", reason="stopped on request")


def stopped_with_workstream(task: Task) -> Task:
    """The task as the end of its workstream leaves it."""
    return msgspec.structs.replace(task, state="cancelled", reason="the workstream was closed")


def stopped_with_node(task: Task) -> Task:
    """The task as its node's stop leaves it."""
    return msgspec.structs.replace(task, state="failed", reason=NODE_STOPPED)


def _outcome(running: Running, ended: Ended | None) -> Task | None:
    """What the command's end makes of its task; None where it was not the node's any more."""
    task = running.task
    if ended is None:
        wanted = running.wanted
        return None if wanted is task else wanted
    if ended.timed_out:
        seconds = running.command.timeout_seconds
        said = f"stopped after {seconds:g} s"
        return msgspec.structs.replace(task, state="failed", exit_code=ended.code, reason=said)
    code = ended.code
    said = "" if code == 0 else "its supervisor was killed" if code is None else f"exit code {code}"
    if code is not None and code < 0:
        said = f"ended by signal {-code}"
    return msgspec.structs.replace(task, state=ended_state(code), exit_code=code, reason=said)
