"""The call pipeline up to the journal: resolve, validate, limits, rule, mode -> facts."""

import asyncio
import logging
from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from redshank_node.providers.provider import Surface
from redshank_node.tools.support.arguments import parsed
from redshank_node.tools.tool import BadArguments, Prepared, Tool, Workspace
from redshank_node.tools.toolbox import Toolbox
from redshank_shared.domain.digests import input_digest
from redshank_shared.domain.events import (
    AnyFact,
    ApprovalRequested,
    CallDecided,
    CallFinished,
)
from redshank_shared.domain.limits import Limits, refusal_of_batch, refusal_of_input
from redshank_shared.domain.workstream import Call, Workstream
from redshank_shared.permissions.decision import Verdict, judge
from redshank_shared.permissions.matching import Subject
from redshank_shared.permissions.rules import BUILTIN, Rule, granted_rules

logger = logging.getLogger(__name__)


_CHANGED = (
    "not run: what it would act on has changed since a person approved it; "
    "look at it again, then ask again"
)


class ReadyCall(msgspec.Struct, frozen=True):
    """A call that was resolved and validated, or the words for the model why it cannot run."""

    call: Call
    tool: Tool | None = None
    prepared: Prepared | None = None
    refusal: str = ""
    over_limit: bool = False


class Pipeline:
    """The stages before a call starts; the same for every tool (law 4)."""

    def __init__(
        self,
        toolbox: Toolbox,
        workspace: Workspace,
        limits: Limits,
        new_id: Callable[[str], str],
    ) -> None:
        self.toolbox = toolbox
        self.workspace = workspace
        self.limits = limits
        self.surface = Surface(toolbox.digest, toolbox.surface())
        self.new_id = new_id

    async def ready(
        self, calls: Sequence[Call], calls_before: int, errors: dict[str, str]
    ) -> list[ReadyCall]:
        """Resolve and validate a batch. `errors`: what the provider already found wrong, by call
        id.
        """
        if refusal := refusal_of_batch(self.limits, calls_before, len(calls)):
            return [self._over_limit(call, refusal) for call in calls]
        return [await self._ready(call, errors.get(call.asked.call_id, "")) for call in calls]

    async def _ready(self, call: Call, error: str) -> ReadyCall:
        tool = self.toolbox.resolve(call.asked.tool)
        if tool is None:
            known = ", ".join(sorted(described.name for described in self.toolbox.surface()))
            return ReadyCall(
                call,
                refusal=f"tool_not_found: there is no tool {call.asked.tool}; there are {known}",
            )
        if refusal := refusal_of_input(self.limits, call.arguments):
            return self._over_limit(call, refusal)
        try:
            if error:
                raise BadArguments(error)
            prepared = await self._prepare(tool, parsed(call.arguments, tool, rescue=False))
        except BadArguments as wrong:
            return ReadyCall(call, tool, refusal=str(wrong))
        if call.bound and call.bound != _bound(prepared):
            return ReadyCall(call, tool, refusal=_CHANGED)
        return ReadyCall(call, tool, prepared)

    async def _prepare(self, tool: Tool, arguments: dict[str, Any]) -> Prepared:
        """A preview of a change reads files, so it must not hold up the other turns."""
        if tool.effect == "write":
            return await asyncio.to_thread(tool.prepare, arguments, self.workspace)
        return tool.prepare(arguments, self.workspace)

    def _over_limit(self, call: Call, refusal: str) -> ReadyCall:
        return ReadyCall(
            call, self.toolbox.resolve(call.asked.tool), refusal=refusal, over_limit=True
        )

    def decisions(self, state: Workstream, batch: Sequence[ReadyCall]) -> list[AnyFact]:
        """What is decided on each call of a batch, before any of them runs (O9); refused ones get
        their result.
        """
        facts: list[AnyFact] = []
        for ready in batch:
            if ready.tool is None or ready.prepared is None:
                facts.extend(self._refused(state, ready))
            else:
                facts.extend(self._decided(state, ready.call, ready.tool, ready.prepared))
        return facts

    def _decided(
        self, state: Workstream, call: Call, tool: Tool, prepared: Prepared
    ) -> list[AnyFact]:
        verdict = verdict_on(state, tool, prepared.label)
        decided = _decision(call, tool, verdict)
        if verdict.decision == "deny":
            said = f"Denied: {verdict.why}. Do it another way, or say what you need."
            return [decided, refusal_result(call, "denied", said)]
        if verdict.decision == "allow" or call.status == "edited":
            return [decided]
        return [
            decided,
            ApprovalRequested(
                request_id=self.new_id("apr"),
                call_id=call.asked.call_id,
                tool=call.asked.tool,
                arguments=call.arguments,
                input_digest=decided.input_digest,
                preview=prepared.preview,
                bound=_bound(prepared),
            ),
        ]

    def _refused(self, state: Workstream, ready: ReadyCall) -> list[AnyFact]:
        """A call over a limit is audited (K-4); an unknown name or bad arguments never reach a rule
        (K-3).
        """
        result = refusal_result(ready.call, "refused", ready.refusal)
        if not ready.over_limit or ready.tool is None:
            return [result]
        verdict = Verdict("deny", "deny", state.mode, "", "", "", "limit", ready.refusal)
        return [_decision(ready.call, ready.tool, verdict), result]


def verdict_on(state: Workstream, tool: Tool, label: str) -> Verdict:
    """What rules and mode say of a call with this label in this workstream now."""
    asking = (Rule(f"{tool.name}:{asked}", "ask", "builtin") for asked in tool.asks)
    rules = (*granted_rules(state.granted), *asking, *BUILTIN)
    names: tuple[str, ...] = (tool.name, *tool.aliases)
    if label:
        names += tuple(f"{name}:{label}" for name in names)
    return judge(rules, state.mode, Subject(names, tool.effect), tool.plan)


def refusal_result(call: Call, outcome: str, output: str) -> CallFinished:
    """The one result of a call that does not run."""
    return CallFinished(
        call_id=call.asked.call_id,
        tool=call.asked.tool,
        is_error=True,
        output=output,
        outcome="denied" if outcome == "denied" else "refused",
    )


def _bound(prepared: Prepared) -> str:
    """What was looked at when a person decided: the private keys of prepared arguments (F51)."""
    looked_at = {key: value for key, value in prepared.arguments.items() if key.startswith("_")}
    return msgspec.json.encode(looked_at, order="sorted").decode()


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
    )
