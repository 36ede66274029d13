"""The command that lets a browser in: `redshank signin`."""

from typing import Annotated

import typer

from redshank_console.cli.output import write_json
from redshank_console.cli.session import Session
from redshank_shared.client.access import AccessClient


def signin(
    session: Session,
    user: Annotated[str, typer.Option(help="whom it signs in; you, if left out")] = "",
) -> None:
    """Print a fresh link that signs one browser in, once."""
    link = AccessClient(session.client).signin_link(user)
    if session.wants_json:
        write_json(link)
    else:
        typer.echo(link.url)
