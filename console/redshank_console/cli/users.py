"""The commands on users: `redshank users …`."""

from typing import Annotated

import typer

from redshank_console.cli.output import say, write_json, write_table
from redshank_console.cli.session import Session, with_session
from redshank_shared.client.access import AccessClient, UserView

PAGE = 200

users = typer.Typer(no_args_is_help=True, help="Who may come in, with which role.")
Name = Annotated[str, typer.Argument(metavar="NAME", help="a user's name")]
Role = Annotated[str, typer.Argument(metavar="ROLE", help="viewer, operator or admin")]


def ls(
    session: Session,
    state: Annotated[str, typer.Option(help="only those that are active, or revoked")] = "",
) -> None:
    """List users by name."""
    client = AccessClient(session.client)
    query: dict[str, str | int] = {"limit": PAGE, **({"state": state} if state else {})}
    page = client.users(query)
    found = list(page.items)
    while page.next_cursor is not None:
        page = client.users({**query, "cursor": page.next_cursor})
        found += page.items
    if session.wants_json:
        write_json(found)
        return
    heads = ("NAME", "ROLE", "STATE", "SINCE", "BY")
    write_table(heads, [_row(each) for each in found])


def add(
    session: Session,
    name: Name,
    role: Annotated[str, typer.Option(help="viewer, operator or admin")] = "viewer",
) -> None:
    """Make a user; give them a token with `redshank tokens add`."""
    _tell(session, AccessClient(session.client).add_user(name, role))


def role(session: Session, name: Name, to: Role) -> None:
    """Give a user another role, at once."""
    _tell(session, AccessClient(session.client).change_user(name, role=to))


def revoke(session: Session, name: Name) -> None:
    """Shut a user out: their tokens, sessions, streams end."""
    _tell(session, AccessClient(session.client).change_user(name, state="revoked"))


def restore(session: Session, name: Name) -> None:
    """Let a revoked user in again, with new tokens."""
    _tell(session, AccessClient(session.client).change_user(name, state="active"))


def remove(session: Session, name: Name) -> None:
    """Take a user out; what they did stays written down."""
    AccessClient(session.client).remove_user(name)
    say(f"{name} is gone")


for command in (ls, add, role, revoke, restore, remove):
    users.command(command.__name__)(with_session(command))


def _tell(session: Session, view: UserView) -> None:
    if session.wants_json:
        write_json(view)
    else:
        say(f"{view.name} is {view.role}, {view.state}")


def _row(view: UserView) -> tuple[str, ...]:
    return (view.name, view.role, view.state, view.created_at, view.created_by)
