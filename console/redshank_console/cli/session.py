"""Gives a command its console: the options that say which, the form of its output."""

import inspect
from collections.abc import Callable
from typing import Annotated, Any

import typer

from redshank_console.cli.connection import Target, find_target
from redshank_console.cli.output import OutputForm
from redshank_shared.client.console import ConsoleClient
from redshank_shared.domain.errors import Unauthenticated
from redshank_shared.settings.environment import process_environment

# A console says so to whoever shows no token, or one that it does not know.
HOW_TO_SIGN_IN = "send the header"


class Session:
    """One command's console. `client` needs a token, `anyone` does not."""

    def __init__(self, target: Target, form: OutputForm) -> None:
        self.target = target
        self.form = form
        self.anyone = ConsoleClient(target.url, target.token)

    @property
    def client(self) -> ConsoleClient:
        """The console's client; Unauthenticated when there is no token to show."""
        if not self.target.token:
            raise Unauthenticated(
                f"no token for {self.target.url}: start `redshank up` on this machine, or give one "
                f"with --token, REDSHANK_TOKEN or a context"
            )
        return self.anyone

    @property
    def wants_json(self) -> bool:
        return self.form == "json"


def with_session(command: Callable[..., None]) -> Callable[..., None]:
    """The command with --url, --token, --context, -o; its first parameter becomes the session."""
    own = list(inspect.signature(command, eval_str=True).parameters.values())[1:]

    def run(**given: Any) -> None:
        target = find_target(
            given.pop("url"), given.pop("token"), given.pop("context"), process_environment()
        )
        session = Session(target, given.pop("output"))
        with session.anyone:
            try:
                command(session, **given)
            except Unauthenticated as error:
                if not target.token or not error.detail.startswith(HOW_TO_SIGN_IN):
                    raise
                raise Unauthenticated(
                    f"{target.url} does not take this token: it was revoked, has expired, or is of "
                    f"another console. Give another with --token, REDSHANK_TOKEN or a context"
                ) from error

    added = list(inspect.signature(_options, eval_str=True).parameters.values())
    parameters = [each.replace(kind=inspect.Parameter.KEYWORD_ONLY) for each in (*own, *added)]
    run.__name__, run.__doc__ = command.__name__, command.__doc__
    run.__annotations__ = {each.name: each.annotation for each in parameters}
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]  # typer reads it
    return run


def _options(
    output: Annotated[OutputForm, typer.Option("--output", "-o", help="table or json")] = "table",
    url: Annotated[str, typer.Option(help="the console's address (REDSHANK_URL)")] = "",
    token: Annotated[str, typer.Option(help="the token (REDSHANK_TOKEN)")] = "",
    context: Annotated[str, typer.Option(help="a named console (REDSHANK_CONTEXT)")] = "",
) -> None:
    pass
