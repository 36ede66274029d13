"""The next step of a turn follows from its state alone."""

import pytest

from redshank_shared.domain.events import (
    AnyFact,
    CompactionRequested,
    StateChanged,
    TurnCancelled,
    TurnFailed,
    WaitFor,
    WorkstreamClosed,
)
from redshank_shared.domain.plan import (
    Ask,
    Compact,
    Decide,
    Rest,
    Run,
    Settle,
    Step,
    awaits_answer,
    number,
    plan,
    project,
    with_state,
)
from tests.unit.log_builders import (
    AT,
    allowed,
    answered,
    asked,
    decided,
    finished,
    folded,
    posted,
    started,
    then,
    waiting,
)

BATCH = (posted(), answered(2, asked("c1"), asked("c2")))
FAILED = TurnFailed("model_failed", "the model does not answer; try again")


def call_ids(step: Step) -> list[str]:
    assert isinstance(step, Settle | Decide | Run)
    return [call.asked.call_id for call in step.calls]


@pytest.mark.parametrize(
    ("facts", "step"),
    [
        ([], Rest("idle")),
        ([posted()], Ask()),
        ([posted(), answered(2)], Rest("idle")),
        ([*BATCH, finished("c1"), finished("c2")], Ask()),
        ([posted(), FAILED], Rest("failed", detail=FAILED.detail)),
        ([posted(), FAILED, posted("again")], Ask()),
        ([CompactionRequested("ada")], Compact()),
        ([posted(), CompactionRequested("ada")], Ask()),
        ([posted(), TurnCancelled("ada")], Rest("idle")),
        ([posted(), WorkstreamClosed("ada")], Rest("closed")),
    ],
)
def test_the_next_step_without_open_calls(facts: list[AnyFact], step: Step) -> None:
    assert plan(folded(*facts)) == step


@pytest.mark.req("O9")
def test_all_calls_of_a_batch_are_decided_before_one_runs() -> None:
    half = folded(*BATCH, decided("c1"))

    step = plan(half)
    assert isinstance(step, Decide)
    assert call_ids(step) == ["c2"]

    step = plan(then(half, decided("c2")))
    assert isinstance(step, Run)
    assert call_ids(step) == ["c1", "c2"]


@pytest.mark.req("O9", "K-6")
@pytest.mark.fault("F2")
def test_no_call_of_a_batch_runs_while_one_waits_for_a_person() -> None:
    state = folded(*BATCH, decided("c1"), *waiting("c2", "r2"))
    assert plan(state) == Rest("waiting", (WaitFor("approval", AT, "bash ls"),))

    step = plan(then(state, allowed("c2", "r2")))
    assert isinstance(step, Run)
    assert call_ids(step) == ["c1", "c2"]


@pytest.mark.req("O11")
def test_an_edited_call_is_decided_while_another_still_waits() -> None:
    state = folded(*BATCH, *waiting("c1", "r1"), *waiting("c2", "r2"))

    edited = then(state, allowed("c1", "r1", '{"command":"ls -l"}'))

    assert isinstance(plan(edited), Decide)
    assert call_ids(plan(edited)) == ["c1"]
    assert plan(then(edited, decided("c1", "ask"))) == Rest(
        "waiting", (WaitFor("approval", AT, "bash ls"),)
    )


def test_a_call_that_needs_a_person_who_was_never_asked_does_not_run() -> None:
    state = folded(posted(), answered(2, asked("c1")), decided("c1", "ask"))

    step = plan(state)

    assert isinstance(step, Decide)
    assert call_ids(step) == ["c1"]


@pytest.mark.fault("F38")
def test_a_call_that_runs_is_settled_first_and_never_shown_as_waiting() -> None:
    state = folded(*BATCH, decided("c1"), decided("c2"), started("c1"))

    step = plan(state)

    assert isinstance(step, Settle)
    assert call_ids(step) == ["c1"]
    assert project(state).state == "running"


def test_a_word_while_a_call_waits_for_a_person_does_not_wake_a_node() -> None:
    state = folded(posted(), answered(2, asked("c1")), *waiting("c1", "r1"))

    assert not project(then(state, posted("hurry"))).pending


@pytest.mark.fault("F39")
def test_a_closed_workstream_still_settles_the_call_that_runs() -> None:
    state = folded(posted(), answered(2, asked("c1")), decided("c1"), started("c1"))
    closing = then(state, TurnCancelled("ada"), WorkstreamClosed("ada"))

    assert isinstance(plan(closing), Settle)
    assert project(closing).pending
    assert plan(then(closing, finished("c1"))) == Rest("closed")


def test_an_answer_is_awaited_until_the_turn_that_asked_is_stopped() -> None:
    asking = folded(posted(), posted("later", queued=True))
    assert awaits_answer(asking, asking.version)
    assert awaits_answer(then(asking, posted("and this")), asking.version)

    stopped = then(asking, TurnCancelled("ada"))
    assert isinstance(plan(stopped), Ask)
    assert not awaits_answer(stopped, asking.version)
    assert awaits_answer(stopped, stopped.version)


def test_a_state_stands_behind_the_facts_only_where_it_is_another_than_was_shown() -> None:
    state = folded()

    shown = with_state(state, [posted()], AT)
    assert shown == [posted(), StateChanged("running")]

    running = then(state, *shown)
    assert with_state(running, [posted("more")], AT) == [posted("more")]
    assert with_state(running, [answered(3)], AT) == [answered(3), StateChanged("idle")]


def test_facts_are_numbered_behind_the_version_without_gaps() -> None:
    recorded = number(7, AT, [posted(), answered(8)])

    assert [(one.seq, one.at) for one in recorded] == [(8, AT), (9, AT)]


def test_the_projection_says_what_lists_need() -> None:
    state = folded(posted("water"), answered(2, asked("c1")), *waiting("c1", "r1"))

    projection = project(state)

    assert (projection.name, projection.owner, projection.title) == ("garden", "ada", "water")
    assert (projection.state, projection.pending) == ("waiting", False)
    assert projection.waiting_for == (WaitFor("approval", AT, "bash ls"),)
    assert (projection.calls, projection.pending_approvals) == (1, 1)


def test_the_projection_of_a_failure_carries_what_to_do() -> None:
    projection = project(folded(posted(), FAILED))

    assert (projection.state, projection.detail) == ("failed", FAILED.detail)
