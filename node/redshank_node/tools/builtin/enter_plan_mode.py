"""Switches to plan mode."""

from typing import Any

from redshank_node.tools.support import schema
from redshank_node.tools.support.timing.wakes import AGENT
from redshank_node.tools.tool import CallContext, Prepared, Result, Tool, Workspace
from redshank_shared.domain.commands import EnterPlanMode
from redshank_shared.domain.events import Preview

_PARAMETERS: dict[str, Any] = {
    "type": "object",
    "properties": {
        "reason": {"type": "string", "maxLength": 1000, "description": "Why, in a few words."},
    },
    "required": [],
    "additionalProperties": False,
}


def prepare(arguments: dict[str, Any], workspace: Workspace) -> Prepared:
    """Takes at most a reason."""
    checked = schema.validated(arguments, _PARAMETERS)
    return Prepared(checked, Preview("plan first", "text", checked.get("reason", "")))


async def run(prepared: Prepared, context: CallContext) -> Result:
    """From here on only what plan mode lists may be called (K-31)."""
    return Result(
        "plan mode is on: look around, ask, then propose your plan with exit_plan_mode; nothing "
        "is changed before a person accepts it",
        command=EnterPlanMode(AGENT),
    )


TOOL = Tool(
    name="enter_plan_mode",
    description=(
        "Switch to plan mode: you may read and ask, not change anything, until a person accepts "
        "the plan that you propose with exit_plan_mode. For work that is large or hard to undo."
    ),
    parameters=_PARAMETERS,
    effect="state",
    prepare=prepare,
    run=run,
    primary_key="reason",
    plan=True,
    top_level=True,
)
