"""The command that gives an agent one thing to do: `redshank run`."""

import sys
from typing import Annotated

import typer

from redshank_console.cli.output import say, write_json
from redshank_console.cli.session import Session
from redshank_console.cli.waiting import wait_for_rest
from redshank_shared.client.views import NewWorkstream
from redshank_shared.domain.errors import Invalid


def run(
    session: Session,
    text: Annotated[str, typer.Argument(metavar="TEXT", help="what to do; - reads standard input")],
    profile: Annotated[str, typer.Option(help="which tools, under which names")] = "",
    mode: Annotated[str, typer.Option(help="default, acceptEdits, plan, …")] = "",
    model: Annotated[str, typer.Option(help="a configured model's name")] = "",
    name: Annotated[str, typer.Option(help="the workstream's name")] = "",
    wait: Annotated[bool, typer.Option(help="print the answer, exit when it rests")] = False,
) -> None:
    """Start a workstream with this message.

    Prints the workstream's id; with --wait the answer, as it comes. Exits 0 when done, 1 when it
    failed, 6 when it waits for a person.
    """
    text = sys.stdin.read() if text == "-" else text
    if not text.strip():
        raise Invalid("TEXT is empty: say what to do, or give - and pipe it in", field="text")
    new = NewWorkstream(name=name, profile=profile, mode=mode, model=model, message=text)
    view = session.client.create(new)
    if wait:
        say(f"workstream {view.id}")
        wait_for_rest(session, view.id, 0)
    elif session.wants_json:
        write_json(view)
    else:
        typer.echo(view.id)
        say(f"follow it: redshank ws tail -f {view.id}")
