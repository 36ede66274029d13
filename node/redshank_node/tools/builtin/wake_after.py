"""Sends the workstream a message after a delay."""

from typing import Any

from redshank_node.tools.support import schema
from redshank_node.tools.support.refusals import refused
from redshank_node.tools.support.timing import times, wakes
from redshank_node.tools.tool import CallContext, Prepared, Result, Tool, Workspace
from redshank_shared.domain.events import Preview

_PARAMETERS: dict[str, Any] = {
    "type": "object",
    "properties": {
        "delay": {
            "type": "string",
            "minLength": 1,
            "description": "How long to wait, as in 90s, 10m, 1h30m or 2d.",
        },
        "message": wakes.MESSAGE_PARAMETER,
        "name": {
            **wakes.NAME_PARAMETER,
            "description": "A name to cancel it by. One is made up where none is given.",
        },
        **wakes.TARGET_PARAMETERS,
    },
    "required": ["delay", "message"],
    "additionalProperties": False,
}


def prepare(arguments: dict[str, Any], workspace: Workspace) -> Prepared:
    """Checked arguments, the delay in seconds."""
    checked = schema.validated(arguments, _PARAMETERS)
    wakes.check_texts(checked)
    checked["seconds"] = times.duration_seconds(checked["delay"], "delay")
    shown = times.shown_duration(checked["seconds"])
    return Prepared(checked, Preview(f"wake after {shown}", "text", checked["message"]))


async def run(prepared: Prepared, context: CallContext) -> Result:
    """Make one durable message; the turn goes on, nothing sleeps (K-22, K-23)."""
    arguments = prepared.arguments
    if objection := wakes.objection_to_target(arguments, context):
        return refused(objection)
    return wakes.wake(arguments, context, context.now_seconds + arguments["seconds"])


TOOL = Tool(
    name="wake_after",
    description=(
        "Send yourself a message after a delay. It survives restarts. Use it instead of sleeping; "
        "end your turn, the message begins a new one."
    ),
    parameters=_PARAMETERS,
    effect="state",
    prepare=prepare,
    run=run,
    primary_key="delay",
    parallel=True,
)
