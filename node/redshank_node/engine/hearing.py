"""Hears hooks on the calls of one turn's batch."""

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from typing import Any, TypeVar

import msgspec

from redshank_node.engine.calls import Pipeline, ReadyCall, denied_for, is_open, with_updates
from redshank_node.engine.hook_asking import HookQuestion
from redshank_node.engine.hooks import AskAgent, Heard
from redshank_node.tools.tool import Tool
from redshank_shared.domain.digests import input_digest
from redshank_shared.domain.plan import Decide, plan
from redshank_shared.domain.workstream import Call, Workstream
from redshank_shared.permissions.decision import Verdict
from redshank_shared.permissions.hook_answers import combined

Gathered = TypeVar("Gathered")


class Hearing:
    """What hooks say is gathered outside the append, so that a slow one holds up its own turn
    alone; a hearing can be stopped, a stopped one leaves nothing in the log.
    """

    def __init__(self, pipeline: Pipeline, ask_agent: AskAgent) -> None:
        self.pipeline = pipeline
        self._ask_agent = ask_agent
        self._task: asyncio.Task[Any] | None = None
        self._of_use: Callable[[Workstream], bool] = _leaves_to_decide

    def stop(self) -> None:
        """Stop the hearing in hand, if there is one."""
        if self._task is not None:
            self._task.cancel()

    def stop_if_void(self, state: Workstream) -> None:
        """Stop it if this newer state has no use for what it brings."""
        if not self._of_use(state):
            self.stop()

    def concerns(self, state: Workstream, batch: Sequence[ReadyCall]) -> bool:
        """Whether any hook is to be heard on this batch; free where none is declared."""
        return bool(self.pipeline.hooks.declared) and any(
            self.pipeline.hooks_about(state, ready)[1] for ready in batch
        )

    async def hear(
        self, state: Workstream, batch: Sequence[ReadyCall], group: asyncio.TaskGroup
    ) -> dict[str, Heard] | None:
        """What the hooks said, by call id; None where the hearing was stopped."""
        if not self.concerns(state, batch):
            return {}
        return await self._unless_stopped(self._heard(state, batch), _leaves_to_decide, group)

    async def advised(
        self, state: Workstream, batch: Sequence[ReadyCall], group: asyncio.TaskGroup
    ) -> list[ReadyCall]:
        """The batch; a call that a rule denies by now has the words of the hooks on denials, unless
        they were stopped (K-41, O13).
        """

        def leaves_some(newer: Workstream) -> bool:
            return not newer.stopping and any(
                is_open(newer, ready.call.asked.call_id) for ready in batch
            )

        advised = await self._unless_stopped(self._advised(state, batch), leaves_some, group)
        return list(batch) if advised is None else advised

    async def _unless_stopped(
        self,
        hearing: Coroutine[Any, Any, Gathered],
        of_use: Callable[[Workstream], bool],
        group: asyncio.TaskGroup,
    ) -> Gathered | None:
        self._of_use = of_use
        task = self._task = group.create_task(hearing)
        try:
            await asyncio.wait((task,))
            return None if task.cancelled() else task.result()
        finally:
            task.cancel()
            self._task = None

    async def _advised(self, state: Workstream, batch: Sequence[ReadyCall]) -> list[ReadyCall]:
        advised: list[ReadyCall] = []
        for ready in batch:
            if ready.tool is not None and ready.denial is not None and ready.advisers:
                question = self._question(state, ready.call, ready.tool, ready.denial)
                heard = await self.pipeline.hooks.ask(ready.advisers, question, self._ask_agent)
                denial = combined(ready.denial, heard.answers)
                ready = msgspec.structs.replace(ready, denial=denial, refusal=denied_for(denial))
            advised.append(ready)
        return advised

    async def _heard(self, state: Workstream, batch: Sequence[ReadyCall]) -> dict[str, Heard]:
        """One call after another: rules that a hook updates hold for the calls behind (K-43)."""
        heard: dict[str, Heard] = {}
        for ready in batch:
            verdict, hooks = self.pipeline.hooks_about(state, ready)
            if ready.tool is None or verdict is None or not hooks:
                continue
            question = self._question(state, ready.call, ready.tool, verdict)
            one = await self.pipeline.hooks.ask(hooks, question, self._ask_agent)
            heard[ready.call.asked.call_id] = one
            state = with_updates(state, ready.call, one)
        return heard

    def _question(
        self, state: Workstream, call: Call, tool: Tool, verdict: Verdict
    ) -> HookQuestion:
        digest = input_digest(tool.name, call.arguments)
        return HookQuestion(
            event="permission_denied" if verdict.decision == "deny" else "permission_request",
            hook="",
            idempotency_key=f"{call.asked.call_id}:{digest}",
            workstream_id=state.id,
            owner=state.created.owner,
            call_id=call.asked.call_id,
            tool=call.asked.tool,
            canonical=tool.name,
            effect=tool.effect,
            input=_raw(call.arguments),
            input_digest=digest,
            decision=verdict.decision,
            base_decision=verdict.base_decision,
            mode=state.mode,
            pattern=verdict.pattern,
            scope=verdict.scope,
            why=verdict.why,
            workspace=str(self.pipeline.workspace.root),
        )


def _leaves_to_decide(state: Workstream) -> bool:
    return isinstance(plan(state), Decide)


def _raw(arguments: str) -> msgspec.Raw:
    """Arguments that are no JSON by themselves are sent as a JSON text."""
    try:
        msgspec.json.decode(arguments)
    except msgspec.DecodeError:
        return msgspec.Raw(msgspec.json.encode(arguments))
    return msgspec.Raw(arguments.encode(errors="replace"))
