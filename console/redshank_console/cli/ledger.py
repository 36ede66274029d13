"""The commands on the ledger of outside effects: `redshank ledger …`."""

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer

from redshank_console.cli import exits, finding
from redshank_console.cli.output import say, write_json, write_table
from redshank_console.cli.session import Session, with_session
from redshank_shared.client.views import RecordView
from redshank_shared.domain.errors import Invalid
from redshank_shared.ledger.lines import decoded
from redshank_shared.ledger.verifying import Report, verify

PAGE = 200

ledger = typer.Typer(no_args_is_help=True, help="What agents did outside: signed records, chained.")
Whose = Annotated[str, typer.Option("--workstream", help="only this one's, an id or name")]


def ls(session: Session, workstream: Whose = "") -> None:
    """List records, by workstream, then in their order."""
    whose = _whose(session, workstream)
    page = session.client.ledger({**whose, "limit": PAGE})
    items = list(page.items)
    while page.next_cursor and workstream:
        page = session.client.ledger({**whose, "limit": PAGE, "cursor": page.next_cursor})
        items += page.items
    if session.wants_json:
        write_json(items)
        return
    heads = ("WORKSTREAM", "NO", "AT", "TOOL", "EFFECT", "OUTCOME", "NODE", "CALL")
    write_table(heads, [_row(each) for each in items])
    if page.total > len(items):
        say(f"{len(items)} of {page.total}: narrow the list by --workstream, or export it")


def export(session: Session, workstream: Whose = "") -> None:
    """Write all that a check needs as JSON lines."""
    for line in _lines(session, workstream):
        sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def check(
    session: Session,
    workstream: Whose = "",
    file: Annotated[
        Path | None, typer.Option(help="an export, - for standard input; asks no console")
    ] = None,
    key: Annotated[
        list[str] | None, typer.Option(help="the id of a key that counts; none: any known one")
    ] = None,
) -> None:
    """Find records that were changed, lost, reordered or put in. Exits 1 when there are some."""
    lines = _lines(session, workstream) if file is None else _read(file)
    report = verify(decoded(lines), frozenset(key or ()))
    if session.wants_json:
        write_json(report)
    else:
        _show(report)
    if not report.is_whole:
        raise typer.Exit(exits.FAILED)


ledger.command("ls")(with_session(ls))
ledger.command("export")(with_session(export))
ledger.command("verify")(with_session(check))


def _whose(session: Session, workstream: str) -> dict[str, str]:
    if not workstream:
        return {}
    return {"workstream": finding.workstream_id(session.client, workstream)}


def _lines(session: Session, workstream: str) -> Iterable[str]:
    whose = _whose(session, workstream).get("workstream", "")
    return session.client.ledger_lines(whose)


def _read(file: Path) -> Iterable[str]:
    try:
        text = sys.stdin.read() if str(file) == "-" else file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise Invalid(f"{file} cannot be read: {error}", field="file") from error
    return text.split("\n")


def _show(report: Report) -> None:
    if report.findings:
        heads = ("WORKSTREAM", "NO", "WRONG", "WHY")
        rows = [
            (each.workstream, str(each.position or "-"), each.wrong, each.reason)
            for each in report.findings
        ]
        write_table(heads, rows)
    counted = f"{_many(report.records, 'record')} of {_many(report.workstreams, 'workstream')}"
    earlier = f"; {report.before} calls are older than the ledger" if report.before else ""
    keys = f"signed by {', '.join(report.keys)}" if report.keys else "no key is known"
    verdict = f"{len(report.findings)} are wrong" if report.findings else "all is whole"
    say(f"{counted}: {verdict}; {keys}{earlier}")


def _many(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"


def _row(each: RecordView) -> tuple[str, ...]:
    return (
        each.workstream,
        str(each.position),
        each.at,
        each.tool,
        each.effect,
        each.outcome,
        each.node,
        each.call_id,
    )
