"""What the command line says of itself, to somebody who begins."""

from collections.abc import Iterator

import pytest
import typer
from typer.testing import CliRunner

from redshank_console.cli.connection import find_target
from redshank_console.cli.main import app
from redshank_shared.domain.errors import Invalid
from redshank_shared.wire.version import VERSION

pytestmark = pytest.mark.req("B-30")

NARROWEST = 80
COMMANDS = typer.main.get_command(app)


def walked(command: typer.core.TyperCommand, name: str) -> Iterator[tuple[str, object]]:
    """Every command below this one, by its whole name."""
    yield name, command
    for inner, each in getattr(command, "commands", {}).items():
        yield from walked(each, f"{name} {inner}")


def test_no_line_of_a_list_of_commands_is_cut_off() -> None:
    cut = []
    for name, group in walked(COMMANDS, "redshank"):  # type: ignore[arg-type] # typer's own kind
        inner = getattr(group, "commands", {})
        room = NARROWEST - 6 - max(map(len, inner), default=0)
        says = {f"{name} {each}": one.get_short_help_str(room) for each, one in inner.items()}
        cut += [each for each, said in says.items() if said.endswith("...")]
    assert cut == []


def test_every_argument_and_option_says_what_it_is() -> None:
    assert [
        f"{name} {parameter.name}"
        for name, command in walked(COMMANDS, "redshank")  # type: ignore[arg-type] # typer's own
        for parameter in command.params  # type: ignore[attr-defined]
        if not getattr(parameter, "help", None)
    ] == []


def test_the_version_is_there_as_an_option_too() -> None:
    done = CliRunner().invoke(app, ["--version"])
    assert (done.exit_code, done.output) == (0, f"{VERSION}\n")


def test_an_address_without_a_scheme_is_refused_with_the_one_that_is_meant() -> None:
    with pytest.raises(Invalid, match="write http://127.0.0.1:8090"):
        find_target("127.0.0.1:8090", "rsk_token", "", {})


def test_nothing_to_do_starts_nothing() -> None:
    here = ["--url", "http://127.0.0.1:1", "--token", "rsk_token"]
    with pytest.raises(Invalid, match="TEXT is empty"):
        CliRunner().invoke(app, ["run", "-", *here], input="\n", catch_exceptions=False)
