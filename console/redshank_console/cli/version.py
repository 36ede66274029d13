"""The command that says which version this is: `redshank version`."""

import typer

from redshank_shared.wire.version import VERSION


def version() -> None:
    """Print the version."""
    typer.echo(VERSION)
