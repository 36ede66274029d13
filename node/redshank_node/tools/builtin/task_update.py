"""Changes what a task says: its state, its words."""

from typing import Any

from redshank_node.tools.support import schema
from redshank_node.tools.support.commands.task_lines import TASK_ID, line, tasks_of, told
from redshank_node.tools.tool import CallContext, Prepared, Result, Tool, Workspace
from redshank_shared.domain.events import Preview
from redshank_shared.domain.tasks import TASK_STATES, TaskChange

_PARAMETERS: dict[str, Any] = {
    "type": "object",
    "properties": {
        "task_id": TASK_ID,
        "state": {
            "type": "string",
            "enum": list(TASK_STATES),
            "description": "Its new state. That of a command follows the command.",
        },
        "subject": {
            "type": "string",
            "minLength": 1,
            "maxLength": 200,
            "description": "What is to be done, in one line.",
        },
        "description": {
            "type": "string",
            "maxLength": 8000,
            "description": "What else is to be known about it.",
        },
        "reason": {
            "type": "string",
            "maxLength": 1000,
            "description": "Why it is in its state: what blocks it, why it failed.",
        },
    },
    "required": ["task_id"],
    "additionalProperties": False,
}


def prepare(arguments: dict[str, Any], workspace: Workspace) -> Prepared:
    """The task with what is to change."""
    checked = schema.validated(arguments, _PARAMETERS)
    wanted = ", ".join(f"{key}: {value}" for key, value in checked.items() if key != "task_id")
    return Prepared(checked, Preview(f"{checked['task_id']} {wanted}"[:200]))


async def run(prepared: Prepared, context: CallContext) -> Result:
    """The task as it is now (K-24)."""
    given = dict(prepared.arguments)
    task_id = given.pop("task_id")

    async def work() -> Result:
        task = await tasks_of(context).change(task_id, TaskChange(**given))
        return Result(line(task, context.workspace))

    return await told(work())


TOOL = Tool(
    name="task_update",
    description="Change a task's state, subject, description or the reason for its state.",
    parameters=_PARAMETERS,
    effect="state",
    prepare=prepare,
    run=run,
    primary_key="task_id",
    parallel=True,
)
