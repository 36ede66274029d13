"""Shows background tasks to a model; turns what they refuse into results."""

from collections.abc import Awaitable
from typing import Any

from redshank_node.tools.support import schema
from redshank_node.tools.support.refusals import refused
from redshank_node.tools.tool import CallContext, Prepared, Result, Tasks, Workspace
from redshank_shared.domain.errors import RedshankError, Unavailable
from redshank_shared.domain.events import Preview
from redshank_shared.domain.tasks import NODE_STOPPED, Task

TASK_ID: dict[str, Any] = {
    "type": "string",
    "minLength": 1,
    "description": "The task's id, as task_list shows it.",
}
REFERENCE: dict[str, Any] = {
    "type": "object",
    "properties": {"task_id": TASK_ID},
    "required": ["task_id"],
    "additionalProperties": False,
}
# What a profile calls the end of a task that died with its node (K-24).
OPTIONS: dict[str, Any] = {"node_stopped": {"type": "string"}}
NONE_HERE = "there are no background tasks here"


class NoTasks(RedshankError):
    """This place keeps no tasks."""


def prepared_reference(arguments: dict[str, Any], workspace: Workspace) -> Prepared:
    """The task that is meant."""
    checked = schema.validated(arguments, REFERENCE)
    return Prepared(checked, Preview(checked["task_id"]))


def tasks_of(context: CallContext) -> Tasks:
    """The caller's tasks; NoTasks where there are none to have."""
    if context.tasks is None:
        raise NoTasks(NONE_HERE)
    return context.tasks


async def told(work: Awaitable[Result]) -> Result:
    """The result of the work; what is refused, as a result."""
    try:
        return await work
    except Unavailable as error:
        return refused(f"the tasks cannot be reached now: {error.detail}; try again")
    except RedshankError as error:
        return refused(error.detail)


def line(task: Task, workspace: Workspace) -> str:
    """Id, state with its reason, what it is, in one line."""
    why = reason_of(task, workspace)
    subject = " ".join(task.subject.split())
    kind = "command" if task.kind == "shell" else "task"
    return f"{task.task_id} {task.state}{f' ({why})' if why else ''}: {kind} {subject}"


def reason_of(task: Task, workspace: Workspace) -> str:
    """Why the task is in its state, in the profile's words."""
    word = str(workspace.options.get("node_stopped", NODE_STOPPED))
    return word if task.reason == NODE_STOPPED else task.reason


def in_full(task: Task, workspace: Workspace) -> str:
    """The line with all that the task says, less what it wrote."""
    lines = [line(task, workspace), f"created {task.created_at}, changed {task.updated_at}"]
    if task.description:
        lines.append(f"description: {task.description}")
    if task.kind == "shell":
        lines.append(f"command: {task.command}")
        code = "none" if task.exit_code is None else task.exit_code
        lines.append(f"exit code: {code}; wrote {task.output_bytes} bytes")
    return "\n".join(lines)
