"""The commands on approvals: `redshank approvals …`."""

import sys
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from redshank_console.cli import finding
from redshank_console.cli.output import say, write_json, write_table
from redshank_console.cli.session import Session, with_session
from redshank_console.cli.waiting import wait_for_rest
from redshank_shared.client.views import ApprovalView, Resolution
from redshank_shared.domain.errors import Invalid

PAGE = 200

approvals = typer.Typer(no_args_is_help=True, help="Calls that wait for your word.")
Named = Annotated[
    str,
    typer.Argument(metavar="ID", help="an approval's id, its beginning, or its workstream"),
]
Oldest = Annotated[bool, typer.Option("--oldest", help="the one that waits longest")]
Wait = Annotated[bool, typer.Option("--wait", help="tell the turn until it rests")]


def ls(
    session: Session,
    decided: Annotated[
        bool, typer.Option("--decided", help="what waits no more, decided last first")
    ] = False,
) -> None:
    """List what waits, the oldest first, or what was decided."""
    if decided:
        _list_decided(session)
        return
    page = session.client.approvals({"limit": PAGE})
    if session.wants_json:
        write_json(page.items)
        return
    heads = ("ID", "WORKSTREAM", "TOOL", "SINCE", "WHAT")
    write_table(heads, [_row(each) for each in page.items])
    if page.total > len(page.items):
        say(f"{len(page.items)} of {page.total}")


def allow(  # noqa: PLR0913 - each is an option of the command
    session: Session,
    named: Named = "",
    oldest: Oldest = False,
    scope: Annotated[str, typer.Option(help="once, workstream or always")] = "once",
    edit: Annotated[str, typer.Option(help="run it with this input instead, a JSON object")] = "",
    input_file: Annotated[
        str, typer.Option("--input", help="a file that holds that input; - reads standard input")
    ] = "",
    justification: Annotated[str, typer.Option(help="why, for the record")] = "",
    wait: Wait = False,
) -> None:
    """Let a call run."""
    updated = _updated(edit, input_file)
    workstream, request = _found(session, named, oldest)
    resolution = Resolution(
        request.request_id,
        "allow",
        scope=scope,
        justification=justification,
        updated_input=updated,
    )
    _resolve(session, workstream, resolution, wait)


def deny(
    session: Session,
    named: Named = "",
    oldest: Oldest = False,
    reason: Annotated[str, typer.Option(help="a word to the agent")] = "",
    wait: Wait = False,
) -> None:
    """Refuse a call."""
    workstream, request = _found(session, named, oldest)
    _resolve(session, workstream, Resolution(request.request_id, "deny", reason=reason), wait)


for command in (ls, allow, deny):
    approvals.command(command.__name__)(with_session(command))


def _list_decided(session: Session) -> None:
    page = session.client.decided_approvals({"limit": PAGE})
    if session.wants_json:
        write_json(page.items)
        return
    rows = [
        (each.request_id, each.workstream_id, each.tool, each.state, each.resolved_by, each.title)
        for each in page.items
    ]
    write_table(("ID", "WORKSTREAM", "TOOL", "DECISION", "BY", "WHAT"), rows)
    if page.total > len(page.items):
        say(f"{len(page.items)} of {page.total}")


def _found(session: Session, named: str, oldest: bool) -> tuple[str, ApprovalView]:
    if bool(named) == oldest:
        raise Invalid("name one approval: an ID, or --oldest", field="ID")
    if oldest:
        return finding.oldest_approval(session.client)
    return finding.approval(session.client, named)


def _resolve(session: Session, workstream: str, resolution: Resolution, wait: bool) -> None:
    before = session.client.workstream(workstream).last_seq
    view = session.client.resolve(workstream, (resolution,))
    if wait:
        wait_for_rest(session, workstream, before)
    elif session.wants_json:
        write_json(view)
    else:
        say(f"{resolution.request_id} {resolution.behavior}; {view.id} is {view.state}")


def _updated(edit: str, input_file: str) -> dict[str, object] | None:
    if edit and input_file:
        raise Invalid("--edit and --input exclude each other; give one", field="input")
    if edit:
        return _object(edit, "edit")
    return _object(_text_of(input_file), "input") if input_file else None


def _text_of(input_file: str) -> str:
    if input_file == "-":
        return sys.stdin.read()
    try:
        return Path(input_file).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise Invalid(f"--input {input_file} cannot be read: {error}", field="input") from error


def _object(text: str, option: str) -> dict[str, object]:
    try:
        return msgspec.json.decode(text, type=dict[str, object])
    except msgspec.DecodeError as error:
        raise Invalid(f"--{option} must be a JSON object: {error}", field=option) from error


def _row(each: ApprovalView) -> tuple[str, ...]:
    return (each.request_id, each.workstream_id, each.tool, each.requested_at, each.preview.title)
