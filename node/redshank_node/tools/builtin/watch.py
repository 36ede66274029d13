"""Polls a shell command until something that is waited for happens."""

from typing import Any

from redshank_node.tools.support import schema
from redshank_node.tools.support.danger import judging
from redshank_node.tools.support.refusals import on_argument, refused
from redshank_node.tools.support.timing import times, wakes
from redshank_node.tools.support.timing.schedule_lines import (
    ENDED,
    line,
    listed,
    named,
    scheduled_in,
)
from redshank_node.tools.tool import BadArguments, CallContext, Prepared, Result, Tool, Workspace
from redshank_shared.domain.cadence import Interval
from redshank_shared.domain.commands import ChangeSchedule, CreateSchedule
from redshank_shared.domain.conditions import Condition
from redshank_shared.domain.due_events import WatchSpec
from redshank_shared.domain.events import Preview
from redshank_shared.domain.scheduled import Scheduled
from redshank_shared.domain.scheduling import MOST_POLLS, MOST_WATCHES, WATCH_SECONDS

_DEFAULT_POLL = "5m"
_DEFAULT_POLLS = 100
# In bytes well below what the kernel takes as one argument.
_MAX_COMMAND_CHARACTERS = 20_000
_OF_CREATE = ("command", "poll_every", "stop_on", "max_polls")
_PARAMETERS: dict[str, Any] = {
    "type": "object",
    "properties": {
        "action": {
            "type": "string",
            "enum": ["create", "list", "cancel"],
            "description": "What to do.",
        },
        "name": {
            **wakes.NAME_PARAMETER,
            "description": "The watch's name; cancel also takes its id or the id's beginning.",
        },
        "command": {
            "type": "string",
            "minLength": 1,
            "maxLength": _MAX_COMMAND_CHARACTERS,
            "description": "The shell command to poll.",
        },
        "poll_every": {
            "type": "string",
            "minLength": 1,
            "description": "Time between polls, 10s to 24h. Default 5m.",
        },
        "stop_on": {
            "type": "string",
            "minLength": 1,
            "description": (
                "Expression over output, data (the output as JSON), exit_code, prev_output, "
                'changed, as in data["state"] == "MERGED". Without it: when the output changes.'
            ),
        },
        "max_polls": {
            "type": "integer",
            "minimum": 1,
            "maximum": MOST_POLLS,
            "description": "Give up after so many polls. Default 100.",
        },
    },
    "required": ["action"],
    "additionalProperties": False,
}


def prepare(arguments: dict[str, Any], workspace: Workspace) -> Prepared:
    """Checked arguments with their defaults; a condition that is none is refused here, before
    anyone is asked (T-50, T-51).
    """
    checked = schema.validated(arguments, _PARAMETERS)
    action = checked["action"]
    wakes.check_storable(checked, "name", "command", "stop_on")
    if action == "create":
        return _creation(checked)
    for name in _OF_CREATE:
        if name in checked:
            raise BadArguments(f"{name} goes with action create; leave it out to {action}")
    if action == "cancel" and "name" not in checked:
        raise BadArguments("name is required to cancel: the watch's name or id")
    return Prepared(checked, Preview(f"{action} {checked.get('name', 'watches')}"[:100]), action)


async def run(prepared: Prepared, context: CallContext) -> Result:
    """Make, list or end watches; the sixth and a name that is taken are refused where that is
    decided (T-54).
    """
    match prepared.arguments["action"]:
        case "create":
            return _created(prepared.arguments, context)
        case "list":
            return listed([line(each) for each in await _watches(context)], "[no watch]", context)
        case _:
            return await _cancelled(prepared.arguments["name"], context)


def _creation(checked: dict[str, Any]) -> Prepared:
    for name in ("name", "command"):
        if not checked.get(name, "").strip():
            raise BadArguments(f"{name} is required to create a watch")
    if objection := judging.objection(checked["command"]):
        raise BadArguments(f"command is refused: {objection}; name exactly what is meant")
    every = checked.setdefault("poll_every", _DEFAULT_POLL)
    seconds = times.duration_seconds(every, "poll_every")
    shortest, longest = WATCH_SECONDS
    if not shortest <= seconds <= longest:
        raise BadArguments(
            f"poll_every must be from {shortest}s to {longest // 3600}h, not {every[:40]!r}"
        )
    checked["seconds"] = seconds
    checked.setdefault("max_polls", _DEFAULT_POLLS)
    until = checked.get("stop_on")
    if until is not None:
        with on_argument("stop_on"):
            Condition.parse(until)
    title = f"watch {checked['name']} every {times.shown_duration(seconds)}"
    title += f" until {until}" if until else " until the output changes"
    return Prepared(
        checked, Preview(" ".join(title.split())[:200], "command", checked["command"]), "create"
    )


def _created(arguments: dict[str, Any], context: CallContext) -> Result:
    every = arguments["seconds"]
    first = times.shown_moment(context.now_seconds + every)
    return Result(
        f"{arguments['name']} watches every {times.shown_duration(every)}, first at {first}",
        command=CreateSchedule(
            schedule_id=wakes.schedule_id(context),
            name=arguments["name"],
            cadence=Interval(every, context.now_seconds),
            by=wakes.AGENT,
            watch=WatchSpec(
                arguments["command"], arguments.get("stop_on", ""), arguments["max_polls"]
            ),
        ),
    )


async def _cancelled(reference: str, context: CallContext) -> Result:
    watches = await _watches(context)
    found = named(reference, watches)
    if len(found) == 1:
        schedule_id = found[0].schedule_id
        return Result(
            f"{found[0].name} is canceled; it polls no more",
            command=ChangeSchedule(schedule_id, "cancel", wakes.AGENT),
        )
    names = ", ".join(each.name for each in watches) or "none"
    what = "several watches begin with" if found else "no watch is called"
    return refused(f"name: {what} {reference}; there are: {names}")


async def _watches(context: CallContext) -> list[Scheduled]:
    return [
        each
        for each in await scheduled_in(context)
        if each.watch is not None and each.state not in ENDED
    ]


TOOL = Tool(
    name="watch",
    description=(
        "Poll a shell command in the background; when stop_on holds, when the output changes "
        "where there is no stop_on, or after max_polls, you get its output as a message and the "
        f"watch ends. At most {MOST_WATCHES} at a time."
    ),
    parameters=_PARAMETERS,
    effect="process",
    prepare=prepare,
    run=run,
    cwd_note="Its command starts in {working_dir}.",
    primary_key="command",
    asks=("create",),
    labelled_by="action",
    task_agent=False,
)
