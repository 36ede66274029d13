"""Lists the tasks of the workstream."""

from typing import Any

from redshank_node.tools.support import schema
from redshank_node.tools.support.commands.task_lines import OPTIONS, line, tasks_of, told
from redshank_node.tools.support.timing.schedule_lines import listed
from redshank_node.tools.tool import CallContext, Prepared, Result, Tool, Workspace
from redshank_shared.domain.events import Preview
from redshank_shared.domain.tasks import TASK_STATES

_PARAMETERS: dict[str, Any] = {
    "type": "object",
    "properties": {
        "state": {
            "type": "string",
            "enum": [*TASK_STATES, "all"],
            "description": "Only those in this state. Default: all.",
        }
    },
    "required": [],
    "additionalProperties": False,
}


def prepare(arguments: dict[str, Any], workspace: Workspace) -> Prepared:
    """The state that is asked for, if any."""
    checked = schema.validated(arguments, _PARAMETERS)
    return Prepared(checked, Preview(checked.get("state", "all")))


async def run(prepared: Prepared, context: CallContext) -> Result:
    """One line a task, oldest first (K-24)."""
    wanted = prepared.arguments.get("state", "all")

    async def work() -> Result:
        tasks = await tasks_of(context).all()
        lines = [line(task, context.workspace) for task in tasks if wanted in ("all", task.state)]
        return listed(lines, "[no task]", context)

    return await told(work())


TOOL = Tool(
    name="task_list",
    description="List the tasks of this workstream, background commands among them.",
    parameters=_PARAMETERS,
    effect="read",
    prepare=prepare,
    run=run,
    primary_key="state",
    parallel=True,
    plan=True,
    options=OPTIONS,
)
