"""The commands on logins to MCP servers: `redshank mcp oauth login` with its siblings."""

import threading
import webbrowser
from pathlib import Path
from typing import Annotated

import typer

from redshank_console.cli.loopback import Loopback
from redshank_console.cli.output import say, write_facts, write_json, write_table
from redshank_console.cli.session import Session, with_session
from redshank_shared.client.mcp_login import Came, McpAccount, McpLoginClient, NewLogin
from redshank_shared.clock import monotonic
from redshank_shared.domain.errors import Invalid

WAIT_SECONDS = 600.0

oauth = typer.Typer(no_args_is_help=True, help="Logins to servers by OAuth.")

Name = Annotated[str, typer.Argument(metavar="NAME", help="a server's name")]


def login(
    session: Session,
    name: Name,
    client_id: Annotated[str, typer.Option(help="a client that its operator made")] = "",
    client_secret_file: Annotated[
        Path | None, typer.Option(help="the file that holds the client's secret")
    ] = None,
    scope: Annotated[list[str] | None, typer.Option(help="ask for this one too")] = None,
    browser: Annotated[bool, typer.Option(help="open a browser here")] = True,
) -> None:
    """Log in to a server by OAuth, with a browser on this machine."""
    client = McpLoginClient(session.client)
    secret = _secret(client_secret_file)
    found: list[McpAccount] = []
    with Loopback() as loopback:
        new = NewLogin(loopback.address, client_id, secret, tuple(scope or ()))
        begun = client.begin(name, new)

        def answered(fields: dict[str, str]) -> str:
            names = ("state", "code", "iss", "error", "error_description")
            came = Came(**{field: fields.get(field, "") for field in names})
            found.append(client.complete(came))
            return f"Redshank is logged in to the MCP server {name}. You can close this window."

        say(f"log in at {begun.authorization_url}")
        if browser:
            # A browser of the terminal's own stays in front of us until the login is done.
            opening = (begun.authorization_url,)
            threading.Thread(target=_open, args=opening, daemon=True).start()
        loopback.wait(begun.state, answered, WAIT_SECONDS, monotonic)
    if session.wants_json:
        write_json(found[0])
    else:
        scopes = ", ".join(found[0].scopes) or "no named scopes"
        typer.echo(f"logged in to {name} with {scopes}")


def status(
    session: Session,
    name: Annotated[str, typer.Argument(metavar="[NAME]", help="all servers without")] = "",
) -> None:
    """Show a server's account, or all of them, without tokens."""
    client = McpLoginClient(session.client)
    if name:
        account = client.account(name)
        if session.wants_json:
            write_json(account)
        else:
            write_facts(_facts(account))
        return
    accounts = client.accounts().items
    if session.wants_json:
        write_json(accounts)
        return
    heads = ("SERVER", "STATE", "ISSUER", "SCOPES", "EXPIRES", "BY")
    write_table(heads, [_row(each) for each in accounts])


def refresh(session: Session, name: Name) -> None:
    """Renew the token of a server's account now."""
    account = McpLoginClient(session.client).renew(name)
    if session.wants_json:
        write_json(account)
    else:
        until = f", good until {account.expires_at}" if account.expires_at else ""
        say(f"renewed the token of {name}{until}")


def logout(session: Session, name: Name) -> None:
    """End a server's account. Its tokens end at their server, then its slot is revoked."""
    ended = McpLoginClient(session.client).log_out(name)
    if session.wants_json:
        write_json(ended)
        return
    say(f"logged out of {name}; {ended.slot} is revoked")
    if not ended.ended_at_server:
        say("its authorization server did not end the tokens: end them there if they may be lost")


for command in (login, status, refresh, logout):
    oauth.command(command.__name__)(with_session(command))


def _open(address: str) -> None:
    if not webbrowser.open(address):
        say("no browser opens here: open that address in one on this machine")


def _secret(file: Path | None) -> str:
    if file is None:
        return ""
    try:
        return file.read_text("utf-8").strip()
    except OSError as error:
        why = f"{file} cannot be read ({error.strerror})"
        raise Invalid(why, field="--client-secret-file") from error
    except UnicodeDecodeError:
        raise Invalid("the secret is no text in UTF-8", field="--client-secret-file") from None


def _row(each: McpAccount) -> tuple[str, ...]:
    expires = _expires(each)
    return (each.server, each.state, each.issuer, " ".join(each.scopes), expires, each.logged_in_by)


def _expires(account: McpAccount) -> str:
    if account.expires_at is None:
        return ""
    return f"{account.expires_at}, renewed" if account.renews else account.expires_at


def _facts(account: McpAccount) -> tuple[tuple[str, str], ...]:
    by = f" by {account.logged_in_by}" if account.logged_in_by else ""
    return (
        ("server", account.server),
        ("state", account.state),
        ("needs", account.needs_login),
        ("slot", account.slot),
        ("issuer", account.issuer),
        ("resource", account.resource),
        ("client", account.client_id),
        ("scopes", " ".join(account.scopes)),
        ("expires", _expires(account)),
        ("logged in", f"{account.logged_in_at}{by}"),
    )
