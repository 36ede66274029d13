"""One turn: from taking a workstream up until it comes to rest."""

import asyncio
import logging
from collections.abc import Sequence
from typing import assert_never

import msgspec

from redshank_node.engine.answering import Answering
from redshank_node.engine.calls import (
    Bounds,
    ReadyCall,
    is_open,
    unfit,
)
from redshank_node.engine.early_reads import EarlyReads
from redshank_node.engine.execution import Execution, Outcome
from redshank_node.engine.hearing import Hearing
from redshank_node.engine.lease import Lease
from redshank_node.engine.live_text import LiveText
from redshank_node.engine.recorder import Recorder
from redshank_node.engine.unfinished import given_up, interrupted
from redshank_node.tools.tool import Prepared, Tool
from redshank_shared.domain.decide import decided
from redshank_shared.domain.errors import Fenced, RedshankError
from redshank_shared.domain.events import (
    AnyFact,
    CallFinished,
    CallStarted,
)
from redshank_shared.domain.limits import Limits
from redshank_shared.domain.plan import Ask, Compact, Decide, Rest, Run, Settle, number, plan
from redshank_shared.domain.question_events import QuestionAsked
from redshank_shared.domain.workstream import Call, Workstream, advance
from redshank_shared.metrics import Metrics

logger = logging.getLogger(__name__)

MOST_ATTEMPTS = 5
STOPPED = "stopped by a person while it ran; the outcome may be partial"


class Turn:
    """Does what `plan` says until it says rest. Holds nothing that is not in the log or can be
    lost.
    """

    def __init__(
        self,
        recorder: Recorder,
        lease: Lease,
        hearing: Hearing,
        execution: Execution,
        answering: Answering,
        live: LiveText,
        metrics: Metrics,
    ) -> None:
        self.lease = lease
        self._recorder = recorder
        self._pipeline = hearing.pipeline
        self._execution = execution
        self._early = EarlyReads(execution)
        self._hearing = hearing
        self._answering = answering
        self._live = live
        self._metrics = metrics
        self._node_name = recorder.node_name
        self._poked = asyncio.Event()
        self._draining = False

    @property
    def version(self) -> int:
        """The last sequence number that this turn knows."""
        return self._recorder.state.version

    @property
    def released(self) -> bool:
        """Whether the turn came to rest, its lease given back with its last append."""
        return self._recorder.released

    @property
    def releasing(self) -> bool:
        """Whether the lease is being given back: the append says itself if it was lost before."""
        return self._recorder.releasing

    @property
    def _limits(self) -> Limits:
        return self._execution.limits.now

    @property
    def end(self) -> str:
        """How the turn ended, for counting."""
        step = plan(self._recorder.state)
        return step.state if isinstance(step, Rest) else "handed_over"

    def poke(self) -> None:
        """Somebody else appended: look at it now, a person may have said stop."""
        self._poked.set()

    def rules_were_at(self, revision: int, at: float) -> None:
        """The claim saw the stored rules at this revision, at this moment of the steady clock."""
        self._pipeline.policy.told(revision, at)

    def drain(self) -> None:
        """Take no further step; the step in hand may end."""
        self._draining = True

    def cut(self) -> None:
        """The grace is over: stop the step in hand and record what was cut off."""
        self._draining = True
        self._answering.stop()
        self._hearing.stop()
        self._execution.stop(
            f"stopped: node {self._node_name} is shutting down; the outcome may be partial"
        )

    async def run(self, attempts: int) -> None:
        """Until rest, or until drained: then the lease is still held and must be handed over."""
        if attempts > MOST_ATTEMPTS:
            await self._recorder.record(lambda state: given_up(state, attempts, self._node_name))
        await self._execution.limits.renew()
        async with asyncio.TaskGroup() as group:
            listening = group.create_task(self._listen())
            showing = group.create_task(self._live.run())
            try:
                await self._steps(group)
            finally:
                listening.cancel()
                showing.cancel()

    async def _steps(self, group: asyncio.TaskGroup) -> None:
        while not self._recorder.released and not self._draining:
            step = plan(self._recorder.state)
            match step:
                case Settle():
                    await self._carry_out(await self._settle(step.calls, group), group)
                case Decide():
                    await self._decide(step.calls, group)
                case Run():
                    await self._carry_out(await self._start(step.calls, group), group)
                case Ask():
                    batch = await self._answering.answer(group, self, self._execution.limits)
                    await self._carry_out(batch, group)
                    self._early.drop()
                case Compact():
                    await self._answering.compact(group)
                case Rest():
                    await self._recorder.record(lambda _: [])
                case _:
                    assert_never(step)

    async def _listen(self) -> None:
        """A person's stop reaches what runs within a moment, a steering word the next step."""
        while True:
            await self._poked.wait()
            self._poked.clear()
            state = await self._recorder.refresh()
            if state.stopping:
                self._execution.stop(STOPPED)
            self._answering.stop_if_void(state)
            self._hearing.stop_if_void(state)

    async def _settle(self, calls: Sequence[Call], group: asyncio.TaskGroup) -> list[ReadyCall]:
        """Calls that an earlier holder started: no effect is repeated, a read is run again."""
        if self._recorder.state.stopping or any(_had_effect(call) for call in calls):
            await self._recorder.record(lambda state: interrupted(state, calls))
            return []
        bounds = Bounds(self._limits, boundary=self._recorder.state.created.boundary)
        batch = await self._startable(calls, bounds, group)
        await self._recorder.record(lambda state: unfit(state, batch))
        return batch

    async def _decide(self, calls: Sequence[Call], group: asyncio.TaskGroup) -> None:
        batch = await self._pipeline.ready(calls, self._bounds(calls), {})
        heard = await self._hearing.hear(self._recorder.state, batch, group)
        if heard is None:
            return
        if heard:
            await self._pipeline.policy.refresh()
        unreached = not self._pipeline.policy.is_known
        await self._recorder.record(
            lambda state: (
                self._pipeline.decisions(state, batch, heard)
                if isinstance(plan(state), Decide) and (unreached or self._pipeline.policy.is_known)
                else []
            )
        )

    def _bounds(self, calls: Sequence[Call]) -> Bounds:
        """For calls to decide. A batch of which nothing is decided is counted: it may have been
        recorded by a holder that got no further.
        """
        state = self._recorder.state
        fresh = all(call.status == "asked" and call.decided is None for call in calls)
        before = state.calls_in_turn - len(calls) if fresh else None
        return self._bounds_after(before)

    def _bounds_after(self, before: int | None) -> Bounds:
        state = self._recorder.state
        failing = self._pipeline.failing(state)
        made, got = state.created, state.delivered
        return Bounds(self._limits, before, got, made.boundary, failing, state.id, state.seen)

    async def _start(self, calls: Sequence[Call], group: asyncio.TaskGroup) -> list[ReadyCall]:
        """The next calls that may run together; `call.started` is committed before the effect."""
        batch = await self._startable(calls, self._bounds_after(None), group)
        await self._recorder.record(
            lambda state: (
                [*unfit(state, batch), *self._starts(batch)] if isinstance(plan(state), Run) else []
            )
        )
        return batch

    async def _startable(
        self, calls: Sequence[Call], bounds: Bounds, group: asyncio.TaskGroup
    ) -> list[ReadyCall]:
        batch = await self._pipeline.ready(calls, bounds, {})
        state = self._recorder.state
        head = self._together(await self._pipeline.permitted(state, batch))
        if not any(ready.advisers for ready in head):
            return head
        head = await self._hearing.advised(state, head, group)
        # Hooks may have taken their time: what holds now counts for the others.
        await self._pipeline.policy.refresh()
        return await self._pipeline.permitted(self._recorder.state, head)

    async def look(
        self, after: Workstream, batch: Sequence[ReadyCall], group: asyncio.TaskGroup
    ) -> None:
        """Begin the first calls of a fresh batch where all of them are allowed reads."""
        _, first = self._opened(after, batch)
        if first and all(ready.tool is not None and ready.tool.effect == "read" for ready in first):
            await self._early.begin(first, group)
            for ready in first:
                outcome = self._early.ended().get(ready.call.asked.call_id)
                if outcome is not None:
                    self._count(ready, outcome)

    def facts(self, after: Workstream, batch: Sequence[ReadyCall]) -> list[AnyFact]:
        """The decisions on a fresh batch; where none of it waits for a person, the start of its
        first calls too, with the results of reads that have ended already.
        """
        decisions, first = self._opened(after, batch)
        starts = self._starts(first)
        ended = self._early.ended()
        results = [ended[start.call_id].finished for start in starts if start.call_id in ended]
        return [*decisions, *starts, *results]

    def _opened(
        self, state: Workstream, batch: Sequence[ReadyCall]
    ) -> tuple[list[AnyFact], list[ReadyCall]]:
        if not self._pipeline.policy.is_known or self._hearing.concerns(state, batch):
            # The append may have waited for the database, or hooks are to be heard: a step of its
            # own decides, by the rules that are in force then (F75).
            return [], []
        facts = self._pipeline.decisions(state, batch)
        after = advance(state, number(state.version, "", facts))
        if not isinstance(plan(after), Run):
            return facts, []
        runnable = {call.asked.call_id for call in after.open_calls}
        return facts, self._together([r for r in batch if r.call.asked.call_id in runnable])

    def _together(self, batch: Sequence[ReadyCall]) -> list[ReadyCall]:
        """The head of a batch that may run at once: parallel calls up to the limit, else one alone
        (O6).
        """
        head: list[ReadyCall] = []
        most = self._limits.max_parallel_tools
        most = min(most, self._pipeline.toolbox.manner.max_parallel or most)
        for ready in batch:
            parallel = ready.tool is not None and ready.tool.parallel
            if head and not parallel:
                break
            head.append(ready)
            if not parallel or len(head) >= most:
                break
        return head

    def _starts(
        self, batch: Sequence[ReadyCall]
    ) -> list[CallStarted | QuestionAsked | CallFinished]:
        return [
            self._begun(ready.call, ready.tool, ready.prepared)
            for ready in batch
            if ready.tool is not None and ready.prepared is not None
        ]

    def _begun(
        self, call: Call, tool: Tool, prepared: Prepared
    ) -> CallStarted | QuestionAsked | CallFinished:
        """A call that asks a person is not started: its question stands in its place (K-18)."""
        if prepared.inquiry is not None:
            request_id = self._pipeline.new_id("qst")
            return self._pipeline.asking.question(request_id, call, prepared.inquiry)
        return CallStarted(
            call_id=call.asked.call_id,
            tool=call.asked.tool,
            effect=tool.effect,
            node=self._node_name,
            epoch=self.lease.epoch,
        )

    async def _carry_out(self, batch: Sequence[ReadyCall], group: asyncio.TaskGroup) -> None:
        """Run those of the batch that are started; a stop that came before counts."""
        state = self._recorder.state
        started = [ready for ready in batch if _is_started(state, ready.call.asked.call_id)]
        if not started:
            return
        if not self.lease.allows_effect():
            raise Fenced("the lease may have run out; nothing was begun")
        self._execution.begin()
        if state.stopping:
            self._execution.stop(STOPPED)
        self._live.begin(state.version)
        if len(started) == 1:
            await self._carry_out_one(started[0], group)
            return
        async with asyncio.TaskGroup() as together:
            for ready in started:
                together.create_task(self._carry_out_one(ready, group))

    async def _carry_out_one(self, ready: ReadyCall, group: asyncio.TaskGroup) -> None:
        begun = self._early.take(ready.call.asked.call_id)
        outcome = await (begun or self._execution.run(ready, group))
        self._count(ready, outcome)
        at = self._recorder.now
        await self._recorder.record(lambda state: _once(state, outcome, at()))

    def _count(self, ready: ReadyCall, outcome: Outcome) -> None:
        finished, tool = outcome.finished, ready.tool
        name, server = (tool.name, tool.server) if tool else ("", "")
        self._metrics.call_finished(name, finished.outcome, finished.duration_ms / 1000, server)


def _once(state: Workstream, outcome: Outcome, at: str) -> list[AnyFact]:
    """The result with what its command leads to; a command that is refused makes it an error."""
    finished = outcome.finished
    if not is_open(state, finished.call_id):
        return []
    if outcome.command is None:
        return [finished]
    try:
        return [finished, *decided(state, outcome.command, at)]
    except RedshankError as refusal:
        refused = msgspec.structs.replace(
            finished, is_error=True, outcome="refused", output=refusal.detail
        )
        return [refused]


def _is_started(state: Workstream, call_id: str) -> bool:
    call = state.calls.get(call_id)
    return call is not None and call.status == "started"


def _had_effect(call: Call) -> bool:
    return call.started is not None and call.started.effect != "read"
