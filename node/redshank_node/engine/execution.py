"""Runs started calls: bounded in time, stopped when told, each with one outcome."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Literal

import msgspec

from redshank_node.engine.calls import ReadyCall
from redshank_node.engine.kept_images import KeptImages
from redshank_node.engine.limits_in_force import BatchLimits
from redshank_node.engine.oversize import Keep, replaced
from redshank_node.tools.tool import (
    Artifacts,
    CallContext,
    Prepared,
    Schedules,
    Tasks,
    Tool,
    ToolFinder,
    Workspace,
)
from redshank_shared import clock
from redshank_shared.domain.commands import Command
from redshank_shared.domain.errors import Unavailable
from redshank_shared.domain.events import CallFinished
from redshank_shared.domain.events import Outcome as Ending
from redshank_shared.domain.limits import clamped_seconds, oversize_of
from redshank_shared.domain.pins import Pins
from redshank_shared.vault.redaction import Redactor
from redshank_shared.vault.streaming import RedactedStream, redacted

logger = logging.getLogger(__name__)

_ROOM_SECONDS = 5.0

Show = Callable[[Literal["output"], str, str], None]


class Outcome(msgspec.Struct, frozen=True):
    """A call's result with what it asks for beside."""

    finished: CallFinished
    command: Command | None = None


class Caller(msgspec.Struct, frozen=True):
    """For whom a turn's calls run, what they may look up, where an oversize output is kept, what
    no output may show, whom they may ask (`ask_model`, as a CallContext has it), where the images
    of results are kept, what is pinned when a call begins, the bytes kept for the workstream, its
    background work, what looks through tools that wait.
    """

    workstream_id: str = ""
    owner: str = ""
    schedules: Schedules | None = None
    keep: Keep | None = None
    redactor: Redactor = Redactor()
    ask_model: Callable[[str, str], Awaitable[str]] | None = None
    images: KeptImages | None = None
    pins: Callable[[], Pins] = Pins
    artifacts: Artifacts | None = None
    tasks: Tasks | None = None
    parent: str = ""
    finder: ToolFinder | None = None


class Execution:
    """Runs calls of one turn. A tool's failure is a result; only being fenced off leaves none."""

    def __init__(
        self,
        workspace: Workspace,
        limits: BatchLimits,
        show: Show,
        monotonic: Callable[[], float],
        caller: Caller,
        now_ms: Callable[[], int] = clock.now_ms,
    ) -> None:
        self._caller = caller
        self._now_ms = now_ms
        self._workspace = workspace
        self.limits = limits
        self._show = show
        self._monotonic = monotonic
        self._running: dict[str, asyncio.Task[Outcome]] = {}
        self._stopped = ""

    def begin(self) -> None:
        """A new group of calls starts: what stopped the last one is over."""
        self._stopped = ""

    def stop(self, why: str) -> None:
        """Stop whatever runs or is about to; each call ends with `why` as its result."""
        self._stopped = why
        for task in self._running.values():
            task.cancel()

    async def run(self, ready: ReadyCall, group: asyncio.TaskGroup) -> Outcome:
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
            outcome = await task
        except asyncio.CancelledError:
            if not self._stopped or not task.cancelled():
                raise
            outcome = _finished(call_id, ready.call.asked.tool, "cancelled", self._stopped)
        finally:
            self._running.pop(call_id, None)
        finished = msgspec.structs.replace(
            outcome.finished,
            tool=ready.call.asked.tool,
            duration_ms=round((self._monotonic() - started) * 1000),
        )
        return Outcome(finished, outcome.command)

    async def _result(self, call_id: str, tool: Tool, prepared: Prepared) -> Outcome:
        limits = self.limits.now
        shown = RedactedStream(self._caller.redactor)
        most_seconds = clamped_seconds(limits, tool.timeout_seconds)
        context = CallContext(
            call_id=call_id,
            workspace=self._workspace,
            emit=lambda text: self._show("output", shown.feed(text), call_id),
            max_seconds=_with_room(limits.max_timeout_ms / 1000),
            workstream_id=self._caller.workstream_id,
            parent=self._caller.parent,
            owner=self._caller.owner,
            now_seconds=self._now_ms() / 1000,
            schedules=self._caller.schedules,
            ask_model=self._caller.ask_model,
            max_sandbox=limits.max_sandbox,
            pins=self._caller.pins(),
            artifacts=self._caller.artifacts,
            tasks=self._caller.tasks,
            finder=self._caller.finder,
        )
        try:
            async with asyncio.timeout(most_seconds):
                result = await tool.run(prepared, context)
        except TimeoutError:
            said = f"timed out after {most_seconds:g} s and was stopped"
            return _finished(call_id, tool.name, "timeout", said)
        except Unavailable as error:
            said = self._caller.redactor.of_output(error.detail)
            return _finished(call_id, tool.name, "error", said)
        except Exception:  # noqa: BLE001 - a tool's fault becomes its call's result
            logger.exception("%s failed from inside", tool.name)
            said = f"{tool.name} failed from inside; the node's log has the cause"
            return _finished(call_id, tool.name, "error", said)
        finished = CallFinished(
            call_id=call_id,
            tool=tool.name,
            is_error=result.is_error,
            output=_storable(await redacted(self._caller.redactor, result.output)),
            outcome=result.outcome,
            truncated=result.truncated,
            seen=result.seen,
        )
        if oversize := oversize_of(limits, finished.output):
            finished = await replaced(finished, oversize, self._caller.keep)
        if result.images and self._caller.images is not None:
            kept = await self._caller.images.keep(result.images)
            finished = msgspec.structs.replace(finished, images=kept)
        return Outcome(finished, result.command)


def _with_room(seconds: float) -> float:
    """What a tool that stops by itself may take, so that it still says what it has before it is
    stopped from outside.
    """
    return max(seconds - _ROOM_SECONDS, seconds / 2)


def _finished(call_id: str, tool: str, ending: Ending, output: str) -> Outcome:
    return Outcome(CallFinished(call_id, tool, is_error=True, output=output, outcome=ending))


def _storable(text: str) -> str:
    """NUL and lone surrogates cannot be stored or sent everywhere (F43): shown as the replacement
    character.
    """
    if text.isascii() and "\0" not in text:
        return text
    return text.encode(errors="replace").decode().replace("\0", "�")
