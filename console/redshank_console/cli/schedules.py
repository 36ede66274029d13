"""The commands on schedules: `redshank schedules …`."""

from typing import Annotated, Any

import typer

from redshank_console.cli import finding
from redshank_console.cli.durations import seconds_in
from redshank_console.cli.output import say, write_facts, write_json, write_table
from redshank_console.cli.session import Session, with_session
from redshank_shared.client.views import NewSchedule, RunView, ScheduleView

schedules = typer.Typer(
    no_args_is_help=True, help="What comes due: wakes, repeated messages, watches."
)
Named = Annotated[
    str, typer.Argument(metavar="SCHEDULE", help="an id, the beginning of one, or a name")
]
Whose = Annotated[str, typer.Argument(metavar="WORKSTREAM", help="an id, or a name")]


def ls(
    session: Session,
    workstream: Annotated[str, typer.Option(help="only those of this one, an id or name")] = "",
) -> None:
    """List schedules, the newest first."""
    whose = finding.workstream_id(session.client, workstream) if workstream else ""
    found = finding.schedules(session.client, whose)
    if session.wants_json:
        write_json(found)
        return
    heads = ("ID", "STATE", "WHEN", "NEXT DUE", "RUNS", "WORKSTREAM", "NAME")
    write_table(heads, [_row(each) for each in found])
    if len(found) >= finding.MOST_SCHEDULES_LOOKED_AT:
        say(f"the newest {len(found)}: narrow the list by --workstream")


def show(session: Session, named: Named) -> None:
    """Show a schedule with its last runs."""
    view = session.client.schedule(finding.schedule_id(session.client, named))
    _show(session, view)


def create(  # noqa: PLR0913 - one option a field of the API
    session: Session,
    whose: Whose,
    name: Annotated[str, typer.Argument(metavar="NAME", help="what it is called")],
    message: Annotated[str, typer.Option(help="what is said when it is due")] = "",
    once: Annotated[str, typer.Option(help="at a moment: 2026-11-30T09:00:00Z")] = "",
    every: Annotated[str, typer.Option(help="again and again: 90, 5m, 1h, 1d")] = "",
    cron: Annotated[str, typer.Option(help="by a cron expression")] = "",
    timezone: Annotated[str, typer.Option(help="of the cron: Europe/Berlin")] = "",
    watch: Annotated[str, typer.Option(help="a command to poll")] = "",
    poll_every: Annotated[str, typer.Option(help="how often: 30s, 5m, 1h")] = "5m",
    stop_on: Annotated[str, typer.Option(help="the watch's condition; none: a change")] = "",
    max_polls: Annotated[int, typer.Option(help="polls until it gives up")] = 100,
    overlap: Annotated[str, typer.Option(help="skip, queue_one, parallel")] = "",
    misfire: Annotated[str, typer.Option(help="coalesce_once, skip_missed")] = "",
    max_executions: Annotated[int | None, typer.Option(help="runs until it is over")] = None,
) -> None:
    """Make a schedule: one of --once, --every, --cron, --watch."""
    watched: dict[str, Any] = {"command": watch, "stop_on": stop_on, "max_polls": max_polls}
    zone = {"timezone": timezone} if timezone else {}
    new = NewSchedule(
        workstream=finding.workstream_id(session.client, whose),
        name=name,
        message=message,
        once={"at": once} if once else None,
        interval={"every_seconds": seconds_in(every, "--every")} if every else None,
        cron={"expression": cron, **zone} if cron else None,
        watch={**watched, "poll_every": seconds_in(poll_every, "--poll-every")} if watch else None,
        overlap=overlap,
        misfire=misfire,
        max_executions=max_executions,
    )
    _show(session, session.client.create_schedule(new))


def pause(session: Session, named: Named) -> None:
    """Stop its clock; what was left is kept."""
    _change(session, named, "pause")


def resume(session: Session, named: Named) -> None:
    """Go on with what was left; a cron rejoins its pattern."""
    _change(session, named, "resume")


def cancel(session: Session, named: Named) -> None:
    """End a schedule for good."""
    _change(session, named, "cancel")


def trigger(session: Session, named: Named) -> None:
    """Let a schedule be due now, beside its times."""
    _change(session, named, "trigger")


def hook(
    session: Session,
    named: Named,
    revoke: Annotated[bool, typer.Option("--revoke", help="let nobody push any more")] = False,
) -> None:
    """Print an address by which a watch is pushed; the one before ends."""
    found = finding.schedule_id(session.client, named)
    if revoke:
        session.client.revoke_watch_hook(found)
        say(f"{found} can be pushed no more")
        return
    made = session.client.make_watch_hook(found)
    if session.wants_json:
        write_json(made)
    else:
        typer.echo(made.address)
        say("whoever has it may push; it is not shown again")


for command in (ls, show, create, pause, resume, cancel, trigger, hook):
    schedules.command(command.__name__)(with_session(command))


def _change(session: Session, named: str, change: str) -> None:
    found = finding.schedule_id(session.client, named)
    view = session.client.change_schedule(found, change)
    if session.wants_json:
        write_json(view)
        return
    due = f", due next at {view.next_due}" if view.next_due else ""
    say(f"{view.id} is {view.state}{due}")


def _show(session: Session, view: ScheduleView) -> None:
    if session.wants_json:
        write_json(view)
        return
    watched = view.cadence.get("watch", {})
    write_facts(
        (
            ("id", view.id),
            ("name", view.name),
            ("workstream", view.workstream),
            ("state", view.state),
            ("detail", view.detail),
            ("when", _when(view)),
            ("watches", str(watched.get("command", ""))),
            ("until", _until(watched)),
            ("next due", view.next_due or ""),
            ("runs", _counted(view)),
            ("overlap", view.overlap),
            ("misfire", view.misfire),
            ("message", view.message),
            ("created", view.created_at),
        )
    )
    if view.last_runs:
        write_table(("DUE", "STATE", "NODE", "DETAIL"), [_run(run) for run in view.last_runs])


def _row(view: ScheduleView) -> tuple[str, ...]:
    due = view.next_due or ""
    return (view.id, view.state, _when(view), due, str(view.runs), view.workstream, view.name)


def _run(run: RunView) -> tuple[str, ...]:
    return (run.due_at, run.state, run.node, run.detail)


def _when(view: ScheduleView) -> str:
    given = view.cadence.get(view.kind, {})
    match view.kind:
        case "once":
            return f"once at {given.get('at')}"
        case "interval":
            return f"every {given.get('every_seconds')} s"
        case "cron":
            return f"cron {given.get('expression')} in {given.get('timezone')}"
        case "watch":
            return f"polls every {given.get('poll_every')} s"
        case of_a_newer_console:
            return of_a_newer_console


def _until(watched: dict[str, Any]) -> str:
    if not watched:
        return ""
    condition = watched.get("stop_on") or "its output changes"
    return f"{condition}, at most {watched.get('max_polls')} polls"


def _counted(view: ScheduleView) -> str:
    return f"{view.runs} of {view.max_executions}" if view.max_executions else str(view.runs)
