"""The commands on workstreams: `redshank ws …`."""

import sys
from typing import Annotated

import typer

from redshank_console.cli import finding
from redshank_console.cli.output import (
    say,
    write,
    write_facts,
    write_json,
    write_json_line,
    write_table,
)
from redshank_console.cli.session import Session, with_session
from redshank_console.cli.telling import Teller
from redshank_console.cli.waiting import say_what_waits, wait_for_rest
from redshank_console.cli.why import why
from redshank_shared.client.following import follow
from redshank_shared.client.stream import Frame
from redshank_shared.client.views import NewWorkstream, WorkstreamView
from redshank_shared.domain.events import MessagePosted, Recorded, encode_recorded

PAGE = 200
MOST_LISTED = 1000

workstreams = typer.Typer(
    no_args_is_help=True, help="Workstreams: list, show, talk, follow, stop, fork, export."
)
Named = Annotated[str, typer.Argument(metavar="WORKSTREAM", help="an id, or a name")]


def ls(
    session: Session,
    words: Annotated[str, typer.Argument(metavar="[WORDS]", help="part of a name or title")] = "",
    state: Annotated[str, typer.Option(help="idle, running, waiting, failed, closed")] = "",
    waiting_for: Annotated[str, typer.Option(help="approval, question, queue, …")] = "",
    owner: Annotated[str, typer.Option(help="whose they are")] = "",
    node: Annotated[str, typer.Option(help="the node that they run on")] = "",
    label: Annotated[str, typer.Option(help="a label that they carry")] = "",
) -> None:
    """List workstreams, the last changed first."""
    asked = {
        "q": words,
        "state": state,
        "waiting_for": waiting_for,
        "owner": owner,
        "node": node,
        "label": label,
    }
    query: dict[str, str | int] = {key: value for key, value in asked.items() if value}
    page = session.client.workstreams({**query, "limit": PAGE})
    items = list(page.items)
    while page.next_cursor and len(items) < MOST_LISTED:
        page = session.client.workstreams({**query, "limit": PAGE, "cursor": page.next_cursor})
        items += page.items
    if page.next_cursor:
        say(f"{len(items)} of {page.total}: narrow the list by words, --state or --label")
    if session.wants_json:
        write_json(items)
        return
    heads = ("ID", "STATE", "WAITS FOR", "NODE", "MODE", "CALLS", "NAME")
    write_table(heads, [_row(view) for view in items])


def create(
    session: Session,
    name: Annotated[str, typer.Argument(metavar="[NAME]", help="what it is called")] = "",
    mode: Annotated[str, typer.Option(help="default, acceptEdits, plan, …")] = "",
    profile: Annotated[str, typer.Option(help="which tools, under which names")] = "",
    model: Annotated[str, typer.Option(help="a configured model's name")] = "",
    message: Annotated[str, typer.Option(help="its first message")] = "",
    label: Annotated[list[str] | None, typer.Option(help="repeatable")] = None,
) -> None:
    """Create a workstream."""
    new = NewWorkstream(
        name=name,
        mode=mode,
        profile=profile,
        model=model,
        message=message,
        labels=tuple(label or ()),
    )
    _show(session, session.client.create(new))


def show(session: Session, named: Named) -> None:
    """Show a workstream as it stands."""
    _show(session, session.client.workstream(finding.workstream_id(session.client, named)))


def send(
    session: Session,
    named: Named,
    text: Annotated[
        str, typer.Argument(metavar="TEXT", help="the message; - reads standard input")
    ],
    steer: Annotated[bool, typer.Option(help="read at the running turn's next step")] = False,
    wait: Annotated[bool, typer.Option(help="tell the turn until it rests")] = False,
) -> None:
    """Send a message."""
    workstream = finding.workstream_id(session.client, named)
    text = sys.stdin.read() if text == "-" else text
    seq = session.client.send(workstream, text, when="steer" if steer else "next")
    if wait:
        wait_for_rest(session, workstream, seq)
    elif session.wants_json:
        write_json({"id": workstream, "seq": seq})
    else:
        say(f"in the log as {seq}")


def tail(
    session: Session,
    named: Named,
    follow_on: Annotated[bool, typer.Option("--follow", "-f", help="go on, live")] = False,
    after: Annotated[int, typer.Option(help="begin behind this number", min=0)] = 0,
) -> None:
    """Print the log; -f goes on with what comes."""
    workstream = finding.workstream_id(session.client, named)
    if follow_on:
        teller = Teller(write, say)
        for frame in follow(session.client, workstream, after):
            if not session.wants_json:
                _tell_message(frame)
                teller.take(frame)
            elif isinstance(frame, Recorded):
                write_json_line(encode_recorded(frame))
        return
    page = session.client.recorded(workstream, after, PAGE)
    while page.items:
        for recorded in page.items:
            write_json_line(encode_recorded(recorded))
        page = session.client.recorded(workstream, page.items[-1].seq, PAGE)


def cancel(session: Session, named: Named) -> None:
    """Stop the running turn."""
    _act(session, named, "cancel")


def close(session: Session, named: Named) -> None:
    """Close a workstream for good."""
    _act(session, named, "close")


def retry(session: Session, named: Named) -> None:
    """Take a failed workstream up again."""
    _act(session, named, "retry")


def fork(
    session: Session,
    named: Named,
    after: Annotated[int, typer.Option(help="keep the log up to this number", min=1)],
) -> None:
    """Make a new workstream from the log up to a number."""
    workstream = finding.workstream_id(session.client, named)
    _show(session, session.client.act(workstream, "fork", {"after": after}))


def export(session: Session, named: Named) -> None:
    """Write the whole log as JSON lines."""
    workstream = finding.workstream_id(session.client, named)
    for chunk in session.client.export(workstream):
        sys.stdout.buffer.write(chunk)
    sys.stdout.buffer.flush()


def audits(session: Session, named: Named) -> None:
    """List every decision on a workstream's calls, with its why."""
    workstream = finding.workstream_id(session.client, named)
    page = session.client.audits(workstream, {"limit": PAGE})
    items = list(page.items)
    while page.next_cursor:
        page = session.client.audits(workstream, {"limit": PAGE, "cursor": page.next_cursor})
        items += page.items
    if session.wants_json:
        write_json(items)
        return
    heads = ("SEQ", "TOOL", "DECISION", "PATTERN", "SCOPE", "MODE", "WHY")
    rows = [
        (str(a.seq), a.tool, a.decision, a.pattern, a.scope, a.effective_mode, a.why) for a in items
    ]
    write_table(heads, rows)


for command in (ls, create, show, send, tail, cancel, close, retry, fork, export, audits, why):
    workstreams.command(command.__name__)(with_session(command))


def _act(session: Session, named: str, action: str) -> None:
    workstream = finding.workstream_id(session.client, named)
    view = session.client.act(workstream, action)
    if session.wants_json:
        write_json(view)
    else:
        say(f"{view.id} is {view.state}")


def _show(session: Session, view: WorkstreamView) -> None:
    if session.wants_json:
        write_json(view)
        return
    usage = view.usage
    write_facts(
        (
            ("id", view.id),
            ("name", view.name),
            ("state", view.state),
            ("waits for", _waits(view)),
            ("detail", view.detail or ""),
            ("mode", view.mode),
            ("model", view.model or ""),
            ("profile", view.profile),
            ("node", view.node or ""),
            ("owner", view.owner),
            ("labels", " ".join(view.labels)),
            ("tokens", f"{usage.input_tokens} in, {usage.output_tokens} out"),
            ("calls", str(usage.calls)),
            ("last event", str(view.last_seq)),
            ("changed", view.updated_at),
        )
    )
    say_what_waits(view)


def _row(view: WorkstreamView) -> tuple[str, ...]:
    return (
        view.id,
        view.state,
        _waits(view),
        view.node or "",
        view.mode,
        str(view.usage.calls),
        _called(view),
    )


def _called(view: WorkstreamView) -> str:
    """Its own name; where nobody gave it one, the first words said there, in quotes."""
    return f'"{view.title}"' if view.title and view.name in ("", view.id) else view.name


def _waits(view: WorkstreamView) -> str:
    return ", ".join(wait.kind for wait in view.waiting_for)


def _tell_message(frame: Frame) -> None:
    if isinstance(frame, Recorded) and isinstance(frame.fact, MessagePosted):
        say(f"@ {frame.fact.text}")
