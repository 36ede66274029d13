"""A node as protocol.md says, over the log in memory, driven by the real pure functions."""

from collections import Counter
from collections.abc import Callable

import msgspec

from redshank_shared.domain.digests import input_digest
from redshank_shared.domain.errors import Fenced, VersionMoved
from redshank_shared.domain.events import (
    AnyFact,
    ApprovalRequested,
    ApprovalResolved,
    AskedCall,
    CallDecided,
    CallFinished,
    CallInterrupted,
    CallStarted,
    ContextCompacted,
    Effect,
    MessageAnswered,
    Outcome,
    Preview,
    TurnFailed,
    TurnStarted,
)
from redshank_shared.domain.messages import Message, UserMessage
from redshank_shared.domain.plan import (
    Ask,
    Compact,
    Decide,
    Rest,
    Run,
    Settle,
    awaits_answer,
    number,
    plan,
    with_state,
)
from redshank_shared.domain.question_events import Option, Question, QuestionAsked
from redshank_shared.domain.transcript import transcript
from redshank_shared.domain.workstream import Call, Workstream, advance, fold
from redshank_shared.permissions.decision import judge
from redshank_shared.permissions.matching import Subject
from redshank_shared.permissions.rules import BUILTIN, granted_rules
from redshank_shared.permissions.ruleset import RuleSet
from tests.unit.memory_log import WORKSTREAM, MemoryLog

EFFECTS: dict[str, Effect] = {
    "read_file": "read",
    "write_file": "write",
    "bash": "process",
    "ask_user_question": "human",
}
GOOD_ARGUMENTS = '{"path":"a.txt"}'
BAD_ARGUMENTS = '{"path":'

Make = Callable[[Workstream], list[AnyFact]]


class Scripted(msgspec.Struct, frozen=True):
    """A call that the scripted model asks for."""

    tool: str
    arguments: str = GOOD_ARGUMENTS


class Asking(msgspec.Struct, frozen=True):
    """A question to the model under way: how far the log was read, which messages stood in it."""

    read: int
    seen: frozenset[int]


class Outside(msgspec.Struct):
    """What happened outside the log: effects by call, messages that a model answered to or that a
    summary took in, every list of messages that was sent, how many ids were given out.
    """

    effects: Counter[str] = msgspec.field(default_factory=Counter)
    answered: set[int] = msgspec.field(default_factory=set)
    summarised: set[int] = msgspec.field(default_factory=set)
    sent: list[tuple[Message, ...]] = msgspec.field(default_factory=list)
    ids: int = 0

    def new_id(self, prefix: str) -> str:
        self.ids += 1
        return f"{prefix}_{self.ids:022}"


class MemoryNode:
    """One process. What it knows may lag behind the log; what it appends may be refused."""

    def __init__(self, name: str, log: MemoryLog, outside: Outside) -> None:
        self.name = name
        self.log = log
        self.outside = outside
        self.epoch: int | None = None
        self.state = Workstream(id=WORKSTREAM)
        self.asking: Asking | None = None
        self.in_hand: dict[str, bool] = {}
        self._opening: list[AnyFact] = []

    def take_nudge(self) -> None:
        """Claim and fold; a nudge for something that is taken or not pending is dropped."""
        if self.epoch is not None or (epoch := self.log.claim(self.name)) is None:
            return
        self.epoch = epoch
        self.state = fold(WORKSTREAM, self.log.read(0))
        self._opening = [TurnStarted(self.name, epoch)]

    def die(self) -> None:
        """Everything in hand is gone; the lease stays until it runs out."""
        self.epoch = None
        self.asking = None
        self.in_hand = {}

    def catch_up(self) -> None:
        self.state = advance(self.state, self.log.read(self.state.version))

    def step(self, script: list[Scripted], *, at_once: bool = False, single: bool = True) -> None:
        """Do what the plan says next. `at_once`: one append for an answer and its decisions;
        `single`: start one call, not all.
        """
        if self.epoch is None:
            self.take_nudge()
            return
        match plan(self.state):
            case Settle():
                self._settle()
            case Decide():
                self.record(_decisions(self.outside))
            case Run():
                self._run(single)
            case Ask() if self.asking is None:
                self._ask()
            case Ask():
                self._answer(script, at_once)
            case Compact():
                self.summarise()
            case Rest():
                self.record(lambda state: [])

    def record(self, make: Make) -> None:
        """Append what `make` gives for the state as it is, asked again when somebody appended in
        between; release with it when nothing is left to do.
        """
        while self.epoch is not None:
            made = make(self.state)
            if not made and not isinstance(plan(self.state), Rest):
                return
            at = self.log.now()
            facts = with_state(self.state, [*self._opening, *made] if made else [], at)
            after = advance(self.state, number(self.state.version, at, facts))
            release = isinstance(plan(after), Rest)
            try:
                self.log.append(
                    facts, expected_version=self.state.version, epoch=self.epoch, release=release
                )
            except VersionMoved:
                self.catch_up()
                continue
            except Fenced:
                self.die()
                return
            self.state = after
            self._opening = [] if made else self._opening
            if release:
                self.die()
            return

    def fail(self) -> None:
        """Give the turn up: whatever is open gets its result first."""
        if isinstance(plan(self.state), Rest):
            return
        self.asking = None
        self.in_hand = {}
        self.record(_failure(self.name))

    def summarise(self) -> None:
        """Make the context shorter, for a person or because it is full."""
        if self.epoch is None or not isinstance(plan(self.state), Compact | Ask):
            return
        through = self.state.version
        messages = transcript(self.state)
        self.outside.sent.append(messages)
        self.asking = None
        summary = ContextCompacted(through, "what was said")
        before = self.log.version
        self.record(lambda state: [] if state.cancelled_at > through else [summary])
        if self._was_appended(summary, before):
            self.outside.summarised |= _posts(messages)

    def _ask(self) -> None:
        messages = transcript(self.state)
        self.outside.sent.append(messages)
        seen = _posts(messages) | self.outside.summarised
        self.asking = Asking(self.state.version, frozenset(seen))

    def _answer(self, script: list[Scripted], at_once: bool) -> None:
        """The answer goes behind whatever came meanwhile, unless that stopped the turn."""
        asking, self.asking = self.asking, None
        assert asking is not None
        calls = tuple(
            AskedCall(self.outside.new_id("call"), one.tool, one.arguments, f"call_{index}")
            for index, one in enumerate(script)
        )
        answer = MessageAnswered(read=asking.read, text="so be it", calls=calls)

        def make(state: Workstream) -> list[AnyFact]:
            if not awaits_answer(state, asking.read):
                return []
            after = advance(state, number(state.version, self.log.now(), [answer]))
            return [answer, *(_decisions(self.outside)(after) if at_once else [])]

        before = self.log.version
        self.record(make)
        if self._was_appended(answer, before):
            self.outside.answered |= asking.seen

    def _was_appended(self, fact: AnyFact, before: int) -> bool:
        return any(recorded.fact is fact for recorded in self.log.read(before))

    def _run(self, single: bool) -> None:
        chosen: list[Call] = []

        def make(state: Workstream) -> list[AnyFact]:
            step = plan(state)
            chosen.clear()
            if isinstance(step, Run):
                fresh = [call for call in step.calls if call.asked.call_id not in self.in_hand]
                chosen.extend(_together(fresh, single or bool(self.in_hand)))
            return [self._begun(call) for call in chosen if _effect(call) != "read"]

        if all(call.asked.call_id in self.in_hand for call in self.state.open_calls):
            self.work()
            return
        self.record(make)
        if self.epoch is not None:
            begun = [call.asked.call_id for call in chosen if _effect(call) != "human"]
            self.in_hand.update(dict.fromkeys(begun, False))

    def work(self, outcome: Outcome = "ok") -> None:
        """The first call in hand has its effect; the next time its outcome is recorded."""
        if not self.in_hand:
            return
        call_id, ran = next(iter(self.in_hand.items()))
        if not ran:
            self.outside.effects[call_id] += 1
            self.in_hand[call_id] = True
            return
        del self.in_hand[call_id]
        self.record(_outcome(call_id, outcome))

    def _settle(self) -> None:
        """What this process runs, it finishes; what a dead one had started was interrupted."""
        if self.in_hand:
            self.work()
            return

        def make(state: Workstream) -> list[AnyFact]:
            step = plan(state)
            calls = step.calls if isinstance(step, Settle) else ()
            return [_interrupted(call, self.name) for call in calls]

        self.record(make)

    def _begun(self, call: Call) -> CallStarted | QuestionAsked:
        """A question is asked in place of its call; it may expire at any moment."""
        if _effect(call) == "human":
            request_id = self.outside.new_id("qst")
            question = Question(f"{request_id}.q1", "which?", (Option("a", "a"), Option("b", "b")))
            return QuestionAsked(request_id, call.asked.call_id, "user", (question,), 4e9)
        assert self.epoch is not None
        return CallStarted(
            call.asked.call_id, call.asked.tool, _effect(call), self.name, self.epoch
        )


def _posts(messages: tuple[Message, ...]) -> frozenset[int]:
    return frozenset(message.seq for message in messages if isinstance(message, UserMessage))


def _together(fresh: list[Call], single: bool) -> list[Call]:
    """One call, or all up to the first that asks a person; that one goes alone."""
    asks = [_effect(call) == "human" for call in fresh]
    if single or asks[:1] == [True]:
        return fresh[:1]
    return fresh[: asks.index(True)] if True in asks else fresh


def _effect(call: Call) -> Effect:
    return EFFECTS[call.asked.tool]


def _interrupted(call: Call, node: str) -> CallInterrupted:
    return CallInterrupted(call.asked.call_id, call.asked.tool, node, "outcome unknown")


def _result(call: Call, outcome: Outcome, output: str) -> CallFinished:
    return CallFinished(call.asked.call_id, call.asked.tool, outcome != "ok", output, outcome)


def _outcome(call_id: str, outcome: Outcome) -> Make:
    def make(state: Workstream) -> list[AnyFact]:
        call = state.calls.get(call_id)
        return [] if call is None or call.status == "done" else [_result(call, outcome, "said")]

    return make


def _failure(node: str) -> Make:
    def make(state: Workstream) -> list[AnyFact]:
        if isinstance(plan(state), Rest):
            return []
        facts: list[AnyFact] = [
            ApprovalResolved(request_id, waiting.requested.call_id, "cancelled", "the node")
            for request_id, waiting in state.approvals.items()
        ]
        for call in state.open_calls:
            started = call.status == "started"
            facts.append(
                _interrupted(call, node) if started else _result(call, "cancelled", "not run")
            )
        return [*facts, TurnFailed("model_failed", "the model does not answer; try again")]

    return make


def _decisions(outside: Outside) -> Make:
    def make(state: Workstream) -> list[AnyFact]:
        step = plan(state)
        facts: list[AnyFact] = []
        for call in step.calls if isinstance(step, Decide) else ():
            facts.extend(_decision(state, call, outside))
        return facts

    return make


def _decision(state: Workstream, call: Call, outside: Outside) -> list[AnyFact]:
    """Bad arguments never reach a rule; an edited call was allowed by the person who edited it."""
    tool = call.asked.tool
    if call.arguments == BAD_ARGUMENTS:
        return [_result(call, "refused", "the arguments are not JSON")]
    rules = RuleSet((*granted_rules(state.granted), *BUILTIN))
    verdict = judge(rules, state.mode, Subject((tool,), EFFECTS[tool]), tool == "read_file")
    digest = input_digest(tool, call.arguments)
    decided = CallDecided(
        call_id=call.asked.call_id,
        tool=tool,
        canonical=tool,
        effect=EFFECTS[tool],
        decision=verdict.decision,
        base_decision=verdict.base_decision,
        effective_mode=verdict.effective_mode,
        pattern=verdict.pattern,
        scope=verdict.scope,
        origin=verdict.origin,
        why=verdict.why,
        input_digest=digest,
        mode_effect=verdict.mode_effect,
    )
    if verdict.decision == "deny":
        return [decided, _result(call, "denied", verdict.why)]
    if verdict.decision == "allow" or call.status == "edited":
        return [decided]
    request_id = outside.new_id("apr")
    preview = Preview(tool)
    return [
        decided,
        ApprovalRequested(request_id, call.asked.call_id, tool, call.arguments, digest, preview),
    ]
