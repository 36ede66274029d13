"""Says which version this is: a command, an option."""

import typer

from redshank_shared.wire.version import VERSION


def version() -> None:
    """Print the version."""
    typer.echo(VERSION)


def print_version(wanted: bool) -> None:
    """Print it and end, where `--version` is given."""
    if wanted:
        version()
        raise typer.Exit
