"""Hears hooks on the calls of one turn's batch before it is decided."""

import asyncio
from collections.abc import Sequence

import msgspec

from redshank_node.engine.calls import Pipeline, ReadyCall, with_updates
from redshank_node.engine.hook_asking import HookQuestion
from redshank_node.engine.hooks import Heard
from redshank_node.tools.tool import Tool
from redshank_shared.domain.digests import input_digest
from redshank_shared.domain.plan import Decide, plan
from redshank_shared.domain.workstream import Call, Workstream
from redshank_shared.permissions.decision import Verdict


class Hearing:
    """What hooks say is gathered outside the append, so that a slow one holds up its own turn
    alone; a hearing can be stopped, a stopped one leaves nothing in the log.
    """

    def __init__(self, pipeline: Pipeline) -> None:
        self._pipeline = pipeline
        self._task: asyncio.Task[dict[str, Heard]] | None = None

    def stop(self) -> None:
        """Stop the hearing in hand, if there is one."""
        if self._task is not None:
            self._task.cancel()

    def stop_if_void(self, state: Workstream) -> None:
        """Stop it if this newer state leaves nothing to decide."""
        if not isinstance(plan(state), Decide):
            self.stop()

    def concerns(self, state: Workstream, batch: Sequence[ReadyCall]) -> bool:
        """Whether any hook is to be heard on this batch; free where none is declared."""
        return bool(self._pipeline.hooks.declared) and any(
            self._pipeline.hooks_about(state, ready)[1] for ready in batch
        )

    async def hear(
        self, state: Workstream, batch: Sequence[ReadyCall], group: asyncio.TaskGroup
    ) -> dict[str, Heard] | None:
        """What the hooks said, by call id; None where the hearing was stopped."""
        if not self.concerns(state, batch):
            return {}
        self._task = group.create_task(self._heard(state, batch))
        try:
            await asyncio.wait((self._task,))
            return None if self._task.cancelled() else self._task.result()
        finally:
            self._task.cancel()
            self._task = None

    async def _heard(self, state: Workstream, batch: Sequence[ReadyCall]) -> dict[str, Heard]:
        """One call after another: rules that a hook updates hold for the calls behind (K-43)."""
        heard: dict[str, Heard] = {}
        for ready in batch:
            verdict, hooks = self._pipeline.hooks_about(state, ready)
            if ready.tool is None or verdict is None or not hooks:
                continue
            root = str(self._pipeline.workspace.root)
            question = _question(state, ready.call, ready.tool, verdict, root)
            one = await self._pipeline.hooks.ask(hooks, question)
            heard[ready.call.asked.call_id] = one
            state = with_updates(state, ready.call, one)
        return heard


def _question(
    state: Workstream, call: Call, tool: Tool, verdict: Verdict, root: str
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
        workspace=root,
    )


def _raw(arguments: str) -> msgspec.Raw:
    """Arguments that are no JSON by themselves are sent as a JSON text."""
    try:
        msgspec.json.decode(arguments)
    except msgspec.DecodeError:
        return msgspec.Raw(msgspec.json.encode(arguments))
    return msgspec.Raw(arguments.encode(errors="replace"))
