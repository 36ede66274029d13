"""The call pipeline up to the journal: resolve, validate, limits, rule, mode -> facts."""

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import msgspec

from redshank_node.engine.accepted_tools import (
    UNKNOWN,
    AcceptedTools,
    with_difference,
)
from redshank_node.engine.allowed_since import denied_by_now
from redshank_node.engine.asking import USUAL, Asking, bound_of, changed_since
from redshank_node.engine.failing import failing
from redshank_node.engine.hooks import Heard, Hooks
from redshank_node.engine.limits_in_force import LimitsInForce
from redshank_node.engine.policy import Policy
from redshank_node.engine.surface import Surfaces
from redshank_node.engine.tool_cards import card_of
from redshank_node.engine.usable import usable
from redshank_node.tools.support.arguments import parsed
from redshank_node.tools.support.dynamic_tools import no_note
from redshank_node.tools.tool import BadArguments, Prepared, Tool, Workspace
from redshank_node.tools.toolbox import Toolbox
from redshank_shared.domain.bindings import SCHEMA
from redshank_shared.domain.delegation import UNBOUNDED, Boundary
from redshank_shared.domain.delivered import Delivered
from redshank_shared.domain.digests import input_digest
from redshank_shared.domain.errors import Unavailable
from redshank_shared.domain.events import AnyFact, CallDecided, CallFinished
from redshank_shared.domain.limits import (
    Limits,
    refusal_of_batch,
    refusal_of_input,
    refusal_of_more,
    refusal_of_sandbox,
)
from redshank_shared.domain.plan import number
from redshank_shared.domain.rule_events import RulesUpdated, SessionRule
from redshank_shared.domain.scopes import CapabilityScope
from redshank_shared.domain.workstream import Call, Workstream, advance
from redshank_shared.permissions.decision import TOOL_CHANGED, Verdict, asked_anew
from redshank_shared.permissions.hook_answers import combined
from redshank_shared.permissions.tool_card import subject
from redshank_shared.settings.hooks import Hook

logger = logging.getLogger(__name__)

_LONG_CHARACTERS = 4096


class Bounds(msgspec.Struct, frozen=True):
    """What a batch runs under: its limits, how many calls its turn has asked for before (None: the
    batch was let in already), what its turn has got, which tools are off after failures in it,
    what its workstream saw of files.
    """

    limits: Limits
    calls_before: int | None = None
    delivered: Delivered = Delivered()
    boundary: Boundary = UNBOUNDED
    failing: frozenset[str] = frozenset()
    workstream_id: str = ""
    seen: Mapping[str, str] = MappingProxyType({})


class ReadyCall(msgspec.Struct, frozen=True):
    """A call that was resolved and validated, or the words for the model why it cannot run;
    `denial`: the rule that denies it by now; `advisers`: the hooks that may add words to that;
    `change`: what its tool's server changed since the tool was accepted.
    """

    call: Call
    tool: Tool | None = None
    prepared: Prepared | None = None
    refusal: str = ""
    over_limit: bool = False
    hidden: bool = False
    denial: Verdict | None = None
    advisers: tuple[Hook, ...] = ()
    change: str = ""


class Pipeline:
    """The stages before a call starts; the same for every tool (law 4). `note` is what models are
    told behind the system prompt; `accepted` knows what was accepted of tools of servers.
    """

    def __init__(
        self,
        toolbox: Toolbox,
        workspace: Workspace,
        limits: LimitsInForce,
        new_id: Callable[[str], str],
        policy: Policy,
        hooks: Hooks,
        asking: Asking = USUAL,
    ) -> None:
        self.toolbox = toolbox
        self.workspace = workspace
        self.limits = limits
        self.surfaces = Surfaces(toolbox)
        self.new_id = new_id
        self.policy = policy
        self.hooks = hooks
        self.asking = asking
        self.note: Callable[[CapabilityScope], str] = no_note
        self.accepted: AcceptedTools | None = None
        self._cards = {tool.name: card_of(tool) for tool in toolbox.tools}

    async def ready(
        self, calls: Sequence[Call], bounds: Bounds, errors: dict[str, str]
    ) -> list[ReadyCall]:
        """Resolve and validate a batch. `errors`: what the provider already found wrong, by call
        id. Decisions on it that follow at once go by the policy as it is now.
        """
        await self.policy.refresh()
        limits = bounds.limits
        refusal = refusal_of_more(limits, bounds.delivered)
        if bounds.calls_before is not None:
            refusal = refusal_of_batch(limits, bounds.calls_before, len(calls)) or refusal
        if refusal:
            return [self._over_limit(call, refusal) for call in calls]
        return [
            await self._ready(call, bounds, errors.get(call.asked.call_id, "")) for call in calls
        ]

    async def _ready(self, call: Call, bounds: Bounds, error: str) -> ReadyCall:
        limits = bounds.limits
        tool = self.toolbox.resolve(call.asked.tool)
        if tool is None or not self.surfaces.offers(bounds.boundary, tool):
            # One text for both: what is hidden is absent (K-5).
            said = f"tool_not_found: there is no tool {call.asked.tool}; there are "
            said += self.surfaces.inside(bounds.boundary).listed()
            if self.toolbox.manner.absent:
                said = f"{said}; {self.toolbox.manner.absent}"
            return ReadyCall(call, tool, refusal=said, hidden=tool is not None)
        if tool.name in bounds.failing:
            return ReadyCall(call, tool, refusal=self._off(call))
        refusal = refusal_of_input(limits, call.arguments)
        refusal = refusal or refusal_of_sandbox(limits, tool.sandbox)
        if refusal := refusal or self._unconfined(tool, limits):
            return self._over_limit(call, refusal)
        try:
            if error:
                raise BadArguments(error)
            is_long = len(call.arguments) > _LONG_CHARACTERS
            prepared = await self._prepare(tool, self._parsed(call, tool), bounds, is_long)
        except BadArguments as wrong:
            return ReadyCall(call, tool, refusal=self.asking.redact(str(wrong)))
        if refusal := refusal_of_sandbox(limits, prepared.sandbox):
            return self._over_limit(call, refusal)
        return await self._as_it_was(call, tool, prepared)

    async def _as_it_was(self, call: Call, tool: Tool, prepared: Prepared) -> ReadyCall:
        """The call, held to what a person saw when allowing it (F51), to what was accepted of its
        tool (F64).
        """
        tool = tool.as_said_now()
        changed = changed_since(call.bound, self._bound(tool, prepared)) if call.bound else ""
        if changed:
            return ReadyCall(call, tool, refusal=changed)
        try:
            change = await self.accepted.change(tool) if self.accepted else ""
        except Unavailable:
            return ReadyCall(call, tool, refusal=UNKNOWN)
        return ReadyCall(call, tool, prepared, change=change)

    def failing(self, state: Workstream) -> frozenset[str]:
        """The tools that are off for the rest of this turn (C-9)."""
        return failing(state, self.toolbox)

    def _off(self, call: Call) -> str:
        often = self.toolbox.manner.disable_after_failures
        return (
            f"{call.asked.tool} failed {often} times running; it is off for the rest of this turn"
        )

    def _parsed(self, call: Call, tool: Tool) -> dict[str, Any]:
        return parsed(call.arguments, tool, rescue=self.toolbox.manner.rescue)

    def _unconfined(self, tool: Tool, limits: Limits) -> str:
        """Why this node cannot confine the call as it must be: said before anybody is asked."""
        sandbox = self.workspace.sandbox
        return sandbox.refusal(tool.name, tool.sandbox, limits.max_sandbox) if sandbox else ""

    async def _prepare(
        self, tool: Tool, arguments: dict[str, Any], bounds: Bounds, is_long: bool
    ) -> Prepared:
        """A preview reads files, looks up a name, a long command is judged for a while: none of it
        may hold up the other turns.
        """
        workspace = msgspec.structs.replace(
            self.workspace,
            seen=bounds.seen,
            workstream_id=bounds.workstream_id,
            boundary=bounds.boundary,
        )
        if is_long or tool.effect in ("write", "network"):
            return await asyncio.to_thread(tool.prepare, arguments, workspace)
        return tool.prepare(arguments, workspace)

    def _over_limit(self, call: Call, refusal: str) -> ReadyCall:
        return ReadyCall(
            call, self.toolbox.resolve(call.asked.tool), refusal=refusal, over_limit=True
        )

    def _bound(self, tool: Tool, prepared: Prepared) -> str:
        return bound_of(tool, prepared, str(self.workspace.root))

    def hooks_about(
        self, state: Workstream, ready: ReadyCall
    ) -> tuple[Verdict | None, Sequence[Hook]]:
        """What rule and mode say of a call, the hooks to be asked then; None where neither is asked
        about it.
        """
        if ready.tool is None or ready.prepared is None:
            return None, ()
        if self.asking.objection(state, ready.tool, ready.prepared):
            return None, ()
        card, label = self._cards[ready.tool.name], ready.prepared.label
        verdict = self._verdict(state, ready, ready.tool, ready.prepared)
        return verdict, self.hooks.about(verdict.decision, subject(card, label))

    def _verdict(
        self, state: Workstream, ready: ReadyCall, tool: Tool, prepared: Prepared
    ) -> Verdict:
        """What the engine says, then whether the call may go where it goes (K-68)."""
        verdict = self.policy.verdict(state, self._cards[tool.name], prepared.label)
        if ready.change:
            verdict = asked_anew(verdict, TOOL_CHANGED)
        return usable(verdict, state, prepared) if verdict.decision == "allow" else verdict

    async def permitted(self, state: Workstream, batch: Sequence[ReadyCall]) -> list[ReadyCall]:
        """The batch, what is not allowed by now refused (K-36); what a hook narrowed, it did for
        the calls behind its own (K-43). A changed tool that a person allowed is accepted (F64).
        """
        lasting = tuple(rule for rule in state.hook_rules if rule.decision == "allow")
        judged = msgspec.structs.replace(state, hook_rules=lasting)
        return [await self._permitted(judged, ready) for ready in batch]

    async def _permitted(self, state: Workstream, ready: ReadyCall) -> ReadyCall:
        if ready.tool is None or ready.prepared is None:
            return ready
        card, label = self._cards[ready.tool.name], ready.prepared.label
        verdict = self.policy.verdict(state, card, label)
        if verdict.base_decision != "deny":
            verdict = usable(verdict, state, ready.prepared)
        denial = denied_by_now(ready.call, verdict, is_known=self.policy.is_known)
        if denial is not None:
            advisers = tuple(self.hooks.about("deny", subject(card, label)))
            said = denied_for(denial)
            return ReadyCall(ready.call, ready.tool, refusal=said, denial=denial, advisers=advisers)
        if ready.change and self.accepted is not None:
            if ready.call.status != "approved" or SCHEMA not in ready.call.bound:
                return ReadyCall(
                    ready.call, ready.tool, refusal=f"not run: {TOOL_CHANGED}; ask again"
                )
            await self.accepted.accept(ready.tool, ready.call.allowed_by)
        return ready

    def decisions(
        self,
        state: Workstream,
        batch: Sequence[ReadyCall],
        heard: Mapping[str, Heard] = MappingProxyType({}),
    ) -> list[AnyFact]:
        """What is decided on each call of a batch, before any of them runs (O9); refused ones get
        their result. `heard`: what hooks said, by call id.
        """
        facts: list[AnyFact] = []
        for ready in batch:
            said = heard.get(ready.call.asked.call_id)
            if said is not None:
                facts.extend(updates_of(ready.call, said))
                state = with_updates(state, ready.call, said)
            if ready.tool is None or ready.prepared is None:
                facts.extend(self._refused(state, ready))
            elif objection := self.asking.objection(state, ready.tool, ready.prepared):
                facts.append(refusal_result(ready.call, "refused", objection))
            else:
                facts.extend(self._decided(state, ready, ready.tool, ready.prepared, said))
        return facts

    def _decided(
        self,
        state: Workstream,
        ready: ReadyCall,
        tool: Tool,
        prepared: Prepared,
        heard: Heard | None,
    ) -> list[AnyFact]:
        call, verdict = ready.call, self._verdict(state, ready, tool, prepared)
        if heard is not None and heard.decision == verdict.decision:
            said = combined(verdict, heard.answers)
            # A hook cannot accept in a person's place what a server changed.
            verdict = verdict if ready.change and said.decision == "allow" else said
            verdict = usable(verdict, state, prepared) if verdict.decision == "allow" else verdict
        decided = _decision(call, tool, verdict)
        if verdict.decision == "deny":
            return [decided, refusal_result(call, "denied", denied_for(verdict))]
        if verdict.decision == "allow" or call.status == "edited":
            return [decided]
        bound = self._bound(tool, prepared)
        shown = with_difference(prepared, ready.change) if ready.change else prepared
        return [decided, self.asking.approval(self.new_id("apr"), call, decided, shown, bound)]

    def _refused(self, state: Workstream, ready: ReadyCall) -> list[AnyFact]:
        """A call over a limit is audited (K-4); an unknown name or bad arguments never reach a rule
        (K-3).
        """
        result = refusal_result(ready.call, "refused", ready.refusal)
        if ready.tool is None or not (ready.over_limit or ready.hidden):
            return [result]
        origin, why = "limit", ready.refusal
        if ready.hidden:
            origin, why = "boundary", "unavailable: the workstream's boundary leaves this tool out"
        verdict = Verdict("deny", "deny", state.mode, "", "", "", origin, why)
        return [_decision(ready.call, ready.tool, verdict), result]


def unfit(state: Workstream, batch: Sequence[ReadyCall]) -> list[AnyFact]:
    """The results of those that cannot start; a denial is audited first (K-44)."""
    facts: list[AnyFact] = []
    for ready in batch:
        if ready.prepared is not None or not is_open(state, ready.call.asked.call_id):
            continue
        if ready.tool is not None and ready.denial is not None:
            facts.append(_decision(ready.call, ready.tool, ready.denial))
        outcome = "denied" if ready.denial is not None else "refused"
        facts.append(refusal_result(ready.call, outcome, ready.refusal))
    return facts


def is_open(state: Workstream, call_id: str) -> bool:
    """Whether this call of the batch in hand has no result yet."""
    call = state.calls.get(call_id)
    return call is not None and call.status != "done"


def denied_for(verdict: Verdict) -> str:
    """What the model reads of a denial by rule, mode or hook."""
    return f"Denied: {verdict.why}. Do it another way, or say what you need."


def updates_of(call: Call, heard: Heard) -> list[RulesUpdated]:
    """The rules that hooks changed while they answered on this call, a fact a hook (K-43)."""
    return [
        RulesUpdated(
            answer.hook,
            tuple(SessionRule(rule.pattern, rule.decision) for rule in answer.rule_updates),
            call.asked.call_id,
        )
        for answer in heard.answers
        if answer.rule_updates
    ]


def with_updates(state: Workstream, call: Call, heard: Heard) -> Workstream:
    """The state after these updates, for the calls that are decided behind this one."""
    updates = updates_of(call, heard)
    return advance(state, number(state.version, "", [*updates])) if updates else state


def refusal_result(call: Call, outcome: str, output: str) -> CallFinished:
    """The one result of a call that does not run."""
    return CallFinished(
        call_id=call.asked.call_id,
        tool=call.asked.tool,
        is_error=True,
        output=output,
        outcome="denied" if outcome == "denied" else "refused",
    )


def _decision(call: Call, tool: Tool, verdict: Verdict) -> CallDecided:
    return CallDecided(
        call_id=call.asked.call_id,
        tool=call.asked.tool,
        canonical=tool.name,
        effect=tool.effect,
        decision=verdict.decision,
        base_decision=verdict.base_decision,
        effective_mode=verdict.effective_mode,
        pattern=verdict.pattern,
        scope=verdict.scope,
        origin=verdict.origin,
        why=verdict.why,
        input_digest=input_digest(tool.name, call.arguments),
        parallel=tool.parallel,
        mode_effect=verdict.mode_effect,
        hook=verdict.hook,
        hook_reason=verdict.hook_reason,
    )
