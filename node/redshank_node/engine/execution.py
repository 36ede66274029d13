"""Runs started calls: bounded in time, stopped when told, each with one outcome."""

import asyncio
import logging
from collections.abc import Callable
from typing import Literal

import msgspec

from redshank_node.engine.calls import ReadyCall
from redshank_node.tools.tool import CallContext, Prepared, Tool, Workspace
from redshank_shared.domain.events import CallFinished, Outcome
from redshank_shared.domain.limits import Limits

logger = logging.getLogger(__name__)

Show = Callable[[Literal["output"], str, str], None]


class Execution:
    """Runs calls of one turn. A tool's failure is a result; only being fenced off leaves none."""

    def __init__(
        self,
        workspace: Workspace,
        limits: Limits,
        show: Show,
        monotonic: Callable[[], float],
    ) -> None:
        self._workspace = workspace
        self._limits = limits
        self._show = show
        self._monotonic = monotonic
        self._running: dict[str, asyncio.Task[CallFinished]] = {}
        self._stopped = ""

    def begin(self) -> None:
        """A new group of calls starts: what stopped the last one is over."""
        self._stopped = ""

    def stop(self, why: str) -> None:
        """Stop whatever runs or is about to; each call ends with `why` as its result."""
        self._stopped = why
        for task in self._running.values():
            task.cancel()

    async def run(self, ready: ReadyCall, group: asyncio.TaskGroup) -> CallFinished:
        """The outcome of one call, whatever happens to it."""
        assert ready.tool is not None
        assert ready.prepared is not None
        call_id = ready.call.asked.call_id
        started = self._monotonic()
        if self._stopped:
            return _finished(call_id, ready.call.asked.tool, "cancelled", self._stopped)
        task = group.create_task(self._result(call_id, ready.tool, ready.prepared))
        self._running[call_id] = task
        try:
            finished = await task
        except asyncio.CancelledError:
            if not self._stopped or not task.cancelled():
                raise
            finished = _finished(call_id, ready.call.asked.tool, "cancelled", self._stopped)
        finally:
            self._running.pop(call_id, None)
        return msgspec.structs.replace(
            finished,
            tool=ready.call.asked.tool,
            duration_ms=round((self._monotonic() - started) * 1000),
        )

    async def _result(self, call_id: str, tool: Tool, prepared: Prepared) -> CallFinished:
        context = CallContext(
            call_id=call_id,
            workspace=self._workspace,
            emit=lambda text: self._show("output", text, call_id),
            max_output_bytes=min(262144, self._limits.max_output_bytes),
        )
        try:
            async with asyncio.timeout(tool.timeout_seconds):
                result = await tool.run(prepared, context)
        except TimeoutError:
            said = f"timed out after {tool.timeout_seconds:g} s and was stopped"
            return _finished(call_id, tool.name, "timeout", said)
        except Exception:  # noqa: BLE001 - a tool's fault becomes its call's result
            logger.exception("%s failed from inside", tool.name)
            said = f"{tool.name} failed from inside; the node's log has the cause"
            return _finished(call_id, tool.name, "error", said)
        return CallFinished(
            call_id=call_id,
            tool=tool.name,
            is_error=result.is_error,
            output=_storable(result.output),
            outcome=result.outcome,
            truncated=result.truncated,
        )


def _finished(call_id: str, tool: str, outcome: Outcome, output: str) -> CallFinished:
    return CallFinished(call_id, tool, is_error=True, output=output, outcome=outcome)


def _storable(text: str) -> str:
    """NUL and lone surrogates cannot be stored or sent everywhere (F43): shown as the replacement
    character.
    """
    if text.isascii() and "\0" not in text:
        return text
    return text.encode(errors="replace").decode().replace("\0", "�")
