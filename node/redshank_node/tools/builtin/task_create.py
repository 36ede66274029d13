"""Creates a task of record for work that goes on beside the conversation."""

from typing import Any

from redshank_node.tools.support import schema
from redshank_node.tools.support.commands.task_lines import line, tasks_of, told
from redshank_node.tools.tool import CallContext, Prepared, Result, Tool, Workspace
from redshank_shared.domain.events import Preview

_PARAMETERS: dict[str, Any] = {
    "type": "object",
    "properties": {
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
    },
    "required": ["subject"],
    "additionalProperties": False,
}


def prepare(arguments: dict[str, Any], workspace: Workspace) -> Prepared:
    """What the task is."""
    checked = schema.validated(arguments, _PARAMETERS)
    return Prepared(checked, Preview(checked["subject"]))


async def run(prepared: Prepared, context: CallContext) -> Result:
    """A new task, pending (K-24)."""

    async def work() -> Result:
        arguments = prepared.arguments
        task = await tasks_of(context).create(
            arguments["subject"], arguments.get("description", "")
        )
        return Result(line(task, context.workspace))

    return await told(work())


TOOL = Tool(
    name="task_create",
    description=(
        "Create a task to keep track of work; it runs nothing. A command that is to run on in the "
        "background is started by bash with background."
    ),
    parameters=_PARAMETERS,
    effect="state",
    prepare=prepare,
    run=run,
    primary_key="subject",
    parallel=True,
)
