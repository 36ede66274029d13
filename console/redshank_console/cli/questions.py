"""The commands on questions: `redshank questions …`."""

from typing import Annotated

import typer

from redshank_console.cli import finding
from redshank_console.cli.output import say, write_json, write_table
from redshank_console.cli.session import Session, with_session
from redshank_console.cli.waiting import wait_for_rest
from redshank_shared.client.views import NewAnswer, QuestionPart, QuestionView, WorkstreamView
from redshank_shared.domain.errors import Invalid

PAGE = 200

questions = typer.Typer(no_args_is_help=True, help="What agents ask you.")
Named = Annotated[
    str,
    typer.Argument(metavar="ID", help="a question's id, its beginning, or its workstream"),
]
Wait = Annotated[bool, typer.Option("--wait", help="tell the turn until it rests")]


def ls(session: Session) -> None:
    """List what is asked, the oldest first."""
    page = session.client.questions({"limit": PAGE})
    if session.wants_json:
        write_json(page.items)
        return
    rows = [row for each in page.items for row in _rows(each)]
    write_table(("ID", "WORKSTREAM", "SINCE", "ASKS", "QUESTION", "OPTIONS"), rows)
    if page.total > len(page.items):
        say(f"{len(page.items)} of {page.total}")


def answer(
    session: Session,
    named: Named,
    answers: Annotated[
        list[str],
        typer.Argument(
            metavar="ANSWER",
            help="one for each question: an option's number, id or label, several with commas "
            "where several may be chosen; anything else is your own words",
        ),
    ],
    wait: Wait = False,
) -> None:
    """Answer the questions of a request, in their order."""
    workstream, request = finding.question(session.client, named)
    if len(answers) != len(request.questions):
        raise Invalid(
            f"{request.request_id} asks {len(request.questions)}, you answer {len(answers)}: "
            f"give one ANSWER for each question",
            field="ANSWER",
        )
    given = tuple(map(_answer, request.questions, answers))
    before = session.client.workstream(workstream).last_seq
    view = session.client.answer(workstream, given)
    _tell(session, view, f"{request.request_id} answered", before, wait)


def cancel(session: Session, named: Named, wait: Wait = False) -> None:
    """Let the agent go on without an answer."""
    workstream, request = finding.question(session.client, named)
    before = session.client.workstream(workstream).last_seq
    view = session.client.cancel_question(workstream, request.request_id)
    _tell(session, view, f"{request.request_id} cancelled", before, wait)


for command in (ls, answer, cancel):
    questions.command(command.__name__)(with_session(command))


def _tell(session: Session, view: WorkstreamView, done: str, before: int, wait: bool) -> None:
    if wait:
        wait_for_rest(session, view.id, before)
    elif session.wants_json:
        write_json(view)
    else:
        say(f"{done}; {view.id} is {view.state}")


def _answer(question: QuestionPart, said: str) -> NewAnswer:
    """The options that are meant, or the words as they are."""
    by_name: dict[str, str] = {}
    for number, option in enumerate(question.options, start=1):
        for name in (str(number), option.label.casefold(), option.option_id):
            by_name[name] = option.option_id
    words = [said.strip(), *(said.split(",") if question.multi_select else ())]
    meant = [by_name.get(word.strip()) or by_name.get(word.strip().casefold()) for word in words]
    if meant[0]:
        return NewAnswer(question.question_id, (meant[0],))
    chosen = [each for each in meant[1:] if each]
    if len(meant) > 1 and len(chosen) == len(meant) - 1:
        return NewAnswer(question.question_id, tuple(chosen))
    return NewAnswer(question.question_id, text=said)


def _rows(each: QuestionView) -> list[tuple[str, ...]]:
    return [
        (
            each.request_id,
            each.workstream_id,
            each.asked_at,
            each.audience,
            question.text,
            " / ".join(option.label for option in question.options),
        )
        for question in each.questions
    ]
