"""The commands on secrets: `redshank secrets …`."""

import getpass
import sys
from pathlib import Path
from typing import Annotated

import typer

from redshank_console.cli.output import say, write_json, write_table
from redshank_console.cli.session import Session, with_session
from redshank_shared.client.views import SecretView
from redshank_shared.domain.errors import Invalid

PAGE = 200

secrets = typer.Typer(no_args_is_help=True, help="Slots that hold secrets; values never show.")
Slot = Annotated[str, typer.Argument(metavar="SLOT", help="such as model.main")]


def set_(
    session: Session,
    slot: Slot,
    file: Annotated[
        Path | None, typer.Option(help="the file that holds it; standard input without")
    ] = None,
) -> None:
    """Fill a slot from standard input, a file, or a prompt. Never from the command line."""
    view = session.client.set_secret(slot, _value(slot, file))
    if session.wants_json:
        write_json(view)
    else:
        say(f"{view.slot} is {view.state}, version {view.version}")


def ls(session: Session) -> None:
    """List slots by name, with their state."""
    found: list[SecretView] = []
    cursor: str | None = ""
    while cursor is not None:
        page = session.client.secrets({"limit": PAGE, **({"cursor": cursor} if cursor else {})})
        found += page.items
        cursor = page.next_cursor
    if session.wants_json:
        write_json(found)
        return
    heads = ("SLOT", "STATE", "VERSION", "KEY", "UPDATED", "BY")
    write_table(heads, [_row(each) for each in found])


def revoke(session: Session, slot: Slot) -> None:
    """Erase a slot's value; its next use is refused."""
    view = session.client.revoke_secret(slot)
    if session.wants_json:
        write_json(view)
    else:
        say(f"{view.slot} is {view.state}")


def rotate(session: Session) -> None:
    """Seal every value anew under the active master key."""
    view = session.client.rotate_secrets()
    if session.wants_json:
        write_json(view)
        return
    say(f"{len(view.resealed)} sealed anew; all that opens is under the key {view.key_id}")
    if view.left:
        say(f"no key opens {', '.join(view.left)}: set them again, or add the key they are under")


for name, command in (("set", set_), ("ls", ls), ("revoke", revoke), ("rotate", rotate)):
    secrets.command(name)(with_session(command))


def _value(slot: str, file: Path | None) -> str:
    """The secret without the line end that editors and `echo` add."""
    if file is None and sys.stdin.isatty():
        return getpass.getpass(f"{slot}: ")
    try:
        text = file.read_text("utf-8") if file is not None else sys.stdin.read()
    except OSError as error:
        raise Invalid(f"{file} cannot be read ({error.strerror})", field="--file") from error
    except UnicodeDecodeError:
        raise Invalid("the secret is no text in UTF-8", field="--file") from None
    return text.removesuffix("\n").removesuffix("\r")


def _row(each: SecretView) -> tuple[str, ...]:
    return (
        each.slot,
        each.state,
        str(each.version),
        each.key_id,
        each.updated_at,
        each.updated_by,
    )
