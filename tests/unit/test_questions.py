"""Questions to people: what may be asked, what answers count, what they lead to."""

import msgspec
import pytest

from redshank_shared.domain.commands import (
    AnswerQuestions,
    CancelQuestion,
    CancelTurn,
    CloseWorkstream,
    Command,
    ExpireQuestion,
    PostMessage,
)
from redshank_shared.domain.decide import decide
from redshank_shared.domain.errors import Conflict, Invalid, NotFound
from redshank_shared.domain.events import (
    AnyFact,
    CallFinished,
    StateChanged,
    TurnCancelled,
    WaitFor,
    WorkstreamClosed,
)
from redshank_shared.domain.plan import Ask, Rest, plan
from redshank_shared.domain.question_events import (
    Answer,
    Audience,
    Option,
    Question,
    QuestionAnswered,
    QuestionAsked,
)
from redshank_shared.domain.questions import check_questions
from redshank_shared.domain.workstream import Workstream
from tests.unit.log_builders import AT, answered, asked, decided, folded, posted, then

TEA = (Option("o1", "green"), Option("o2", "black"))
QUESTIONS = (
    Question("qst_1.tea", "Which tea?", TEA),
    Question("qst_1.when", "When?", (Option("o1", "now"), Option("o2", "later")), True),
)
BOTH = (Answer("qst_1.tea", ("o2",)), Answer("qst_1.when", ("o1", "o2"), "or at noon"))


def asking(audience: Audience = "user", expires_at: float | None = None) -> Workstream:
    """A workstream whose one call asks two questions."""
    return folded(
        posted(),
        answered(2, asked("c1", "ask_user_question")),
        decided("c1", effect="human", tool="ask_user_question"),
        QuestionAsked("qst_1", "c1", audience, QUESTIONS, expires_at),
    )


def facts_of(state: Workstream, command: Command) -> list[AnyFact]:
    return decide(state, command, AT)


def question(**more: object) -> Question:
    return msgspec.structs.replace(Question("q", "Which?", TEA), **more)


@pytest.mark.req("K-18")
@pytest.mark.parametrize(
    ("questions", "field"),
    [
        ((), "questions"),
        (tuple(question(question_id=f"q{n}", text=f"{n}?") for n in range(5)), "questions"),
        ((question(), question(question_id="other")), "questions"),
        ((question(), question(text="Other?")), "questions"),
        ((question(options=TEA[:1]),), "questions[0].options"),
        ((question(options=tuple(Option(f"o{n}", f"{n}") for n in range(5))),), None),
        ((question(options=(TEA[0], Option("o1", "white"))),), "questions[0].options"),
        ((question(options=(TEA[0], Option("o2", "green"))),), "questions[0].options"),
        ((question(text=" "),), "questions[0].question"),
        ((question(question_id="no spaces"),), "questions[0].id"),
        ((question(options=(TEA[0], Option("o2", ""))),), "questions[0].options[1].label"),
    ],
)
def test_questions_out_of_bounds_are_refused_with_their_field(
    questions: tuple[Question, ...], field: str | None
) -> None:
    with pytest.raises(Invalid) as refused:
        check_questions(questions)
    assert refused.value.field == (field or "questions[0].options")


@pytest.mark.req("K-18")
def test_four_questions_of_four_options_may_be_asked() -> None:
    options = tuple(Option(f"o{n}", f"label {n}") for n in range(4))
    check_questions([Question(f"q{n}", f"{n}?", options, n == 1) for n in range(4)])


@pytest.mark.req("K-18")
def test_a_question_suspends_the_turn_until_it_is_answered_and_words_wait_behind_it() -> None:
    state = asking()
    assert plan(state) == Rest("waiting", (WaitFor("question", AT, "Which tea?"),))
    later = then(state, *facts_of(state, PostMessage("hurry", "ada")))
    assert isinstance(plan(later), Rest)


def test_the_answers_are_the_result_of_the_call_that_asked() -> None:
    state = asking()
    facts = facts_of(state, AnswerQuestions(BOTH, "ada"))
    result = facts[1]
    assert facts[0] == QuestionAnswered("qst_1", "c1", "answered", "ada", BOTH)
    assert isinstance(result, CallFinished)
    assert (result.call_id, result.tool, result.outcome) == ("c1", "ask_user_question", "ok")
    assert msgspec.json.decode(result.output) == {
        "answered_by": "ada",
        "answers": [
            {
                "id": "tea",
                "question": "Which tea?",
                "selected": [{"id": "o2", "label": "black"}],
                "text": "",
            },
            {
                "id": "when",
                "question": "When?",
                "selected": [{"id": "o1", "label": "now"}, {"id": "o2", "label": "later"}],
                "text": "or at noon",
            },
        ],
    }
    assert facts[2:] == [StateChanged("running")]
    assert isinstance(plan(then(state, *facts)), Ask)


@pytest.mark.parametrize(
    ("answers", "code", "field"),
    [
        ((), "invalid", "answers"),
        (BOTH[:1], "answer_missing", "answers"),
        ((BOTH[0], BOTH[0]), "duplicate_answer", "answers[1].question_id"),
        ((Answer("qst_1.tea", ("o9",)), BOTH[1]), "unknown_option", "answers[0].option_ids[0]"),
        (
            (Answer("qst_1.tea", ("o1", "o2")), BOTH[1]),
            "too_many_options",
            "answers[0].option_ids",
        ),
        ((BOTH[0], Answer("qst_1.when", ("o1", "o1"))), "duplicate", "answers[1].option_ids"),
        ((BOTH[0], Answer("qst_1.when", (), " ")), "empty_answer", "answers[1]"),
        ((BOTH[0], Answer("qst_1.when", (), "a\0")), "bad_character", "answers[1].text"),
        ((BOTH[0], Answer("qst_1.when", (), "x" * 20_001)), "text_too_long", "answers[1].text"),
    ],
)
def test_one_wrong_answer_refuses_all_and_names_itself(
    answers: tuple[Answer, ...], code: str, field: str
) -> None:
    with pytest.raises(Invalid) as refused:
        facts_of(asking(), AnswerQuestions(answers, "ada"))
    assert (refused.value.code, refused.value.field) == (code, field)


@pytest.mark.fault("F-50")
def test_what_was_answered_or_never_asked_does_not_wait() -> None:
    state = asking()
    done = then(state, *facts_of(state, AnswerQuestions(BOTH, "ada")))
    for command in (
        AnswerQuestions(BOTH, "bob"),
        AnswerQuestions((Answer("qst_9.tea", ("o1",)),), "bob"),
        CancelQuestion("qst_1", "bob"),
    ):
        with pytest.raises(NotFound) as refused:
            facts_of(done, command)
        assert refused.value.code == "question_not_waiting"
    assert facts_of(done, ExpireQuestion("qst_1", "clock")) == []


def test_a_cancelled_question_is_told_to_the_agent_which_goes_on() -> None:
    state = asking()
    facts = facts_of(state, CancelQuestion("qst_1", "ada"))
    assert isinstance(facts[0], QuestionAnswered)
    assert facts[0].outcome == "cancelled"
    assert isinstance(facts[1], CallFinished)
    assert (facts[1].outcome, facts[1].output) == (
        "cancelled",
        "Cancelled by ada without an answer; go on without it.",
    )
    assert isinstance(plan(then(state, *facts)), Ask)


@pytest.mark.req("K-54")
@pytest.mark.parametrize("audience", ["user", "operator"])
def test_nobody_answers_a_question_whose_time_is_over_though_no_clock_has_said_so_yet(
    audience: Audience,
) -> None:
    state = asking(audience, expires_at=1.0)
    with pytest.raises(Conflict) as refusal:
        decide(state, AnswerQuestions(BOTH, "ada"), "1970-01-01T00:00:01.000Z")
    assert refusal.value.code == "question_expired"
    assert decide(state, AnswerQuestions(BOTH, "ada"), "1970-01-01T00:00:00.900Z")


@pytest.mark.req("K-54")
def test_an_expired_question_to_the_user_cancels_the_run_and_says_how_to_go_on() -> None:
    state = asking(expires_at=1.0)
    facts = facts_of(state, ExpireQuestion("qst_1", "clock"))
    asked_no_more, result, cancelled, shown = facts
    assert isinstance(asked_no_more, QuestionAnswered)
    assert (asked_no_more.outcome, asked_no_more.by) == ("expired", "clock")
    assert "send a message to go on" in asked_no_more.detail
    assert isinstance(result, CallFinished)
    assert (result.outcome, result.is_error) == ("cancelled", True)
    assert (cancelled, shown) == (TurnCancelled("clock"), StateChanged("idle"))


def test_an_expired_question_to_an_operator_lets_the_run_go_on_without() -> None:
    state = asking("operator", expires_at=1.0)
    facts = facts_of(state, ExpireQuestion("qst_1", "clock"))
    assert not any(isinstance(fact, TurnCancelled) for fact in facts)
    assert isinstance(plan(then(state, *facts)), Ask)


def test_a_question_without_an_end_does_not_expire() -> None:
    assert facts_of(asking(), ExpireQuestion("qst_1", "clock")) == []


@pytest.mark.fault("F-39")
@pytest.mark.parametrize("command", [CancelTurn("ada"), CloseWorkstream("ada")])
def test_stopping_or_closing_ends_what_is_asked_with_one_result_for_its_call(
    command: Command,
) -> None:
    state = asking()
    facts = facts_of(state, command)
    (asked_no_more,) = [fact for fact in facts if isinstance(fact, QuestionAnswered)]
    assert (asked_no_more.outcome, asked_no_more.by) == ("cancelled", "ada")
    assert len([fact for fact in facts if isinstance(fact, CallFinished)]) == 1
    after = then(state, *facts)
    assert (after.questions, after.open_calls) == ({}, [])
    if isinstance(command, CloseWorkstream):
        assert any(isinstance(fact, WorkstreamClosed) for fact in facts)
        with pytest.raises(Conflict):
            facts_of(after, AnswerQuestions(BOTH, "ada"))


def test_a_question_of_a_call_that_has_its_result_asks_nobody() -> None:
    state = asking()
    done = then(state, *facts_of(state, CancelQuestion("qst_1", "ada")))
    again = then(done, QuestionAsked("qst_2", "c1", "user", QUESTIONS))
    assert again.questions == {}
