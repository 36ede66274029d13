"""Lists the schedules of the workstream."""

from typing import Any

from redshank_node.tools.support import schema
from redshank_node.tools.support.timing.schedule_lines import ENDED, line, listed, scheduled_in
from redshank_node.tools.tool import CallContext, Prepared, Result, Tool, Workspace
from redshank_shared.domain.events import Preview

_PARAMETERS: dict[str, Any] = {
    "type": "object",
    "properties": {
        "state": {
            "type": "string",
            "enum": ["active", "paused", "completed", "canceled", "all"],
            "description": "Only those in this state. Default: all that are not over.",
        }
    },
    "required": [],
    "additionalProperties": False,
}


def prepare(arguments: dict[str, Any], workspace: Workspace) -> Prepared:
    """The state that is asked for, if any."""
    checked = schema.validated(arguments, _PARAMETERS)
    return Prepared(checked, Preview(checked.get("state", "schedules")))


async def run(prepared: Prepared, context: CallContext) -> Result:
    """One line a schedule, newest first (K-23)."""
    wanted = prepared.arguments.get("state")
    lines = [
        line(schedule)
        for schedule in await scheduled_in(context)
        if wanted in ("all", schedule.state) or (wanted is None and schedule.state not in ENDED)
    ]
    return listed(lines, "[no schedule]", context)


TOOL = Tool(
    name="schedule_list",
    description="List the schedules, wakes and watches of this workstream.",
    parameters=_PARAMETERS,
    effect="read",
    prepare=prepare,
    run=run,
    primary_key="state",
    parallel=True,
    plan=True,
)
