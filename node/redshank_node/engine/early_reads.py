"""Runs reads while the answer that asks for them is still to be recorded.

A read changes nothing: where its node dies it is run again, so that its start needs no record
before it. What ends at once is recorded with the answer, in one append instead of two.
"""

import asyncio
from collections.abc import Sequence

from redshank_node.engine.calls import ReadyCall
from redshank_node.engine.execution import Execution, Outcome

_AT_ONCE_SECONDS = 0.02


class EarlyReads:
    """The reads that one answer asked for; those of the answer before are over."""

    def __init__(self, execution: Execution) -> None:
        self._execution = execution
        self._tasks: dict[str, asyncio.Task[Outcome]] = {}

    async def begin(self, reads: Sequence[ReadyCall], group: asyncio.TaskGroup) -> None:
        """Start them; return when all have ended, after 20 ms at the latest."""
        self._execution.begin()
        self._tasks = {
            ready.call.asked.call_id: group.create_task(self._execution.run(ready, group))
            for ready in reads
        }
        await asyncio.wait(self._tasks.values(), timeout=_AT_ONCE_SECONDS)

    def ended(self) -> dict[str, Outcome]:
        """The outcomes that are there, by call id; those that command something besides are
        recorded by whoever takes them, since a command may be refused.
        """
        done = {call_id: task.result() for call_id, task in self._tasks.items() if task.done()}
        return {call_id: outcome for call_id, outcome in done.items() if outcome.command is None}

    def take(self, call_id: str) -> asyncio.Task[Outcome] | None:
        """The read that goes on for this call, now the caller's to wait for."""
        return self._tasks.pop(call_id, None)

    def drop(self) -> None:
        """Stop what nobody took: its answer was not recorded."""
        for task in self._tasks.values():
            task.cancel()
        self._tasks = {}
