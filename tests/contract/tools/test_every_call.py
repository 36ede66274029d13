"""Whatever the tool, its call ends in time, stops when told, is bounded, shows no secret."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import msgspec
import pytest

from redshank_node.engine.calls import ReadyCall
from redshank_node.engine.execution import Caller, Execution
from redshank_node.engine.limits_in_force import BatchLimits, LimitsInForce
from redshank_node.tools.catalog import BUILTIN
from redshank_node.tools.tool import CallContext, Prepared, Result, Tool, Workspace
from redshank_shared import clock
from redshank_shared.domain.events import AskedCall, CallFinished, Preview
from redshank_shared.domain.limits import Limits
from redshank_shared.domain.workstream import Call
from redshank_shared.vault.redaction import Redactor

SECRET = "sk-marsh-0123456789abcdef"
every_tool = pytest.mark.parametrize("tool", BUILTIN, ids=lambda tool: tool.name)
Run = Callable[[Prepared, CallContext], Awaitable[Result]]


class Ran:
    """One call of a tool that does something else, carried out as any call is."""

    def __init__(self, tool: Tool, run: Run, limits: Limits | None = None) -> None:
        self.shown: list[str] = []
        self.kept: list[bytes] = []
        in_force = LimitsInForce(limits or Limits(), nothing_stored, clock.monotonic)
        caller = Caller(keep=self._keep, redactor=Redactor([SECRET]))
        self.execution = Execution(
            Workspace(Path("/")),
            BatchLimits(in_force),
            lambda _, text, __: self.shown.append(text),
            clock.monotonic,
            caller,
        )
        asked = AskedCall("call_1", tool.name, "{}", "p1")
        does = msgspec.structs.replace(tool, run=run)
        self._ready = ReadyCall(Call(asked, "{}"), does, Prepared({}, Preview("x")))

    async def result(self) -> CallFinished:
        async with asyncio.timeout(30), asyncio.TaskGroup() as group:
            return (await self.execution.run(self._ready, group)).finished

    async def _keep(self, body: bytes) -> str:
        self.kept.append(body)
        return "sha256:0"


async def nothing_stored() -> Limits | None:
    return None


async def for_ever(_: Prepared, __: CallContext) -> Result:
    await asyncio.Event().wait()
    raise AssertionError


@pytest.mark.req("K-82")
@every_tool
async def test_a_call_that_goes_on_for_ever_is_stopped_in_time(tool: Tool) -> None:
    finished = await Ran(tool, for_ever, Limits(max_timeout_ms=30)).result()

    assert (finished.outcome, finished.is_error) == ("timeout", True)
    assert finished.output == "timed out after 0.03 s and was stopped"


@every_tool
async def test_a_call_that_is_told_to_stop_ends_with_the_reason(tool: Tool) -> None:
    begun = asyncio.Event()

    async def run(prepared: Prepared, context: CallContext) -> Result:
        begun.set()
        return await for_ever(prepared, context)

    ran = Ran(tool, run)
    async with asyncio.TaskGroup() as group:
        task = group.create_task(ran.result())
        await begun.wait()
        ran.execution.stop("stopped by ines")
    assert (task.result().outcome, task.result().output) == ("cancelled", "stopped by ines")


@pytest.mark.req("K-81")
@every_tool
async def test_an_output_beyond_the_limit_is_replaced_and_kept(tool: Tool) -> None:
    async def run(_: Prepared, __: CallContext) -> Result:
        return Result("a" * 5000)

    ran = Ran(tool, run, Limits(max_output_bytes=4096))
    finished = await ran.result()

    assert finished.is_error
    assert '"quota":"max_output_bytes"' in finished.output
    assert ran.kept == [b"a" * 5000]


@pytest.mark.fault("F13")
@every_tool
async def test_no_secret_is_in_a_result_nor_in_what_watchers_see(tool: Tool) -> None:
    async def run(_: Prepared, context: CallContext) -> Result:
        context.emit(f"key {SECRET} ")
        return Result(f"key {SECRET}")

    ran = Ran(tool, run)
    finished = await ran.result()

    assert SECRET not in finished.output
    assert SECRET not in "".join(ran.shown)


@every_tool
async def test_a_tool_that_breaks_leaves_a_result_that_says_so(
    tool: Tool, caplog: pytest.LogCaptureFixture
) -> None:
    async def run(_: Prepared, __: CallContext) -> Result:
        raise RuntimeError("broken")

    finished = await Ran(tool, run).result()

    assert (finished.outcome, finished.is_error) == ("error", True)
    assert "failed from inside" in finished.output
    assert any(record.exc_info for record in caplog.records)
