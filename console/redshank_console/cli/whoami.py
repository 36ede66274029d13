"""The commands that say who did what: `redshank whoami`, `redshank audit`."""

from typing import Annotated

import typer

from redshank_console.cli.output import say, write_facts, write_json, write_table
from redshank_console.cli.session import Session
from redshank_shared.client.access import AccessClient, ActView


def whoami(session: Session) -> None:
    """Say whom the token stands for, what it may."""
    me = AccessClient(session.client).me()
    if session.wants_json:
        write_json(me)
        return
    write_facts((("name", me.name), ("role", me.role), ("may", ", ".join(me.scopes))))


def audit(
    session: Session,
    who: Annotated[str, typer.Option(help="only what this person did")] = "",
    act: Annotated[str, typer.Option(help="only acts of this kind, as user.created")] = "",
    limit: Annotated[int, typer.Option(min=1, max=200, help="so many at most")] = 50,
) -> None:
    """List what admins did, the newest first."""
    page = AccessClient(session.client).acts({"who": who, "act": act, "limit": limit})
    if session.wants_json:
        write_json(page.items)
        return
    write_table(("AT", "WHO", "ACT", "TARGET", "DETAIL"), [_row(each) for each in page.items])
    if page.total > len(page.items):
        say(f"the newest {len(page.items)} of {page.total}")


def _row(view: ActView) -> tuple[str, ...]:
    return (view.at, view.who, view.act, view.target, view.detail)
