"""Makes the tools that change one schedule: they differ by the change alone."""

from typing import Any, Literal

from redshank_node.tools.support import schema
from redshank_node.tools.support.timing.wakes import AGENT, check_storable
from redshank_node.tools.tool import CallContext, Prepared, Result, Tool, Workspace
from redshank_shared.domain.commands import ChangeSchedule
from redshank_shared.domain.events import Preview

REFERENCE: dict[str, Any] = {
    "type": "object",
    "properties": {
        "id": {
            "type": "string",
            "minLength": 1,
            "description": "The schedule's id, its unique beginning, or its name.",
        }
    },
    "required": ["id"],
    "additionalProperties": False,
}


def prepared_reference(arguments: dict[str, Any], workspace: Workspace) -> Prepared:
    """The schedule that is meant, as it was written."""
    checked = schema.validated(arguments, REFERENCE)
    check_storable(checked, "id")
    return Prepared(checked, Preview(checked["id"][:100]))


def changing(
    name: str, description: str, change: Literal["pause", "resume", "cancel", "trigger"], said: str
) -> Tool:
    """A tool that asks for this change; `said` follows the reference in what the model reads.

    K-90: what is not there or may not be changed so is refused where the change is decided.
    """

    async def run(prepared: Prepared, context: CallContext) -> Result:
        reference = prepared.arguments["id"]
        run_id = f"run_{context.call_id.removeprefix('call_')}" if change == "trigger" else ""
        return Result(
            f"{reference} {said}",
            command=ChangeSchedule(reference, change, AGENT, run_id),
        )

    return Tool(
        name=name,
        description=description,
        parameters=REFERENCE,
        effect="state",
        prepare=prepared_reference,
        run=run,
        primary_key="id",
        parallel=True,
    )
