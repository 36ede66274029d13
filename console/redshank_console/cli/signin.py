"""The command that lets a browser in: `redshank signin`."""

import typer

from redshank_console.cli.output import write_json
from redshank_console.cli.session import Session


def signin(session: Session) -> None:
    """Print a fresh link that signs one browser in, once."""
    link = session.client.signin_link()
    if session.wants_json:
        write_json(link)
    else:
        typer.echo(link.url)
