"""Shows what a background command wrote so far."""

from typing import Any

from redshank_node.tools.support import schema
from redshank_node.tools.support.commands.task_lines import (
    OPTIONS,
    TASK_ID,
    reason_of,
    tasks_of,
    told,
)
from redshank_node.tools.support.truncate import HeadAndTail
from redshank_node.tools.tool import CallContext, Prepared, Result, Tool, Workspace
from redshank_shared.domain.events import Preview
from redshank_shared.domain.tasks import ENDED, Task

_MOST_SECONDS = 90
_PARAMETERS: dict[str, Any] = {
    "type": "object",
    "properties": {
        "task_id": TASK_ID,
        "wait_seconds": {
            "type": "integer",
            "minimum": 0,
            "maximum": _MOST_SECONDS,
            "description": "How long to wait for the command to end. Default 0.",
        },
    },
    "required": ["task_id"],
    "additionalProperties": False,
}


def prepare(arguments: dict[str, Any], workspace: Workspace) -> Prepared:
    """The task that is meant, how long to wait for it."""
    checked = schema.validated(arguments, _PARAMETERS)
    return Prepared(checked, Preview(checked["task_id"]))


async def run(prepared: Prepared, context: CallContext) -> Result:
    """The output behind a line that says how the command stands. That it can be read says nothing
    of whether the command succeeded (K-24).
    """
    seconds = min(prepared.arguments.get("wait_seconds", 0), context.max_seconds)

    async def work() -> Result:
        task = await tasks_of(context).ended(prepared.arguments["task_id"], seconds)
        if task.kind != "shell":
            return Result(f"[{task.task_id} is {task.state}; it runs no command, so wrote nothing]")
        head = _standing(task, context.workspace)
        shown = HeadAndTail(context.max_output_bytes - len(head.encode()) - 1)
        shown.add(task.output)
        text, cut = shown.text()
        return Result(f"{head}\n{text}", truncated=cut or task.output_bytes > len(task.output))

    return await told(work())


def _standing(task: Task, workspace: Workspace) -> str:
    reason = reason_of(task, workspace)
    said = f"{task.task_id} is {task.state}{f': {reason}' if reason else ''}"
    if task.state not in ENDED:
        return f"[{said}; it wrote {task.output_bytes} bytes so far; how it ends is not known yet]"
    return (
        f"[{said}; it wrote {task.output_bytes} bytes. "
        "That they can be read does not mean that the command succeeded]"
    )


TOOL = Tool(
    name="task_output",
    description=(
        "Show what a background command wrote so far, with its state. Reading it says nothing of "
        "whether the command succeeded: its state does."
    ),
    parameters=_PARAMETERS,
    effect="read",
    prepare=prepare,
    run=run,
    primary_key="task_id",
    parallel=True,
    plan=True,
    timeout_seconds=_MOST_SECONDS + 30.0,
    aliases=("bash_output",),
    options=OPTIONS,
)
