"""The dry runs of permissions: `redshank permissions …`."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import msgspec
import typer

from redshank_console.cli import finding
from redshank_console.cli.exits import FAILED
from redshank_console.cli.output import say, write_facts, write_json, write_table
from redshank_console.cli.permission_rules import rules
from redshank_console.cli.policies import policy_text, tell_difference
from redshank_console.cli.session import Session, with_session
from redshank_shared.client.permissions import (
    CheckView,
    MatrixRowView,
    MatrixView,
    PermissionsClient,
    ResultView,
    TrialView,
)
from redshank_shared.domain.errors import Invalid

_MODES = {
    "accept-edits": "acceptEdits",
    "bypass-permissions": "bypassPermissions",
    "dont-ask": "dontAsk",
}

permissions = typer.Typer(
    no_args_is_help=True, help="What is decided on calls: look it up, try it, keep rules."
)
permissions.add_typer(rules, name="rules")
Mode = Annotated[str, typer.Option(help="default, accept-edits, bypass-permissions, plan, …")]
Profile = Annotated[str, typer.Option(help="default, turnstone, kheish, cireilclaw")]
Whose = Annotated[str, typer.Option(help="a workstream, by id or name")]


def check(
    session: Session,
    tool: Annotated[str, typer.Argument(metavar="TOOL", help="a tool, or TOOL:LABEL")] = "",
    named: Annotated[str, typer.Option("--tool", help="the same as TOOL")] = "",
    mode: Mode = "",
    profile: Profile = "",
    workstream: Whose = "",
    given: Annotated[str, typer.Option("--input", help="the call's input, a JSON object")] = "",
) -> None:
    """Say what would be decided on a call, and why. Nothing happens."""
    if bool(tool) == bool(named):
        raise Invalid("name one tool: TOOL, or --tool TOOL", field="TOOL")
    asked = _asked(session, mode, profile, workstream)
    if given:
        asked["input"] = _object(given)
    view = PermissionsClient(session.client).check({"tool": tool or named, **asked})
    if session.wants_json:
        write_json(view)
    else:
        _tell_check(view)


def matrix(
    session: Session,
    mode: Mode = "",
    profile: Profile = "",
    workstream: Whose = "",
    diff: Annotated[
        tuple[Path, Path] | None,
        typer.Option(metavar="A B", help="two policy files: only what they decide apart"),
    ] = None,
) -> None:
    """Say what every mode makes of every tool. Without --profile, of those that nodes have."""
    client = PermissionsClient(session.client)
    asked = _asked(session, mode, profile, workstream)
    if diff is None:
        view = client.matrix(asked)
        if session.wants_json:
            write_json(view)
        else:
            _tell_matrix(view)
        return
    if mode or workstream:
        raise Invalid("--diff goes with --profile alone", field="--diff")
    before, after = (policy_text(path) for path in diff)
    tell_difference(session, client.difference({"before": before, "after": after, **asked}))


def try_policy(
    session: Session,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="a policy in TOML or JSON")],
    profile: Profile = "",
) -> None:
    """Try a policy against the decisions that it expects. Exits 1 where one is not so."""
    asked = {"policy": policy_text(file), **({"profile": profile} if profile else {})}
    view = PermissionsClient(session.client).test(asked)
    if session.wants_json:
        write_json(view)
    else:
        _tell_trial(view)
    if view.failed:
        raise typer.Exit(FAILED)


for command_name, command in (("check", check), ("matrix", matrix), ("test", try_policy)):
    permissions.command(command_name)(with_session(command))


def _asked(session: Session, mode: str, profile: str, workstream: str) -> dict[str, Any]:
    """What is empty is left to the console."""
    whose = finding.workstream_id(session.client, workstream) if workstream else ""
    given = {"mode": _MODES.get(mode, mode), "profile": profile, "workstream": whose}
    return {key: value for key, value in given.items() if value}


def _object(text: str) -> dict[str, Any]:
    try:
        return msgspec.json.decode(text, type=dict[str, Any])
    except msgspec.DecodeError as error:
        raise Invalid(f"--input must be a JSON object: {error}", field="--input") from error


def _tell_check(view: CheckView) -> None:
    changed = f", {view.mode_effect}" if view.mode_effect else ""
    write_facts(
        (
            ("tool", view.tool if view.registered else f"{view.tool} (no live node has it)"),
            ("decision", view.decision),
            ("why", view.why),
            ("rule", f"{view.pattern} {view.base_decision}" if view.pattern else "none"),
            ("scope", view.scope),
            ("origin", view.origin),
            ("mode", f"{view.effective_mode}{changed}"),
            ("hooks", "not run in a dry run"),
        )
    )


def _tell_matrix(view: MatrixView) -> None:
    heads = ("TOOL", *view.modes, "RULE", "SCOPE", "ON A NODE")
    write_table(heads, [_row(row) for row in view.rows])


def _row(row: MatrixRowView) -> Sequence[str]:
    first = row.cells[0]
    tool = f"{row.tool}:{row.label}" if row.label else row.tool
    rule = f"{first.pattern} {first.base_decision}"
    decisions = (cell.decision for cell in row.cells)
    return (tool, *decisions, rule, first.scope, "yes" if row.registered else "no")


def _tell_trial(view: TrialView) -> None:
    for warning in view.warnings:
        say(f"warning: {warning}")
    heads = ("", "TOOL", "MODE", "PROFILE", "EXPECTED", "GOT", "WHY")
    write_table(heads, [_result(result) for result in view.results])
    say(f"{view.passed} passed, {view.failed} failed")


def _result(result: ResultView) -> Sequence[str]:
    expected, got = result.expected, result.got
    return (
        "ok" if result.passed else "FAIL",
        result.tool,
        result.mode,
        result.profile,
        _shown(expected.decision, expected.pattern, expected.scope),
        _shown(got.decision, got.pattern, got.scope) if got else "no such tool",
        "" if result.passed else result.wrong,
    )


def _shown(decision: str, pattern: str, scope: str) -> str:
    rule = " ".join(word for word in (pattern, scope) if word)
    return f"{decision} ({rule})" if rule else decision
