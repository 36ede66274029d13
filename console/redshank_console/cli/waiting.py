"""Waits until a workstream rests, telling the turn meanwhile."""

import msgspec
import typer

from redshank_console.cli import exits
from redshank_console.cli.output import say, write, write_json
from redshank_console.cli.session import Session
from redshank_console.cli.telling import Teller, waits_for_a_person
from redshank_shared.client.following import follow
from redshank_shared.client.stream import Notice
from redshank_shared.client.views import ApprovalView, QuestionView, WorkstreamView
from redshank_shared.domain.events import Recorded, StateChanged, WaitFor

PING = Notice("ping")


class Rested(msgspec.Struct, frozen=True):
    """How a turn ended, for programs."""

    id: str
    state: str
    answer: str
    waiting_for: tuple[WaitFor, ...]
    pending_approvals: tuple[ApprovalView, ...]
    pending_questions: tuple[QuestionView, ...]
    detail: str | None


def wait_for_rest(session: Session, workstream_id: str, after: int) -> None:
    """Tell what comes after this number until the workstream rests, then exit accordingly.

    0 idle or closed, 1 failed, 6 waits for a person (says for what, with the command to answer).
    Ctrl-C ends the telling alone; how to stop the turn is said.
    """
    try:
        _tell_until_rest(session, workstream_id, after)
    except KeyboardInterrupt:
        say(f"the turn goes on: redshank ws tail -f {workstream_id}")
        say(f"  to stop it: redshank ws cancel {workstream_id}")
        raise


def _tell_until_rest(session: Session, workstream_id: str, after: int) -> None:
    teller = Teller(_nothing if session.wants_json else write, say)
    said: tuple[WaitFor, ...] = ()
    for frame in follow(session.client, workstream_id, after):
        teller.take(frame)
        if frame == PING:
            said = _say_why_nothing_comes(session.client.workstream(workstream_id), said)
        if not isinstance(frame, Recorded) or not isinstance(frame.fact, StateChanged):
            continue
        if frame.fact.state == "running":
            continue
        view = session.client.workstream(workstream_id)
        if _goes_on(view):
            continue
        if session.wants_json:
            write_json(_rested(view, teller.answer))
        raise typer.Exit(_close(view))


def _say_why_nothing_comes(view: WorkstreamView, said: tuple[WaitFor, ...]) -> tuple[WaitFor, ...]:
    if view.waiting_for != said:
        for wait in view.waiting_for:
            say(f"waits for {wait.kind} since {wait.since}: {wait.detail}")
    return view.waiting_for


def say_what_waits(view: WorkstreamView) -> None:
    """What a person can do about a workstream that waits."""
    for approval in view.pending_approvals:
        say(f"{approval.tool} waits for your word: {approval.preview.title}")
        say(f"  redshank approvals allow {approval.request_id}")
        say(f"  redshank approvals deny {approval.request_id} --reason WHY")
    for question in view.pending_questions:
        for each in question.questions:
            say(f"the agent asks: {each.text}")
            for number, option in enumerate(each.options, start=1):
                say(f"  {number}. {option.label}")
        answers = " ".join("ANSWER" for _ in question.questions)
        say(f"  redshank questions answer {question.request_id} {answers}")
    for wait in view.waiting_for:
        if wait.kind not in ("approval", "question"):
            say(f"waits for {wait.kind} since {wait.since} {wait.detail}".rstrip())


def _goes_on(view: WorkstreamView) -> bool:
    if view.state == "running":
        return True
    return view.state == "waiting" and not waits_for_a_person(view.waiting_for)


def _close(view: WorkstreamView) -> int:
    if view.state == "failed":
        say(f"{view.id} failed: {view.detail or 'no reason was recorded'}")
        say(f"  redshank ws retry {view.id}")
        return exits.FAILED
    if view.state == "waiting":
        say_what_waits(view)
        return exits.WAITS_FOR_A_PERSON
    return exits.OK


def _rested(view: WorkstreamView, answer: str) -> Rested:
    return Rested(
        view.id,
        view.state,
        answer,
        view.waiting_for,
        view.pending_approvals,
        view.pending_questions,
        view.detail,
    )


def _nothing(_: str) -> None:
    return None
