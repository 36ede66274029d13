"""Shows what a background command writes to those who watch its workstream."""

import asyncio
import logging

from redshank_node.tools.support.commands.latest_lines import LatestLines
from redshank_shared.domain.errors import Unavailable
from redshank_shared.domain.ids import WorkstreamId
from redshank_shared.domain.tasks import Task
from redshank_shared.queue.bus import Bus
from redshank_shared.queue.live import TaskOutput, encode_task_output
from redshank_shared.vault.redaction import Redactor
from redshank_shared.vault.streaming import RedactedStream
from redshank_shared.waiting import happened

logger = logging.getLogger(__name__)

# Many commands may run here for a day: what their output costs the node must stay small.
_MOST_CHARACTERS = 16384
_GATHER_SECONDS = 0.25


class LiveTask:
    """One command's output in progress. To be shown and forgotten: what is kept of it, task_output
    has. Without a bus nothing is shown.
    """

    def __init__(self, bus: Bus | None, task: Task, redactor: Redactor) -> None:
        self._bus = bus
        self._task = task
        self._stream = RedactedStream(redactor)
        self._waiting = LatestLines(_MOST_CHARACTERS)
        self._offset = 0
        self._came = asyncio.Event()
        self._over = asyncio.Event()

    def add(self, text: str) -> None:
        """A piece came. Returns at once; `run` shows it."""
        self._waiting.add(text)
        self._came.set()

    async def run(self) -> None:
        """Show what comes, until `finish`."""
        while not self._over.is_set():
            await self._came.wait()
            self._came.clear()
            text = self._stream.feed(self._waiting.take())
            if text:
                await self._show(text, self._task.state)
            await happened(self._over, _GATHER_SECONDS)

    def finish(self) -> None:
        """Nothing more comes: let `run` end."""
        self._over.set()
        self._came.set()

    async def end(self, task: Task) -> None:
        """Show what was kept back, with the state that the task has now."""
        text = self._stream.feed(self._waiting.take()) + self._stream.end()
        await self._show(text, task.state)

    async def _show(self, text: str, state: str) -> None:
        if self._bus is None:
            return
        said = TaskOutput(self._task.task_id, state, self._offset, text)
        self._offset += len(text)
        try:
            workstream = WorkstreamId(self._task.workstream_id)
            await self._bus.publish_notice(workstream, encode_task_output(said))
        except Unavailable as error:
            logger.debug("output of %s was not shown: %s", self._task.task_id, error.detail)
