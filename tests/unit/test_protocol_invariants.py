"""Whatever people, nodes and the network do in whatever order, the protocol's promises hold."""

from collections import Counter
from typing import Literal

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from redshank_shared.domain.commands import (
    AnswerQuestions,
    CancelQuestion,
    CancelTurn,
    ChangeMode,
    CloseWorkstream,
    Command,
    ExpireQuestion,
    PostMessage,
    RequestCompaction,
    Resolution,
    ResolveApprovals,
    RetryTurn,
)
from redshank_shared.domain.decide import decide
from redshank_shared.domain.errors import Conflict, Invalid, NotFound
from redshank_shared.domain.events import (
    MODES,
    CallFinished,
    CallInterrupted,
    CallStarted,
    MessagePosted,
    Mode,
    TurnCancelled,
    TurnStarted,
    Unknown,
    When,
)
from redshank_shared.domain.messages import Message, UserMessage
from redshank_shared.domain.plan import Ask, Rest, plan, project
from redshank_shared.domain.question_events import Answer
from redshank_shared.domain.transcript import transcript
from redshank_shared.domain.workstream import advance, fold
from tests.effort import examples
from tests.unit.log_readings import (
    asked_calls,
    assert_batches_are_decided_first,
    assert_results_follow_their_answer,
    seqs_of,
    stored_and_read,
)
from tests.unit.memory_log import WORKSTREAM, MemoryLog
from tests.unit.memory_node import (
    BAD_ARGUMENTS,
    EFFECTS,
    GOOD_ARGUMENTS,
    MemoryNode,
    Outside,
    Scripted,
)

WHICH = st.integers(0, 1)
CALLS = st.builds(
    Scripted,
    st.sampled_from(sorted(EFFECTS)),
    st.sampled_from([GOOD_ARGUMENTS] * 4 + [BAD_ARGUMENTS]),
)
SCRIPT = st.lists(CALLS, max_size=3)


class TurnProtocol(RuleBasedStateMachine):
    """People command, two nodes work, die, sleep past their lease and wake."""

    def __init__(self) -> None:
        super().__init__()
        self.log = MemoryLog()
        self.outside = Outside()
        self.nodes = [MemoryNode(name, self.log, self.outside) for name in ("a", "b")]
        self.messages: dict[int, Message] = {}

    @initialize(
        mode=st.sampled_from(["default", "acceptEdits", "bypassPermissions"]),
        script=st.lists(CALLS, min_size=1, max_size=3),
        steps=st.integers(0, 8),
    )
    def a_turn_is_under_way(self, mode: Mode, script: list[Scripted], steps: int) -> None:
        self.command(ChangeMode(mode, "ada"))
        self.command(PostMessage("begin", "ada"))
        for _ in range(steps):
            self.nodes[0].step(script, single=False)

    # What people and programs do

    def command(self, command: Command) -> None:
        facts = decide(self.log.state, command, self.log.now())
        if facts:
            self.log.append(facts, expected_version=self.log.version)

    def refused(self, command: Command, error: type[Exception]) -> None:
        before = self.log.version
        with pytest.raises(error):
            self.command(command)
        assert self.log.version == before

    @property
    def pending(self) -> bool:
        return project(self.log.state).pending

    @property
    def waiting(self) -> list[str]:
        return list(self.log.state.approvals)

    @precondition(lambda self: not self.pending or self.log.version % 3 == 0)
    @rule(when=st.sampled_from(["next", "steer"]))
    def somebody_posts(self, when: When) -> None:
        post = PostMessage(f"message {self.log.version}", "ada", when=when)
        if self.log.state.closed:
            self.refused(post, Conflict)
        else:
            self.command(post)
            assert self.log.state.failed is None

    @precondition(lambda self: self.waiting)
    @rule(
        which=st.integers(0, 5),
        behavior=st.sampled_from(["allow", "deny"]),
        scope=st.sampled_from(["once", "workstream"]),
        updated=st.sampled_from(["", "", '{"path":"b.txt"}', BAD_ARGUMENTS]),
    )
    def somebody_resolves(
        self,
        which: int,
        behavior: Literal["allow", "deny"],
        scope: Literal["once", "workstream"],
        updated: str,
    ) -> None:
        request_id = self.waiting[which % len(self.waiting)]
        self.command(
            ResolveApprovals((Resolution(request_id, behavior, scope, updated),), by="ada")
        )
        self.refused(ResolveApprovals((Resolution(request_id, "deny"),), by="bob"), NotFound)

    @precondition(lambda self: self.waiting)
    @rule(which=WHICH, steps=st.integers(0, 9))
    def somebody_resolves_all_and_a_node_goes_on(self, which: int, steps: int) -> None:
        allowed = tuple(Resolution(request_id, "allow") for request_id in self.waiting)
        self.command(ResolveApprovals(allowed, by="ada"))
        assert not self.log.state.approvals
        for _ in range(steps):
            self.nodes[which].step([])

    @precondition(lambda self: self.waiting)
    @rule()
    def somebody_resolves_with_one_answer_too_many(self) -> None:
        good = tuple(Resolution(request_id, "allow") for request_id in self.waiting)
        foreign = Resolution("apr_of_another_workstream", "allow")
        self.refused(ResolveApprovals((*good, foreign), by="ada"), NotFound)
        self.refused(ResolveApprovals((*good, good[0]), by="ada"), Invalid)

    @precondition(lambda self: self.log.state.questions)
    @rule(what=st.sampled_from(["answers", "answers", "answers", "cancels", "is too late"]))
    def somebody_answers(self, what: str) -> None:
        (request_id,) = self.log.state.questions
        answer = AnswerQuestions((Answer(f"{request_id}.q1", ("a",)),), "ada")
        if what == "answers":
            self.command(answer)
        elif what == "cancels":
            self.command(CancelQuestion(request_id, "ada"))
        else:
            self.command(ExpireQuestion(request_id, "clock"))
        assert not self.log.state.questions
        self.refused(answer, NotFound)

    @precondition(lambda self: self.log.version % 5 == 0)
    @rule()
    def somebody_cancels(self) -> None:
        if self.log.state.closed:
            self.refused(CancelTurn("ada"), Conflict)
        else:
            self.command(CancelTurn("ada"))
            assert not self.log.state.approvals
            assert self.log.state.failed is None

    @precondition(lambda self: len(self.log.records) > 30)
    @rule(really=st.sampled_from([False, False, False, True]))
    def somebody_closes(self, really: bool) -> None:
        if really:
            self.command(CloseWorkstream("ada"))
            assert not self.log.state.approvals

    @precondition(lambda self: not self.log.state.closed and self.log.version % 3 == 0)
    @rule(
        command=st.one_of(
            st.sampled_from(["default", "default", *MODES]).map(lambda mode: ChangeMode(mode, "a")),
            st.just(RequestCompaction("ada")),
            st.just(RetryTurn("ada")),
        )
    )
    def somebody_turns_a_knob(self, command: Command) -> None:
        if isinstance(command, RetryTurn) and self.log.state.failed is None:
            self.refused(command, Conflict)
        else:
            self.command(command)

    @precondition(lambda self: self.log.version % 4 == 0)
    @rule(kind=st.sampled_from(["question.asked", "goal.set"]))
    def a_newer_version_appends_what_this_one_does_not_know(self, kind: str) -> None:
        before = self.log.state
        self.log.append([Unknown(kind, {"more": [1]})], expected_version=self.log.version)
        after = self.log.state
        assert (plan(after), project(after)) == (plan(before), project(before))
        assert transcript(after) == transcript(before)

    # What nodes do

    @property
    def holder(self) -> MemoryNode:
        """The node whose epoch is good, else any."""
        return next((node for node in self.nodes if node.epoch == self.log.epoch), self.nodes[0])

    @precondition(lambda self: self.pending)
    @rule(script=SCRIPT, steps=st.integers(2, 9))
    def the_node_with_the_lease_works_on(self, script: list[Scripted], steps: int) -> None:
        for _ in range(steps):
            self.holder.step(script, single=False)

    @precondition(lambda self: self.pending)
    @rule(script=SCRIPT, at_once=st.booleans())
    def the_node_with_the_lease_takes_a_step(self, script: list[Scripted], at_once: bool) -> None:
        self.holder.step(script, at_once=at_once)

    @precondition(lambda self: self.pending)
    @rule(which=WHICH, script=SCRIPT, at_once=st.booleans())
    def a_node_takes_a_nudge_or_a_step(
        self, which: int, script: list[Scripted], at_once: bool
    ) -> None:
        self.nodes[which].step(script, at_once=at_once)

    @precondition(lambda self: any(node.in_hand for node in self.nodes))
    @rule(which=WHICH, outcome=st.sampled_from(["ok", "error", "timeout", "cancelled"]))
    def a_call_in_hand_goes_on(
        self, which: int, outcome: Literal["ok", "error", "timeout", "cancelled"]
    ) -> None:
        self.nodes[which].work(outcome)

    @precondition(lambda self: self.log.lease_lives)
    @rule(which=WHICH, what=st.sampled_from(["catches up", "shortens", "fails", "dies", "sleeps"]))
    def something_happens_to_a_node(self, which: int, what: str) -> None:
        node = self.nodes[which]
        if what == "sleeps":
            self.log.lease_lives = False
        elif node.epoch is None:
            node.take_nudge()
        elif what == "catches up":
            node.catch_up()
        elif what == "shortens":
            node.summarise()
        elif what == "fails":
            node.fail()
        else:
            node.die()

    @precondition(lambda self: self.pending and self.log.holder)
    @rule(script=SCRIPT, steps=st.integers(0, 4), late=st.integers(1, 3))
    def a_node_sleeps_past_its_lease_and_wakes(
        self, script: list[Scripted], steps: int, late: int
    ) -> None:
        sleeper = self.holder
        other = self.nodes[1 - self.nodes.index(sleeper)]
        self.log.lease_lives = False
        for _ in range(steps):
            other.step(script, single=False)
        for _ in range(late):
            sleeper.step(script)

    # What must hold at every moment

    @invariant()
    def the_log_has_no_gap_and_says_what_the_state_says(self) -> None:
        records, state = self.log.records, self.log.state
        assert [recorded.seq for recorded in records] == list(range(1, len(records) + 1))
        assert fold(WORKSTREAM, records) == state
        cut = len(records) * 2 // 3
        assert advance(fold(WORKSTREAM, records[:cut]), records[cut:]) == state

    @invariant()
    def what_is_shown_is_what_is(self) -> None:
        projection = project(self.log.state)
        assert projection == project(fold(WORKSTREAM, stored_and_read(self.log.records)))
        shown = self.log.state.shown
        assert shown is not None
        assert (shown.state, shown.waiting_for) == (projection.state, projection.waiting_for)
        assert projection.pending is not isinstance(plan(self.log.state), Rest)
        waits = bool(self.log.state.approvals or self.log.state.questions)
        assert (projection.state == "waiting") <= waits

    @invariant()
    def every_call_has_one_result_when_nothing_is_in_hand(self) -> None:
        results = Counter(
            recorded.fact.call_id
            for recorded in self.log.records
            if isinstance(recorded.fact, CallFinished | CallInterrupted)
        )
        assert all(count == 1 for count in results.values())
        if project(self.log.state).state in ("idle", "failed", "closed"):
            assert set(results) == asked_calls(self.log.records)
            assert not self.log.state.approvals
            assert not self.log.state.questions

    @invariant()
    def no_effect_happens_twice(self) -> None:
        starts = [one.fact for one in self.log.records if isinstance(one.fact, CallStarted)]
        started = Counter(start.call_id for start in starts)
        assert all(count == 1 for count in started.values())
        for call_id in started:
            assert self.outside.effects[call_id] <= 1

    @invariant()
    def a_node_whose_lease_went_to_another_writes_nothing(self) -> None:
        turns = [
            recorded.fact.epoch
            for recorded in self.log.records
            if isinstance(recorded.fact, TurnStarted | CallStarted)
        ]
        assert turns == sorted(turns)

    @invariant()
    def no_call_of_a_batch_runs_before_all_are_decided_and_answered(self) -> None:
        assert_batches_are_decided_first(self.log.records)

    @invariant()
    def every_provider_takes_what_is_sent(self) -> None:
        if isinstance(plan(self.log.state), Ask):
            self.outside.sent.append(transcript(self.log.state))
        for messages in self.outside.sent:
            assert_results_follow_their_answer(messages)
            for message in messages:
                assert self.messages.setdefault(message.seq, message) == message
        self.outside.sent.clear()

    @invariant()
    def no_message_is_forgotten(self) -> None:
        state = self.log.state
        if state.closed:
            return
        queued = {recorded.seq for recorded in state.queued}
        shown = {
            message.seq for message in transcript(state) if isinstance(message, UserMessage)
        } | self.outside.summarised
        last_cancel = max(seqs_of(self.log.records, TurnCancelled), default=0)
        for seq in seqs_of(self.log.records, MessagePosted):
            assert seq in shown or seq in queued
            if seq in queued:
                assert state.owes or state.open_calls
            elif seq not in self.outside.answered and seq > last_cancel:
                assert state.owes

    def teardown(self) -> None:
        """One node that stays alive brings whatever is left to rest."""
        last = MemoryNode("c", self.log, self.outside)
        self.log.lease_lives = False
        for _ in range(200):
            if self.waiting:
                self.command(
                    ResolveApprovals(tuple(Resolution(one, "allow") for one in self.waiting), "ada")
                )
            for request_id in self.log.state.questions:
                self.command(CancelQuestion(request_id, "ada"))
            if self.log.state.failed is not None and not self.log.state.closed:
                self.command(RetryTurn("ada"))
            if last.epoch is None and not project(self.log.state).pending:
                break
            last.step([])
            self.every_provider_takes_what_is_sent()
        assert project(self.log.state).state in ("idle", "closed")
        assert not self.log.state.queued
        self.every_call_has_one_result_when_nothing_is_in_hand()
        self.no_effect_happens_twice()
        self.no_message_is_forgotten()


TestTurnProtocol = TurnProtocol.TestCase
TestTurnProtocol.settings = settings(
    max_examples=examples(100),
    stateful_step_count=80,
    deadline=None,
    database=None,
    report_multiple_bugs=False,
    phases=[Phase.generate, Phase.shrink],
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
