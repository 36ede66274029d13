"""Shows one task in full."""

from redshank_node.tools.support.commands.task_lines import (
    OPTIONS,
    REFERENCE,
    in_full,
    prepared_reference,
    tasks_of,
    told,
)
from redshank_node.tools.tool import CallContext, Prepared, Result, Tool


async def run(prepared: Prepared, context: CallContext) -> Result:
    """All that the task says, less what it wrote (K-24)."""

    async def work() -> Result:
        task = await tasks_of(context).get(prepared.arguments["task_id"])
        return Result(in_full(task, context.workspace))

    return await told(work())


TOOL = Tool(
    name="task_get",
    description="Show one task of this workstream; task_output shows what a command wrote.",
    parameters=REFERENCE,
    effect="read",
    prepare=prepared_reference,
    run=run,
    primary_key="task_id",
    parallel=True,
    plan=True,
    options=OPTIONS,
)
