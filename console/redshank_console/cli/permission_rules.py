"""The commands on stored rules: `redshank permissions rules …`."""

from pathlib import Path
from typing import Annotated, Any

import typer

from redshank_console.cli.output import say, write_json, write_table
from redshank_console.cli.policies import policy_text, tell_difference
from redshank_console.cli.session import Session, with_session
from redshank_shared.client.permissions import PermissionsClient, RuleView
from redshank_shared.domain.errors import Conflict, Invalid, NotFound

PAGE = 200
SHORTEST_BEGINNING = 8

rules = typer.Typer(no_args_is_help=True, help="Stored rules: list, add, take away, compare.")
Scope = Annotated[str, typer.Option(help="user or project")]
Subject = Annotated[str, typer.Option(help="whose calls, or which project's; '*' for all")]


def ls(
    session: Session,
    scope: Scope = "",
    subject: Subject = "",
    origin: Annotated[str, typer.Option(help="static, approval")] = "",
) -> None:
    """List stored rules as they were added."""
    found = _all(session, {"scope": scope, "subject": subject, "origin": origin})
    if session.wants_json:
        write_json(found)
        return
    heads = ("ID", "SCOPE", "SUBJECT", "PATTERN", "DECISION", "ORIGIN", "BY", "NOTE")
    write_table(heads, [_row(rule) for rule in found])


def add(  # noqa: PLR0913 - one option a field of the API
    session: Session,
    pattern: Annotated[str, typer.Argument(metavar="PATTERN", help="NAME, NAME*, @EFFECT, '*'")],
    decision: Annotated[str, typer.Argument(metavar="DECISION", help="allow, ask, deny")],
    scope: Scope = "user",
    subject: Subject = "",
    locked: Annotated[bool, typer.Option("--locked", help="nothing beats this deny")] = False,
    note: Annotated[str, typer.Option(help="a word to whoever reads it")] = "",
    yes: Annotated[bool, typer.Option("--yes", help="also where it reaches far")] = False,
) -> None:
    """Keep a rule; one of the same pattern is replaced. It counts from the next call on."""
    asked: dict[str, Any] = {
        "scope": scope,
        "pattern": pattern,
        "decision": decision,
        "locked": locked,
        "note": note,
        "confirm": yes,
        **({"subject": subject} if subject else {}),
    }
    try:
        view = PermissionsClient(session.client).add_rule(asked)
    except Conflict as refusal:
        if refusal.code != "confirm_needed":
            raise
        raise Conflict(f"{refusal.detail}, here --yes", code=refusal.code) from refusal
    _tell(session, view, "kept")


def rm(
    session: Session,
    named: Annotated[
        str, typer.Argument(metavar="RULE", help="an id, its beginning, or a pattern")
    ],
) -> None:
    """Take a rule away."""
    client = PermissionsClient(session.client)
    _tell(session, client.remove_rule(_found(session, named).id), "gone")


def diff(
    session: Session,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="a policy in TOML or JSON")],
    profile: Annotated[str, typer.Option(help="only the tools of this one")] = "",
) -> None:
    """Say what a policy file decides otherwise than the rules in force."""
    asked = {"after": policy_text(file), **({"profile": profile} if profile else {})}
    tell_difference(session, PermissionsClient(session.client).difference(asked))


for command in (ls, add, rm, diff):
    rules.command(command.__name__)(with_session(command))


def _all(session: Session, filters: dict[str, str]) -> list[RuleView]:
    client = PermissionsClient(session.client)
    query: dict[str, str | int] = {key: value for key, value in filters.items() if value}
    page = client.rules({**query, "limit": PAGE})
    found = list(page.items)
    while page.next_cursor:
        page = client.rules({**query, "limit": PAGE, "cursor": page.next_cursor})
        found += page.items
    return found


def _found(session: Session, named: str) -> RuleView:
    found = [rule for rule in _all(session, {}) if _is_called(rule, named)]
    if not found:
        raise NotFound(
            f"no rule has the id or pattern {named}: see `redshank permissions rules ls`"
        )
    if len(found) > 1:
        ids = ", ".join(rule.id for rule in found)
        raise Invalid(f"{len(found)} rules are called {named}: give an id, one of {ids}")
    return found[0]


def _is_called(rule: RuleView, named: str) -> bool:
    if named in (rule.id, rule.pattern):
        return True
    return len(named) >= SHORTEST_BEGINNING and rule.id.startswith(named)


def _tell(session: Session, view: RuleView, what: str) -> None:
    if session.wants_json:
        write_json(view)
        return
    say(f"{view.id} {what}: {_decides(view)} {view.pattern} for {view.scope} {view.subject}")


def _row(rule: RuleView) -> tuple[str, ...]:
    return (
        rule.id,
        rule.scope,
        rule.subject,
        rule.pattern,
        _decides(rule),
        rule.origin,
        rule.created_by,
        rule.note,
    )


def _decides(rule: RuleView) -> str:
    return f"{rule.decision}, locked" if rule.locked else rule.decision
