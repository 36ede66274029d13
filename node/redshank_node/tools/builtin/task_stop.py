"""Stops a task: a command is killed with all that it started."""

from redshank_node.tools.support.commands.task_lines import (
    REFERENCE,
    line,
    prepared_reference,
    tasks_of,
    told,
)
from redshank_node.tools.tool import CallContext, Prepared, Result, Tool
from redshank_shared.domain.tasks import ENDED


async def run(prepared: Prepared, context: CallContext) -> Result:
    """The task as it is once it has ended (K-24)."""

    async def work() -> Result:
        task = await tasks_of(context).stop(prepared.arguments["task_id"])
        late = "" if task.state in ENDED else "\n[its node is asked to stop it and has not yet]"
        return Result(line(task, context.workspace) + late)

    return await told(work())


TOOL = Tool(
    name="task_stop",
    description="Stop a background command with all that it started, or cancel a task.",
    parameters=REFERENCE,
    effect="state",
    prepare=prepared_reference,
    run=run,
    primary_key="task_id",
    parallel=True,
    aliases=("kill_shell",),
)
