"""What a model reads is a conversation that every provider takes."""

import pytest

from redshank_shared.domain.events import CompactionRequested, ContextCompacted, TurnCancelled
from redshank_shared.domain.messages import AssistantMessage, ResultMessage, UserMessage
from redshank_shared.domain.transcript import SUMMARY_HEADER, transcript
from redshank_shared.domain.workstream import Workstream
from tests.unit.log_builders import (
    answered,
    asked,
    decided,
    finished,
    folded,
    interrupted,
    posted,
    started,
    then,
)


def lines(state: Workstream) -> list[str]:
    """One line a message: who, then what."""
    said: list[str] = []
    for message in transcript(state):
        match message:
            case UserMessage(text=text):
                said.append(f"user: {text}")
            case AssistantMessage(text=text, calls=calls):
                said.append(f"model: {text}{' '.join(call.call_id for call in calls)}")
            case ResultMessage(call_id=call_id, output=output):
                said.append(f"{call_id}: {output}")
    return said


def test_words_and_answers_stand_in_the_order_in_which_they_were_said() -> None:
    state = folded(posted("hello"), answered(2, text="hi"), posted("bye"))

    assert lines(state) == ["user: hello", "model: hi", "user: bye"]


@pytest.mark.fault("F19")
def test_results_stand_behind_their_answer_in_its_order_whatever_their_own() -> None:
    state = folded(
        posted("go"),
        answered(2, asked("c1"), asked("c2"), asked("c3")),
        decided("c1"),
        started("c1"),
        finished("c3", "three"),
        interrupted("c1"),
        finished("c2", "two"),
    )

    assert lines(state) == [
        "user: go",
        "model: c1 c2 c3",
        "c1: the node stopped; outcome unknown",
        "c2: two",
        "c3: three",
    ]


@pytest.mark.fault("F19")
def test_a_word_that_came_while_calls_ran_stands_behind_their_results() -> None:
    state = folded(
        posted("go"),
        answered(2, asked("c1"), asked("c2")),
        finished("c1", "one"),
        posted("and hurry"),
        finished("c2", "two"),
    )

    assert lines(state) == ["user: go", "model: c1 c2", "c1: one", "c2: two", "user: and hurry"]


def test_a_word_that_came_while_the_model_was_answering_stands_behind_that_answer() -> None:
    state = folded(posted("go"), posted("wait"), answered(2, text="gone"))

    assert lines(state) == ["user: go", "model: gone", "user: wait"]
    assert lines(then(state, answered(4, text="too late"))) == [
        "user: go",
        "model: gone",
        "user: wait",
        "model: too late",
    ]


def test_a_word_for_later_is_not_read_before_the_turn_in_hand_has_ended() -> None:
    working = folded(posted("go"), answered(2, asked("c1")), posted("later", queued=True))
    working = then(working, finished("c1", "one"))
    assert "user: later" not in lines(working)

    assert lines(then(working, answered(5, text="done"))) == [
        "user: go",
        "model: c1",
        "c1: one",
        "model: done",
        "user: later",
    ]


@pytest.mark.fault("F40")
def test_results_of_calls_with_one_provider_id_in_two_turns_do_not_mix() -> None:
    state = folded(
        posted("go"),
        answered(2, asked("c1", provider_id="call_0")),
        finished("c1", "first"),
        answered(4, asked("c2", provider_id="call_0")),
        finished("c2", "second"),
    )

    assert lines(state)[1:] == ["model: c1", "c1: first", "model: c2", "c2: second"]


@pytest.mark.fault("F19")
def test_a_cancelled_running_call_has_its_result_before_the_next_question() -> None:
    state = folded(posted("go"), answered(2, asked("c1")), decided("c1"), started("c1"))
    state = then(state, TurnCancelled("ada"), posted("something else"), finished("c1", "stopped"))

    assert lines(state) == ["user: go", "model: c1", "c1: stopped", "user: something else"]


def test_a_providers_own_blocks_and_ids_go_back_unchanged() -> None:
    call = asked("c1", provider_id="toolu_7")
    answer = answered(2, call)

    message = transcript(folded(posted("go"), answer, finished("c1")))[1]

    assert isinstance(message, AssistantMessage)
    assert message.calls == (call,)
    assert message.opaque == answer.opaque


def test_a_summary_stands_in_place_of_what_it_covers() -> None:
    state = folded(posted("hello"), answered(2, text="hi"), CompactionRequested("ada"))

    state = then(state, ContextCompacted(4, "they greeted"), posted("bye"))

    assert lines(state) == [f"user: {SUMMARY_HEADER}they greeted", "user: bye"]


def test_a_later_summary_takes_the_place_of_the_earlier() -> None:
    state = folded(posted("hello"), ContextCompacted(2, "a greeting"), posted("and?"))

    state = then(state, ContextCompacted(4, "a greeting, a question"))

    assert lines(state) == [f"user: {SUMMARY_HEADER}a greeting, a question"]


def test_words_that_came_while_the_summary_was_written_are_kept() -> None:
    state = folded(posted("hello"), posted("are you there"), ContextCompacted(2, "a greeting"))

    assert lines(state) == [f"user: {SUMMARY_HEADER}a greeting", "user: are you there"]


def test_a_word_that_was_queued_while_the_summary_was_written_is_kept() -> None:
    state = folded(posted("go"), posted("later", queued=True), ContextCompacted(3, "a start"))

    state = then(state, answered(4, text="done"))

    assert lines(state) == [f"user: {SUMMARY_HEADER}a start", "model: done", "user: later"]


def test_no_two_messages_share_a_number_so_that_their_encoded_bytes_may_be_kept() -> None:
    before = folded(posted("hello"), answered(2, text="hi"))

    after = then(before, ContextCompacted(3, "they greeted"), posted("bye"))

    numbers = [message.seq for message in transcript(after)]
    assert numbers == [4, 5]
    assert not {message.seq for message in transcript(before)} & set(numbers)
