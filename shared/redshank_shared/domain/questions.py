"""Questions to people: what may be asked, what answers count, what an answer leads to."""

import re
from collections.abc import Iterable, Sequence
from typing import assert_never

import msgspec

from redshank_shared.domain.commands import AnswerQuestions, CancelQuestion, ExpireQuestion
from redshank_shared.domain.errors import Invalid, NotFound
from redshank_shared.domain.events import AnyFact, CallFinished, Outcome
from redshank_shared.domain.question_events import (
    Answer,
    Question,
    QuestionAnswered,
    QuestionAsked,
    QuestionOutcome,
)
from redshank_shared.domain.unanswered import Unanswered
from redshank_shared.domain.workstream import Workstream

MOST_QUESTIONS = 4
OPTIONS = (2, 4)
MOST_ANSWER_CHARACTERS = 20_000
EXPIRED_RUN = "nobody answered in time, so the run was cancelled; send a message to go on"
_EXPIRED_CALL = "Nobody answered in time. Go on without an answer, or say what you need."
_NAME = re.compile(r"[A-Za-z0-9_-]{1,40}")


def check_questions(questions: Sequence[Question]) -> None:
    """Raises Invalid that names the field: one to four questions of two to four options each,
    nothing twice, nothing empty (K-18).
    """
    _check_count("questions", len(questions), 1, MOST_QUESTIONS)
    _check_once("questions", "question", [question.text for question in questions])
    _check_once("questions", "id", [question.question_id for question in questions])
    for index, question in enumerate(questions):
        at = f"questions[{index}]"
        _check_name(f"{at}.id", question.question_id)
        _check_text(f"{at}.question", question.text)
        _check_count(f"{at}.options", len(question.options), *OPTIONS)
        _check_once(f"{at}.options", "id", [option.option_id for option in question.options])
        _check_once(f"{at}.options", "label", [option.label for option in question.options])
        for place, option in enumerate(question.options):
            _check_name(f"{at}.options[{place}].id", option.option_id)
            _check_text(f"{at}.options[{place}].label", option.label)


def decide(
    state: Workstream, command: AnswerQuestions | CancelQuestion | ExpireQuestion
) -> list[AnyFact]:
    """The facts of a command about questions, the result of the call that asked among them.

    NotFound for what does not wait, Invalid names the answer to blame; then nothing counts. What
    expired after it was answered changes nothing.
    """
    match command:
        case AnswerQuestions():
            return _answer(state, command)
        case CancelQuestion():
            waiting = state.questions.get(command.request_id)
            if waiting is None:
                raise _not_waiting(command.request_id, "request_id")
            said = f"Cancelled by {command.by} without an answer; go on without it."
            return _ended(state, waiting.asked, "cancelled", command.by, said)
        case ExpireQuestion():
            waiting = state.questions.get(command.request_id)
            if waiting is None or waiting.asked.expires_at is None:
                return []
            return _ended(state, waiting.asked, "expired", command.by, _EXPIRED_CALL)
        case _:
            assert_never(command)


def withdrawn(
    waiting: Iterable[Unanswered], by: str, outcome: QuestionOutcome, detail: str = ""
) -> list[AnyFact]:
    """These questions ask no more, because what they belong to is stopped."""
    return [
        QuestionAnswered(one.asked.request_id, one.asked.call_id, outcome, by, detail=detail)
        for one in waiting
    ]


def renamed(asked: QuestionAsked, request_id: str) -> QuestionAsked:
    """The same request under another id, its questions with it."""
    before = f"{asked.request_id}."
    questions = tuple(
        msgspec.structs.replace(
            each, question_id=f"{request_id}.{each.question_id.removeprefix(before)}"
        )
        for each in asked.questions
    )
    return msgspec.structs.replace(asked, request_id=request_id, questions=questions)


def _answer(state: Workstream, command: AnswerQuestions) -> list[AnyFact]:
    if not command.answers:
        raise Invalid("answers is empty; answer every question", field="answers")
    asked = _asked_with(state, command.answers[0].question_id)
    questions = {question.question_id: question for question in asked.questions}
    given: dict[str, Answer] = {}
    for index, answer in enumerate(command.answers):
        at = f"answers[{index}]"
        question = questions.get(answer.question_id)
        if question is None:
            raise _not_waiting(answer.question_id, f"{at}.question_id")
        if answer.question_id in given:
            raise Invalid(
                f"{answer.question_id} stands twice; answer each question once",
                code="duplicate_answer",
                field=f"{at}.question_id",
            )
        _check_answer(question, answer, at)
        given[answer.question_id] = answer
    if missing := [key for key in questions if key not in given]:
        raise Invalid(
            f"answers lacks {', '.join(missing)}; the questions of one call are answered together",
            code="answer_missing",
            field="answers",
        )
    answers = tuple(given[key] for key in questions)
    fact = QuestionAnswered(asked.request_id, asked.call_id, "answered", command.by, answers)
    return [fact, _result(state, asked, said_to_agent(asked, answers, command.by))]


def _asked_with(state: Workstream, question_id: str) -> QuestionAsked:
    for waiting in state.questions.values():
        if any(question.question_id == question_id for question in waiting.asked.questions):
            return waiting.asked
    raise _not_waiting(question_id, "answers[0].question_id")


def _check_answer(question: Question, answer: Answer, at: str) -> None:
    known = [option.option_id for option in question.options]
    for place, option_id in enumerate(answer.option_ids):
        if option_id not in known:
            raise Invalid(
                f"there is no option {option_id}; there are: {', '.join(known)}",
                code="unknown_option",
                field=f"{at}.option_ids[{place}]",
            )
    _check_once(f"{at}.option_ids", "option", answer.option_ids)
    if len(answer.option_ids) > 1 and not question.multi_select:
        raise Invalid(
            "this question takes one option; choose one",
            code="too_many_options",
            field=f"{at}.option_ids",
        )
    if not answer.option_ids and not answer.text.strip():
        raise Invalid(
            "choose an option, or write an answer of your own", code="empty_answer", field=at
        )
    if len(answer.text) > MOST_ANSWER_CHARACTERS:
        raise Invalid(
            f"{at}.text has {len(answer.text)} characters, at most {MOST_ANSWER_CHARACTERS} are "
            "taken; put the rest in a file",
            code="text_too_long",
            field=f"{at}.text",
        )


def said_to_agent(asked: QuestionAsked, answers: tuple[Answer, ...], by: str) -> str:
    """The answers as the model reads them (JSON text), under the names that it gave."""
    said = []
    for question, answer in zip(asked.questions, answers, strict=True):
        labels = {option.option_id: option.label for option in question.options}
        said.append(
            {
                "id": question.question_id.removeprefix(f"{asked.request_id}."),
                "question": question.text,
                "selected": [{"id": key, "label": labels[key]} for key in answer.option_ids],
                "text": answer.text,
            }
        )
    return msgspec.json.encode({"answered_by": by, "answers": said}).decode()


def _ended(
    state: Workstream, asked: QuestionAsked, outcome: QuestionOutcome, by: str, said: str
) -> list[AnyFact]:
    fact = QuestionAnswered(asked.request_id, asked.call_id, outcome, by, detail=said)
    return [fact, _result(state, asked, said, "cancelled")]


def _result(
    state: Workstream, asked: QuestionAsked, output: str, outcome: Outcome = "ok"
) -> CallFinished:
    tool = state.calls[asked.call_id].asked.tool
    return CallFinished(asked.call_id, tool, outcome != "ok", output, outcome)


def _not_waiting(named: str, field: str) -> NotFound:
    return NotFound(
        f"{named} does not wait in this workstream: it is unknown or was answered already",
        code="question_not_waiting",
        field=field,
    )


def _check_count(field: str, count: int, least: int, most: int) -> None:
    if not least <= count <= most:
        raise Invalid(f"{field} must be {least} to {most}, not {count}", field=field)


def _check_once(field: str, what: str, values: Sequence[str]) -> None:
    seen: set[str] = set()
    for value in values:
        if value in seen:
            raise Invalid(
                f"{field}: the {what} {value!r} stands twice; each must be another",
                code="duplicate",
                field=field,
            )
        seen.add(value)


def _check_name(field: str, name: str) -> None:
    if not _NAME.fullmatch(name):
        raise Invalid(
            f"{field} must be 1 to 40 letters, digits, - or _, not {name[:60]!r}", field=field
        )


def _check_text(field: str, text: str) -> None:
    if not text.strip():
        raise Invalid(f"{field} is empty; write something", code="empty_text", field=field)
