"""Writes data to standard output, as a table for people or as JSON for programs."""

import re
import sys
from collections.abc import Sequence
from typing import Literal

import msgspec
import typer

OutputForm = Literal["table", "json"]
# Control characters could rewrite a terminal's screen: text of models and servers loses them.
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def printable(text: str) -> str:
    """The text without control characters other than newline and tab."""
    return _CONTROL.sub("", text)


def say(text: str) -> None:
    """A line for the reader, on standard error."""
    typer.echo(printable(text), err=True)


def write(text: str) -> None:
    """A piece of text on standard output, at once, without a newline."""
    typer.echo(printable(text), nl=False)
    sys.stdout.flush()


def write_json(value: object) -> None:
    """A value as indented JSON on standard output."""
    typer.echo(msgspec.json.format(msgspec.json.encode(value), indent=2).decode())


def write_json_line(data: bytes) -> None:
    """One JSON object as one line on standard output."""
    typer.echo(data.decode())


def write_table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Columns as wide as their widest cell; nothing is cut off."""
    cells = [[printable(cell).replace("\n", " ") for cell in row] for row in (heads, *rows)]
    widths = [max(len(row[column]) for row in cells) for column in range(len(heads))]
    for row in cells:
        padded = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        typer.echo("  ".join(padded).rstrip())


def write_facts(facts: Sequence[tuple[str, str]]) -> None:
    """Names with their values, one a line; what is empty is left out."""
    shown = [(name, printable(value)) for name, value in facts if value]
    width = max((len(name) for name, _ in shown), default=0)
    for name, value in shown:
        typer.echo(f"{name.ljust(width)}  {value}")
