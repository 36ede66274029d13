"""The command line's entry: every command under its name, every error with its exit code."""

import errno
import sys
from typing import Annotated, Any

import typer

from redshank_console.cli import exits
from redshank_console.cli.approvals import approvals
from redshank_console.cli.bench.commands import bench
from redshank_console.cli.doctor import doctor_command
from redshank_console.cli.ledger import ledger
from redshank_console.cli.mcp import mcp
from redshank_console.cli.nodes import nodes
from redshank_console.cli.output import say
from redshank_console.cli.permissions import permissions
from redshank_console.cli.processes import console, dry_run, gateway, migrate, node
from redshank_console.cli.questions import questions
from redshank_console.cli.rerank import rerank
from redshank_console.cli.running import run
from redshank_console.cli.schedules import schedules
from redshank_console.cli.secrets import secrets
from redshank_console.cli.session import with_session
from redshank_console.cli.signin import signin
from redshank_console.cli.tokens import tokens
from redshank_console.cli.tool_limits import tool_limits
from redshank_console.cli.up.command import up
from redshank_console.cli.users import users
from redshank_console.cli.version import print_version, version
from redshank_console.cli.whoami import audit, whoami
from redshank_console.cli.workstreams import workstreams
from redshank_shared.domain.errors import RedshankError
from redshank_shared.vault.redaction import Redactor

EPILOG = (
    "Exit codes: 0 done, 1 failed, 2 wrong use, 3 not found, 4 refused, "
    "5 no console answers, 6 waits for a person."
)


class CommandLine(typer.Typer):
    """The commands; an error of ours becomes one line on standard error with its exit code."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        try:
            return super().__call__(*args, **kwargs)
        except RedshankError as error:
            say(f"redshank: {Redactor().of_output(error.detail)}")
            sys.exit(exits.code_of(error))
        except KeyboardInterrupt:
            sys.exit(exits.FAILED)
        except OSError as error:
            if error.errno != errno.ENOSPC:
                raise
            say("redshank: the output cannot be written: no space is left where it goes")
            sys.exit(exits.FAILED)


app = CommandLine(
    no_args_is_help=True,
    help="Run tool-using AI agents on machines you own.",
    epilog=EPILOG,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


@app.callback()
def root(
    _version: Annotated[
        bool,
        typer.Option(
            "--version", is_eager=True, callback=print_version, help="Print the version, exit."
        ),
    ] = False,
) -> None:
    """Every command's own root."""


app.command()(up)
app.command()(with_session(run))
app.add_typer(workstreams, name="ws")
app.add_typer(approvals, name="approvals")
app.add_typer(questions, name="questions")
app.add_typer(schedules, name="schedules")
app.add_typer(permissions, name="permissions")
app.add_typer(tool_limits, name="tool-limits")
app.add_typer(secrets, name="secrets")
app.add_typer(ledger, name="ledger")
app.add_typer(mcp, name="mcp")
app.add_typer(users, name="users")
app.add_typer(tokens, name="tokens")
app.command()(with_session(whoami))
app.command()(with_session(audit))
app.add_typer(rerank, name="rerank")
app.add_typer(bench, name="bench")
app.command()(with_session(signin))
app.add_typer(nodes, name="nodes")
app.command("doctor")(doctor_command)
app.command()(node)
app.command()(console)
app.command()(gateway)
app.command()(migrate)
app.command("dry-run")(dry_run)
app.command()(version)
