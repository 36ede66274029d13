"""Asks the model: its answer, the decisions on what it asks for, or why there is none."""

import asyncio
import logging
from collections.abc import Callable, Sequence
from typing import Protocol

from redshank_node.engine.asked_calls import asked_calls
from redshank_node.engine.calls import Bounds, Pipeline, ReadyCall
from redshank_node.engine.kept_images import KeptImages
from redshank_node.engine.limits_in_force import BatchLimits
from redshank_node.engine.live_text import LiveText
from redshank_node.engine.own_search import own_search, searches_tools
from redshank_node.engine.pinned_note import looked_at, with_farewells
from redshank_node.engine.prompt import COMPACTION, system_prompt
from redshank_node.engine.recorder import Recorder
from redshank_node.engine.turn_ends import reminder
from redshank_node.providers.provider import (
    Answer,
    Delta,
    ModelFailed,
    ModelRequest,
    Provider,
    Surface,
)
from redshank_node.providers.retry import RetryPolicy, ask
from redshank_shared.domain.events import (
    AnyFact,
    ContextCompacted,
    MessageAnswered,
    TokensUsed,
    TurnFailed,
)
from redshank_shared.domain.limits import Limits
from redshank_shared.domain.messages import UserMessage
from redshank_shared.domain.pin_events import FileUnpinned
from redshank_shared.domain.plan import Ask, Compact, awaits_answer, number, plan
from redshank_shared.domain.scopes import route_usable
from redshank_shared.domain.tool_events import ToolsFound
from redshank_shared.domain.transcript import transcript
from redshank_shared.domain.workstream import Call, Workstream, advance
from redshank_shared.metrics import Metrics

logger = logging.getLogger(__name__)


class Opening(Protocol):
    """What follows an answer in the append that records it."""

    async def look(
        self, after: Workstream, batch: Sequence[ReadyCall], group: asyncio.TaskGroup
    ) -> None:
        """Begin what may run before it is recorded. `after`: the state behind the answer."""

    def facts(self, after: Workstream, batch: Sequence[ReadyCall]) -> list[AnyFact]:
        """What follows the answer in this state."""


class Models:
    """The configured models by name; the first is what a workstream without a choice of its own
    gets. `redact` keeps secrets out of what their servers say of a failure, out of open files;
    `images` has what those that see are shown.
    """

    def __init__(
        self,
        providers: dict[str, Provider],
        default: str,
        policy: RetryPolicy,
        redact: Callable[[str], str] = str,
        images: KeptImages | None = None,
    ) -> None:
        self.policy = policy
        self.redact = redact
        self.images = images
        self._providers = providers
        self._default = default

    def of(self, state: Workstream) -> Provider:
        """The model that this workstream asks; ModelFailed names the mend where it is not
        configured.
        """
        name = state.created.model or self._default
        provider = self._providers.get(name)
        if provider is None:
            known = ", ".join(sorted(self._providers))
            raise ModelFailed(
                f"the model {name} is not configured on this node; configured are: {known}",
                code="model_unknown",
                retry=False,
            )
        if not route_usable(state.created.boundary.credentials, name):
            raise ModelFailed(
                f"the workstream's credential scope does not let it use the model {name}; "
                "begin one with another model, or with a wider scope",
                code="route_not_usable",
                retry=False,
            )
        return provider


class Answering:
    """One turn's questions to its model. A question can be stopped; a stopped one leaves nothing in
    the log.
    """

    def __init__(
        self,
        recorder: Recorder,
        models: Models,
        pipeline: Pipeline,
        live: LiveText,
        metrics: Metrics,
        monotonic: Callable[[], float],
    ) -> None:
        self._recorder = recorder
        self._models = models
        self._pipeline = pipeline
        self._live = live
        self._metrics = metrics
        self._monotonic = monotonic
        self._asked_at = 0
        self._asking: asyncio.Task[Answer | ModelFailed] | None = None

    def stop(self) -> None:
        """Stop the question in hand, if there is one."""
        if self._asking is not None:
            self._asking.cancel()

    def stop_if_void(self, state: Workstream) -> None:
        """Stop the question in hand if this newer state has no use for its answer."""
        if not self._still_asked(state):
            self.stop()

    async def answer(
        self, group: asyncio.TaskGroup, opening: Opening, limits: BatchLimits
    ) -> list[ReadyCall]:
        """Ask, and record answer, usage, the decisions on its calls, what was read at once in one
        append; the batch that was decided, under the limits that are in force when it begins.
        """
        pinned = await self._pinned()
        state = self._recorder.state
        if not isinstance(plan(state), Ask):
            return []
        try:
            answer = await self._ask(state, group, await self._question(state, pinned))
        except ModelFailed as failure:
            await self._fail(failure)
            return []
        if answer is None:
            return []
        asked, errors = asked_calls(answer, self._pipeline.new_id)
        if asked:
            await limits.renew()
        batch = await self._pipeline.ready(
            [Call(call, call.arguments) for call in asked], self._bounds(state, limits.now), errors
        )
        fact = MessageAnswered(
            read=state.version,
            text=answer.text,
            calls=asked,
            reasoning=answer.reasoning,
            model=self._models.of(state).settings.name,
            finish=answer.finish,
            opaque=answer.opaque,
        )
        usage = self._usage(answer)
        if batch:
            await opening.look(_behind(state, fact), batch, group)

        def make(now: Workstream) -> list[AnyFact]:
            if any(entry.fact == fact for entry in now.entries[-8:]):
                return []  # an earlier attempt to append was committed, only its answer was lost
            if not awaits_answer(now, fact.read):
                return [usage]
            found = self._found(now, answer)
            more = reminder(now, fact, self._pipeline.toolbox)
            return [fact, usage, *found, *more, *opening.facts(_behind(now, fact), batch)]

        await self._recorder.record(make)
        return batch

    def _found(self, now: Workstream, answer: Answer) -> list[AnyFact]:
        """What the provider's own search has brought: it stays in sight (T-62)."""
        waiting = self._pipeline.surfaces.inside(now.created.boundary).sorted.waiting
        names = [name for name in answer.found_tools if name not in now.found_tools]
        names = [name for name in dict.fromkeys(names) if name in waiting]
        return [ToolsFound(tuple(names), by_provider=True)] if names else []

    def _bounds(self, state: Workstream, limits: Limits) -> Bounds:
        return Bounds(
            limits,
            state.calls_in_turn,
            state.delivered,
            state.created.boundary,
            self._pipeline.failing(state),
            state.id,
            state.seen,
        )

    async def compact(self, group: asyncio.TaskGroup) -> None:
        """Ask for a summary that stands in place of what was said so far."""
        state = self._recorder.state
        try:
            answer = await self._ask(state, group, self._summary_question(state))
        except ModelFailed as failure:
            await self._fail(failure)
            return
        if answer is not None:
            fact = ContextCompacted(state.version, answer.text)
            usage = self._usage(answer)
            await self._recorder.record(
                lambda now: [fact, usage] if isinstance(plan(now), Compact) else []
            )

    def _refuse_without_tools(self) -> None:
        """A model without the tools that its profile promises would make something up."""
        absent = self._pipeline.toolbox.manner.absent
        if absent:
            raise ModelFailed(absent, code="tools_missing", retry=False)

    def _usage(self, answer: Answer) -> TokensUsed:
        return TokensUsed(
            model=self._models.of(self._recorder.state).settings.name,
            input_tokens=answer.input_tokens,
            output_tokens=answer.output_tokens,
            cached_tokens=answer.cached_tokens,
        )

    async def _pinned(self) -> str:
        """What the question says of open files; those that vanished are closed first (C-24)."""
        pins = self._recorder.state.pins
        if not pins.files and not pins.gone:
            return ""
        ground = self._pipeline.workspace.ground
        note = await asyncio.to_thread(looked_at, pins, ground, self._models.redact)
        if note.gone:
            await self._recorder.record(
                lambda now: [
                    FileUnpinned(path, gone=True) for path in note.gone if path in now.pins.files
                ]
            )
        return with_farewells(note.text, self._recorder.state.pins.gone)

    async def _question(self, state: Workstream, pinned: str) -> ModelRequest:
        asked = self._models.of(state).settings
        messages = transcript(state)
        images = self._models.images if asked.supports_vision else None
        native = asked.tool_search and await searches_tools(self._pipeline, state)
        return ModelRequest(
            conversation=state.id,
            system=self._system(state),
            messages=messages,
            surface=self._pipeline.surfaces.seen(
                state.created.boundary, state.found_tools, native=native
            ),
            own_search=await own_search(self._pipeline, state) if asked.web_search else "",
            images=await images.bodies(messages) if images else {},
            pinned=pinned,
        )

    def _system(self, state: Workstream) -> str:
        note = self._pipeline.note(state.created.boundary.capability)
        return system_prompt(
            state, self._pipeline.workspace, note, self._pipeline.toolbox.ends_with
        )

    def _summary_question(self, state: Workstream) -> ModelRequest:
        return ModelRequest(
            conversation=state.id,
            system=self._system(state),
            messages=(*transcript(state), UserMessage(state.version, COMPACTION)),
            surface=Surface("none", ()),
        )

    async def _ask(
        self, state: Workstream, group: asyncio.TaskGroup, request: ModelRequest
    ) -> Answer | None:
        """The whole answer, or None where it was stopped; raises ModelFailed after the last
        attempt.
        """
        provider = self._models.of(state)
        self._asked_at = state.version
        self._refuse_without_tools()
        self._live.begin(state.version)
        started = self._monotonic()
        self._asking = group.create_task(self._attempts(provider, request, state))
        try:
            await asyncio.wait((self._asking,))
            answer = None if self._asking.cancelled() else self._asking.result()
        finally:
            self._asking.cancel()
            self._asking = None
            self._live.end()
        if answer is None:
            return None
        if isinstance(answer, ModelFailed):
            raise answer
        name = provider.settings.name
        self._metrics.model_answered(name, self._monotonic() - started)
        self._metrics.tokens_used(
            name, answer.input_tokens, answer.output_tokens, answer.cached_tokens
        )
        return answer

    async def _attempts(
        self, provider: Provider, request: ModelRequest, state: Workstream
    ) -> Answer | ModelFailed:
        """A failure is returned: raising it here would end the turn's whole group of tasks."""

        def show(delta: Delta) -> None:
            self._live.add(delta.channel, delta.text)

        def again(failure: ModelFailed, delay_seconds: float) -> None:
            self._metrics.model_failed(provider.settings.name)
            self._live.begin(state.version)
            logger.warning("asked again in %.1f s: %s", delay_seconds, failure.detail)

        try:
            return await ask(
                provider, request, policy=self._models.policy, on_delta=show, on_retry=again
            )
        except ModelFailed as failure:
            return failure

    async def _fail(self, failure: ModelFailed) -> None:
        logger.warning("no answer for %s: %s", self._recorder.state.id, failure.detail)
        fact = TurnFailed(failure.code, self._models.redact(failure.detail))
        await self._recorder.record(lambda now: [fact] if self._still_asked(now) else [])

    def _still_asked(self, state: Workstream) -> bool:
        return awaits_answer(state, self._asked_at) or isinstance(plan(state), Compact)


def _behind(state: Workstream, answered: MessageAnswered) -> Workstream:
    return advance(state, number(state.version, "", [answered]))
