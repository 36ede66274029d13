"""Makes a schedule: one message at a moment, on a beat, or by a cron expression."""

from typing import Any

from redshank_node.tools.support import schema
from redshank_node.tools.support.refusals import refused
from redshank_node.tools.support.timing import one_shot, times, timetable, wakes
from redshank_node.tools.tool import (
    BadArguments,
    CallContext,
    Form,
    Prepared,
    Result,
    Tool,
    Workspace,
)
from redshank_shared.domain.cadence import Once, first_due
from redshank_shared.domain.commands import CreateSchedule
from redshank_shared.domain.events import Preview

_PARAMETERS: dict[str, Any] = {
    "type": "object",
    "properties": {
        "name": {
            **wakes.NAME_PARAMETER,
            "description": "A name that no other schedule of this workstream has.",
        },
        "message": {
            "type": "string",
            "minLength": 1,
            "description": "What is read each time.",
        },
        **timetable.PARAMETERS,
        "overlap": {
            "type": "string",
            "enum": ["skip", "queue_one", "parallel"],
            "description": "When the last run is not over at the next due time. Default skip.",
        },
        "misfire": {
            "type": "string",
            "enum": ["coalesce_once", "skip_missed"],
            "description": "When due times passed while nothing ran. Default coalesce_once.",
        },
        "max_executions": {
            "type": "integer",
            "minimum": 1,
            "maximum": 1_000_000,
            "description": "End after so many. Default: no end.",
        },
        **wakes.TARGET_PARAMETERS,
    },
    "required": ["name", "message"],
    "additionalProperties": False,
}


def prepare(arguments: dict[str, Any], workspace: Workspace) -> Prepared:
    """Checked arguments with exactly one cadence that can come due (K-86, K-87)."""
    checked = schema.validated(arguments, _PARAMETERS)
    wakes.check_texts(checked)
    return _prepared(checked, to_come=False)


def prepare_one_shot(arguments: dict[str, Any], workspace: Workspace) -> Prepared:
    """The same from the arguments of `schedule`, whose moment must be to come (C-42)."""
    return _prepared(one_shot.as_schedule(arguments, workspace), to_come=True)


def _prepared(checked: dict[str, Any], *, to_come: bool) -> Prepared:
    shown = timetable.shown(timetable.cadence(checked, 0.0))
    checked["to_come"] = to_come
    return Prepared(checked, Preview(f"{checked['name']}: {shown}", "text", checked["message"]))


async def run(prepared: Prepared, context: CallContext) -> Result:
    """Make the schedule; a name that is taken is refused where that is decided (K-23)."""
    arguments = prepared.arguments
    now = context.now_seconds
    if objection := wakes.objection_to_target(arguments, context):
        return refused(objection)
    try:
        cadence = timetable.cadence(arguments, now)
    except BadArguments as too_late:
        return refused(str(too_late))
    if (
        arguments["to_come"]
        and isinstance(cadence, Once)
        and (objection := times.objection_to_past(cadence.at, now, "at"))
    ):
        return refused(objection)
    due = first_due(cadence, now)
    following = "" if due is None else f", next at {times.shown_moment(due)}"
    return Result(
        f"{arguments['name']} is scheduled {timetable.shown(cadence)}{following}",
        command=CreateSchedule(
            schedule_id=wakes.schedule_id(context),
            name=arguments["name"],
            cadence=cadence,
            by=wakes.AGENT,
            message=arguments["message"],
            overlap=arguments.get("overlap", "skip"),
            misfire=arguments.get("misfire", "coalesce_once"),
            max_executions=arguments.get("max_executions", 0),
            replaces=arguments["to_come"],
            target=wakes.target_of(arguments, context),
        ),
    )


TOOL = Tool(
    name="schedule_create",
    description=(
        "Send yourself a message at a moment (once), again and again (interval), or by a cron "
        "expression in a time zone: give exactly one of the three. It survives restarts."
    ),
    parameters=_PARAMETERS,
    effect="state",
    prepare=prepare,
    run=run,
    primary_key="message",
    parallel=True,
    aliases=("schedule",),
    forms={"one_shot": Form(one_shot.DESCRIPTION, one_shot.PARAMETERS, prepare_one_shot, "prompt")},
)
