"""Proposes a plan; plan mode ends when a person accepts it."""

from typing import Any

from redshank_node.tools.support import schema
from redshank_node.tools.support.timing import wakes
from redshank_node.tools.tool import BadArguments, CallContext, Prepared, Result, Tool, Workspace
from redshank_shared.domain.commands import AcceptPlan
from redshank_shared.domain.events import Preview

_PARAMETERS: dict[str, Any] = {
    "type": "object",
    "properties": {
        "plan": {
            "type": "string",
            "minLength": 1,
            "maxLength": 100_000,
            "description": "The whole plan, as the person is to read it.",
        },
    },
    "required": ["plan"],
    "additionalProperties": False,
}


def prepare(arguments: dict[str, Any], workspace: Workspace) -> Prepared:
    """A plan that is not empty, shown in full (K-31)."""
    checked = schema.validated(arguments, _PARAMETERS)
    plan: str = checked["plan"]
    if not plan.strip():
        raise BadArguments("plan must not be empty; write what you will do, step by step")
    wakes.check_storable(checked, "plan")
    first = plan.strip().split("\n", 1)[0][:100]
    return Prepared(checked, Preview(first, "text", plan))


async def run(prepared: Prepared, context: CallContext) -> Result:
    """Keep the plan, go back to the mode held before (K-31)."""
    return Result(
        "the plan is accepted; plan mode is off, carry the plan out",
        command=AcceptPlan(context.call_id, prepared.arguments["plan"], wakes.AGENT),
    )


TOOL = Tool(
    name="exit_plan_mode",
    description=(
        "Propose your plan, only in plan mode. A person reads it; when they accept, plan mode "
        "ends and you carry it out. When they deny, their words say what to change."
    ),
    parameters=_PARAMETERS,
    effect="state",
    prepare=prepare,
    run=run,
    primary_key="plan",
    plan=True,
    top_level=True,
    modes=("plan",),
)
