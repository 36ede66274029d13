"""Sends the workstream a message at a moment."""

from typing import Any

from redshank_node.tools.support import schema
from redshank_node.tools.support.refusals import refused
from redshank_node.tools.support.timing import times, wakes
from redshank_node.tools.tool import CallContext, Prepared, Result, Tool, Workspace
from redshank_shared.domain.events import Preview

_PARAMETERS: dict[str, Any] = {
    "type": "object",
    "properties": {
        "at": {
            "type": "string",
            "minLength": 1,
            "description": "RFC 3339 time with offset, to come: 2027-01-31T09:00:00+01:00.",
        },
        "message": wakes.MESSAGE_PARAMETER,
        "name": {
            **wakes.NAME_PARAMETER,
            "description": "A name to cancel it by. One is made up where none is given.",
        },
        **wakes.TARGET_PARAMETERS,
    },
    "required": ["at", "message"],
    "additionalProperties": False,
}


def prepare(arguments: dict[str, Any], workspace: Workspace) -> Prepared:
    """Checked arguments, the moment in seconds since 1970."""
    checked = schema.validated(arguments, _PARAMETERS)
    wakes.check_texts(checked)
    checked["seconds"] = times.moment(checked["at"], "at")
    shown = times.shown_moment(checked["seconds"])
    return Prepared(checked, Preview(f"wake at {shown}", "text", checked["message"]))


async def run(prepared: Prepared, context: CallContext) -> Result:
    """Make one durable message; a moment that has passed is refused (K-22)."""
    arguments = prepared.arguments
    at = arguments["seconds"]
    if objection := wakes.objection_to_target(arguments, context):
        return refused(objection)
    if objection := times.objection_to_past(at, context.now_seconds, "at"):
        return refused(objection)
    return wakes.wake(arguments, context, at)


TOOL = Tool(
    name="wake_at",
    description=(
        "Send yourself a message at an exact time. It survives restarts. End your turn, the "
        "message begins a new one."
    ),
    parameters=_PARAMETERS,
    effect="state",
    prepare=prepare,
    run=run,
    primary_key="at",
    parallel=True,
)
