"""Reads policy files, tells how two policies differ."""

from pathlib import Path

from redshank_console.cli.output import say, write_json, write_table
from redshank_console.cli.session import Session
from redshank_shared.client.permissions import DifferenceView
from redshank_shared.domain.errors import Invalid


def policy_text(path: Path) -> str:
    """The file's text; Invalid where it cannot be read."""
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise Invalid(f"{path} cannot be read: {error.strerror}", field="FILE") from error
    except UnicodeDecodeError as error:
        raise Invalid(f"{path} is no text in UTF-8: {error}", field="FILE") from error


def tell_difference(session: Session, view: DifferenceView) -> None:
    """The cells that are decided otherwise."""
    if session.wants_json:
        write_json(view)
        return
    rows = [
        (
            "wider" if change.wider else "narrower",
            change.tool,
            change.mode,
            f"{change.before.decision} ({change.before.pattern} {change.before.scope})",
            f"{change.after.decision} ({change.after.pattern} {change.after.scope})",
        )
        for change in view.changes
    ]
    if rows:
        write_table(("", "TOOL", "MODE", "BEFORE", "AFTER"), rows)
    say(
        f"{len(rows)} of {view.cells} decisions differ: "
        f"{view.wider} wider, {view.narrower} narrower"
    )
