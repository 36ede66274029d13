"""The commands on runtime limits: `redshank tool-limits …`."""

from pathlib import Path
from typing import Annotated, Any

import msgspec
import typer

from redshank_console.cli.output import say, write_facts, write_json
from redshank_console.cli.session import Session, with_session
from redshank_shared.client.views import ToolLimitsView
from redshank_shared.domain.errors import Invalid

tool_limits = typer.Typer(
    no_args_is_help=True, help="What a call, a batch of calls, a turn may take."
)


def get(session: Session) -> None:
    """Show the limits in force."""
    view = session.client.tool_limits()
    if session.wants_json:
        write_json(view)
    else:
        _show(view)


def set_(
    session: Session,
    file: Annotated[Path, typer.Option(help="JSON: the limits to change, or what `get` printed")],
) -> None:
    """Change limits, from the next batch of calls on. Those not named stay as they are."""
    limits, revision = _read(file)
    view = session.client.set_tool_limits(limits, revision)
    if session.wants_json:
        write_json(view)
    else:
        _show(view)
        say(f"revision {view.revision} counts for later batches of calls only")


tool_limits.command("get")(with_session(get))
tool_limits.command("set")(with_session(set_))


def _read(file: Path) -> tuple[dict[str, Any], int | None]:
    """The limits of a file, with the revision that they were read at if it says one."""
    try:
        document = msgspec.json.decode(file.read_bytes(), type=dict[str, Any])
    except OSError as error:
        raise Invalid(f"{file} cannot be read: {error.strerror}", field="--file") from error
    except msgspec.DecodeError as error:
        raise Invalid(
            f'{file} is not a JSON object such as {{"max_parallel_tools": 4}}: {error}',
            field="--file",
        ) from error
    limits = document.get("limits")
    if not isinstance(limits, dict):
        return document, None
    revision = document.get("revision")
    return limits, revision if isinstance(revision, int) else None


def _show(view: ToolLimitsView) -> None:
    facts = [(name, str(value)) for name, value in view.limits.items()]
    changed = f"{view.set_at} by {view.set_by}" if view.set_at else "never: as configured"
    write_facts((*facts, ("revision", str(view.revision)), ("set", changed)))
