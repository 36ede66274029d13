"""The commands on API tokens: `redshank tokens …`."""

from typing import Annotated

import typer

from redshank_console.cli.durations import seconds_in
from redshank_console.cli.output import say, write_json, write_table
from redshank_console.cli.session import Session, with_session
from redshank_shared.client.access import AccessClient, NewToken, TokenView

PAGE = 200

tokens = typer.Typer(no_args_is_help=True, help="API tokens: no wider than their user's role.")


def ls(
    session: Session, user: Annotated[str, typer.Option(help="only those of this user")] = ""
) -> None:
    """List tokens without their secrets, the newest first."""
    client = AccessClient(session.client)
    query: dict[str, str | int] = {"limit": PAGE, **({"name": user} if user else {})}
    page = client.tokens(query)
    found = list(page.items)
    while page.next_cursor is not None:
        page = client.tokens({**query, "cursor": page.next_cursor})
        found += page.items
    if session.wants_json:
        write_json(found)
        return
    heads = ("ID", "USER", "SCOPES", "EXPIRES", "LABEL", "BY")
    write_table(heads, [_row(each) for each in found])


def add(
    session: Session,
    user: Annotated[str, typer.Option(help="whom it stands for; you, if left out")] = "",
    scopes: Annotated[str, typer.Option(help="of read,operate,approve,admin")] = "",
    expires: Annotated[str, typer.Option(help="after so long: 30d, 12h")] = "",
    label: Annotated[str, typer.Option(help="what it is for")] = "",
) -> None:
    """Make a token; prints its secret, which is shown this once."""
    wanted = tuple(scope.strip() for scope in scopes.split(",")) if scopes else None
    ends = seconds_in(expires, "--expires") if expires else None
    made = AccessClient(session.client).mint(NewToken(user, wanted, label, ends))
    if session.wants_json:
        write_json(made)
        return
    say(f"{made.id} of {made.name} may {', '.join(made.scopes)}, {_until(made)}")
    typer.echo(str(made.token))


def revoke(
    session: Session, token_id: Annotated[str, typer.Argument(metavar="ID", help="tok_…")]
) -> None:
    """End a token, with every session that came from it."""
    AccessClient(session.client).revoke(token_id)
    say(f"{token_id} is revoked")


for command in (ls, add, revoke):
    tokens.command(command.__name__)(with_session(command))


def _until(view: TokenView) -> str:
    return f"until {view.expires_at}" if view.expires_at else "without an end"


def _row(view: TokenView) -> tuple[str, ...]:
    ends = f"{view.expires_at or 'never'}{' (over)' if view.expired else ''}"
    return (view.id, view.name, ",".join(view.scopes), ends, view.label, view.created_by)
