"""A workstream's state is what its log says, no more."""

import pytest

from redshank_shared.domain.commands import RevokeGrant
from redshank_shared.domain.decide import decide
from redshank_shared.domain.errors import NotFound
from redshank_shared.domain.events import (
    AnyFact,
    CompactionRequested,
    ContextCompacted,
    ModeChanged,
    Recorded,
    StateChanged,
    TokensUsed,
    TurnCancelled,
    TurnFailed,
    TurnRetried,
    TurnStarted,
    WorkstreamClosed,
    WorkstreamCreated,
)
from redshank_shared.domain.plan import number
from redshank_shared.domain.rule_events import GrantRevoked, RulesUpdated, SessionRule
from redshank_shared.domain.workstream import Workstream, advance, fold
from tests.unit.log_builders import (
    AT,
    CREATED,
    WORKSTREAM,
    allowed,
    answered,
    asked,
    decided,
    finished,
    folded,
    interrupted,
    posted,
    started,
    then,
    waiting,
)

ONE_OF_EVERYTHING: list[AnyFact] = [
    CREATED,
    posted("water the garden\nplease"),
    StateChanged("running"),
    TurnStarted("node-a", 1),
    answered(4, asked("c1"), asked("c2"), asked("c3")),
    decided("c1"),
    *waiting("c2", "r2"),
    *waiting("c3", "r3"),
    posted("and the roses", queued=True),
    allowed("c2", "r2"),
    allowed("c3", "r3", '{"command":"ls -l"}'),
    decided("c3", "ask"),
    started("c1"),
    finished("c1"),
    started("c2"),
    interrupted("c2"),
    finished("c3"),
    answered(20),
    TokensUsed("qwen3", 10, 5),
    ModeChanged("plan", "ada"),
    CompactionRequested("ada"),
    TurnFailed("model_failed", "try again"),
    TurnRetried("ada"),
    answered(26),
    ContextCompacted(27, "the garden is watered"),
    TurnCancelled("ada"),
    WorkstreamClosed("ada"),
]


def entry_seqs(state: Workstream) -> list[int]:
    return [entry.seq for entry in state.entries]


@pytest.mark.fault("F38")
@pytest.mark.parametrize("seen", range(len(ONE_OF_EVERYTHING)))
def test_whoever_comes_late_at_any_event_ends_with_the_same_state(seen: int) -> None:
    log = number(0, AT, ONE_OF_EVERYTHING)

    assert advance(fold(WORKSTREAM, log[:seen]), log[seen:]) == fold(WORKSTREAM, log)


def test_folding_leaves_the_state_before_as_it_was() -> None:
    before = folded(posted(), answered(2, asked("c1")))
    copy = folded(posted(), answered(2, asked("c1")))

    then(before, *waiting("c1", "r1"), allowed("c1", "r1"), started("c1"), finished("c1"))

    assert before == copy


def test_a_new_workstream_has_its_name_mode_and_times() -> None:
    created = WorkstreamCreated(name="garden", owner="ada", mode="plan")
    log = [Recorded(1, "2026-01-01T00:00:00.000Z", created), Recorded(2, AT, posted("hi"))]

    state = fold(WORKSTREAM, log)

    assert (state.created, state.mode, state.version) == (created, "plan", 2)
    assert (state.created_at, state.updated_at) == ("2026-01-01T00:00:00.000Z", AT)


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("  water the garden \nplease", "water the garden"),
        ("x" * 80, "x" * 80),
        ("x" * 81, "x" * 79 + "…"),
    ],
)
def test_the_first_line_of_the_first_message_is_the_title(text: str, title: str) -> None:
    assert folded(posted(text), posted("something else")).title == title


def test_tokens_are_summed_and_calls_counted() -> None:
    state = folded(TokensUsed("qwen3", 10, 5), TokensUsed("qwen3", 1, 2), answered(2, asked("c1")))

    assert (state.input_tokens, state.output_tokens, state.call_count) == (11, 7, 1)


def test_a_message_makes_an_answer_due_until_the_model_has_answered_to_it() -> None:
    asking = folded(posted())

    assert asking.owes
    assert not then(asking, answered(2)).owes


def test_a_word_that_came_while_the_model_was_answering_is_still_unanswered() -> None:
    state = folded(posted(), posted("and this"), answered(2))

    assert state.owes


def test_a_message_for_later_is_read_when_the_turn_in_hand_has_ended() -> None:
    working = folded(posted(), answered(2, asked("c1")), posted("later", queued=True))
    assert [entry.seq for entry in working.queued] == [4]
    assert 4 not in entry_seqs(working)

    still_working = then(working, finished("c1"))
    assert still_working.queued

    ended = then(still_working, answered(5))
    assert not ended.queued
    assert entry_seqs(ended) == [2, 3, 5, 6, 4]
    assert ended.owes


def test_a_message_for_later_is_read_at_once_where_nothing_is_in_hand() -> None:
    state = folded(posted("later", queued=True))

    assert not state.queued
    assert state.owes


def test_a_message_for_later_is_read_at_once_where_only_a_cancelled_call_still_runs() -> None:
    stopping = folded(posted(), answered(2, asked("c1")), decided("c1"), started("c1"))
    stopping = then(stopping, TurnCancelled("ada"), posted("later", queued=True))

    ended = then(stopping, finished("c1"))

    assert not ended.queued
    assert ended.owes


def test_what_waits_for_the_end_of_a_turn_is_read_when_the_turn_is_cancelled() -> None:
    state = folded(posted(), posted("later", queued=True), TurnCancelled("ada"))

    assert entry_seqs(state) == [2, 3]
    assert not state.queued
    assert state.owes


def test_a_cancelled_turn_owes_nothing_and_is_stopping_until_its_running_calls_have_ended() -> None:
    running = folded(posted(), answered(2, asked("c1")), decided("c1"), started("c1"))

    stopping = then(running, TurnCancelled("ada"))
    assert (stopping.owes, stopping.stopping, stopping.cancelled_at) == (False, True, 6)

    stopped = then(stopping, finished("c1"))
    assert (stopped.owes, stopped.stopping) == (False, False)


def test_cancelling_a_failed_turn_ends_it() -> None:
    state = folded(posted(), TurnFailed("model_failed", "try again"), TurnCancelled("ada"))

    assert state.failed is None


@pytest.mark.parametrize("mend", [posted("again"), TurnRetried("ada")])
def test_a_failed_turn_is_taken_up_again_by_a_message_or_a_retry(mend: TurnRetried) -> None:
    failed = folded(posted(), TurnFailed("model_failed", "try again"))
    assert failed.failed is not None

    mended = then(failed, mend)

    assert mended.failed is None
    assert mended.owes


@pytest.mark.req("O11")
def test_an_edited_input_takes_the_place_of_the_models_and_is_decided_anew() -> None:
    state = folded(posted(), answered(2, asked("c1")), *waiting("c1", "r1"))

    edited = then(state, allowed("c1", "r1", '{"command":"ls -l"}'))

    assert edited.calls["c1"].status == "edited"
    assert edited.calls["c1"].arguments == '{"command":"ls -l"}'
    assert edited.calls["c1"].asked.arguments == '{"command":"ls"}'
    assert then(edited, decided("c1", "ask")).calls["c1"].status == "approved"
    assert then(edited, decided("c1", "deny")).calls["c1"].status == "denied"


@pytest.mark.fault("F3")
def test_the_first_answer_to_an_approval_counts() -> None:
    state = folded(posted(), answered(2, asked("c1")), *waiting("c1", "r1"), allowed("c1", "r1"))

    twice = then(state, allowed("c1", "r1", '{"command":"rm -r /"}'))

    assert twice.calls["c1"] == state.calls["c1"]


@pytest.mark.fault("F3", "F19")
def test_the_first_result_of_a_call_counts() -> None:
    state = folded(posted(), answered(2, asked("c1")), decided("c1"), finished("c1", "first"))

    assert then(state, finished("c1", "second")).entries == state.entries
    assert then(state, interrupted("c1")).entries == state.entries


@pytest.mark.fault("F2")
def test_a_call_that_waits_for_a_person_is_neither_started_nor_ended_by_anything_else() -> None:
    state = folded(posted(), answered(2, asked("c1")), *waiting("c1", "r1"))

    for fact in (started("c1"), finished("c1"), interrupted("c1"), decided("c1")):
        assert then(state, fact).calls["c1"].status == "awaiting"


@pytest.mark.fault("F40")
def test_calls_of_two_turns_with_one_provider_id_stay_two() -> None:
    state = folded(
        posted(), answered(2, asked("c1", provider_id="call_0")), finished("c1", "first")
    )

    state = then(state, answered(4, asked("c2", provider_id="call_0")))

    assert [call.asked.call_id for call in state.open_calls] == ["c2"]
    assert state.call_count == 2


def test_a_fact_about_a_call_of_an_earlier_batch_changes_nothing() -> None:
    state = folded(posted(), answered(2, asked("c1")), finished("c1"), answered(4, asked("c2")))

    for fact in (decided("c1"), started("c1"), finished("c1"), allowed("c1", "r1")):
        assert then(state, fact) == then(state, TurnRetried("ada"))


def test_closing_forgets_what_was_queued_and_owed() -> None:
    state = folded(posted(), posted("later", queued=True), WorkstreamClosed("ada"))

    assert (state.closed, state.owes, state.queued) == (True, False, ())


@pytest.mark.req("K-43", "T-14")
def test_what_is_revoked_is_allowed_neither_by_people_nor_by_hooks() -> None:
    made = RulesUpdated("gate", (SessionRule("bash", "allow"), SessionRule("watch", "deny")))
    state = folded(posted(), made)

    facts = decide(state, RevokeGrant("bash", "ada"), AT)

    assert facts[0] == GrantRevoked("bash", "ada")
    assert then(state, *facts).hook_rules == (SessionRule("watch", "deny"),)
    with pytest.raises(NotFound) as caught:
        decide(state, RevokeGrant("watch", "ada"), AT)
    assert "allowed are: bash" in caught.value.detail
