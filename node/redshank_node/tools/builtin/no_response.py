"""Ends a turn without a word."""

import json
from typing import Any

from redshank_node.tools.support import schema
from redshank_node.tools.tool import CallContext, Prepared, Result, Tool, Workspace
from redshank_shared.domain.commands import EmitOutput
from redshank_shared.domain.events import Preview

_PARAMETERS: dict[str, Any] = {
    "type": "object",
    "properties": {
        "reason": {"type": "string", "description": "Why nothing is said, for the record alone."}
    },
    "additionalProperties": False,
}


def prepare(arguments: dict[str, Any], _: Workspace) -> Prepared:
    """Nothing but a reason, if one is given (C-9)."""
    checked = schema.validated(arguments, _PARAMETERS)
    reason = checked.get("reason", "").strip()
    return Prepared(checked, Preview(f"say nothing: {reason[:100]}" if reason else "say nothing"))


async def run(_: Prepared, context: CallContext) -> Result:
    """The end of the turn, as an output without parts."""
    return Result(json.dumps({"ended": True}), command=EmitOutput(context.call_id, (), final=True))


TOOL = Tool(
    name="no_response",
    description="End your turn without saying anything, where nothing is to be said.",
    parameters=_PARAMETERS,
    effect="state",
    prepare=prepare,
    run=run,
    primary_key="reason",
    plan=True,
    top_level=True,
)
