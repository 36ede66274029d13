"""Forgets a task that does not run."""

from redshank_node.tools.support.commands.task_lines import (
    REFERENCE,
    prepared_reference,
    tasks_of,
    told,
)
from redshank_node.tools.tool import CallContext, Prepared, Result, Tool


async def run(prepared: Prepared, context: CallContext) -> Result:
    """The task is gone with what it wrote (K-24)."""

    async def work() -> Result:
        task_id = prepared.arguments["task_id"]
        await tasks_of(context).delete(task_id)
        return Result(f"{task_id} is deleted, with what it wrote")

    return await told(work())


TOOL = Tool(
    name="task_delete",
    description="Delete a task of this workstream that does not run, with its output.",
    parameters=REFERENCE,
    effect="state",
    prepare=prepared_reference,
    run=run,
    primary_key="task_id",
    parallel=True,
)
