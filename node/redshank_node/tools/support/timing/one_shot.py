"""Reads a one-shot schedule in the arguments of `schedule`: id, at, prompt (C-42)."""

import re
from typing import Any

from redshank_node.tools.support import schema
from redshank_node.tools.support.refusals import on_argument
from redshank_node.tools.support.timing import times
from redshank_node.tools.tool import BadArguments, Workspace
from redshank_shared.domain.decide import checked_text

_ID = re.compile("[a-z0-9-]{1,200}")
_CURRENT = "current"
_NOT_YET = ("last", "owner")
DESCRIPTION = (
    "Schedule a one-shot task for a future time: you read its prompt in this conversation then, "
    "restarts or not. The same id replaces what it stood for."
)
PARAMETERS: dict[str, Any] = {
    "type": "object",
    "properties": {
        "id": {
            "type": "string",
            "minLength": 1,
            "description": "Its name, of a to z, 0 to 9 or -, as in check-mail.",
        },
        "at": {
            "type": "string",
            "minLength": 1,
            "description": "ISO time with offset, to come: 2027-01-31T09:00:00+01:00.",
        },
        "prompt": {"type": "string", "minLength": 1, "description": "What you read then."},
        "delivery": {
            "type": "string",
            "enum": ["announce", "none"],
            "description": "Default announce, which shows your answer; none cannot be had yet.",
        },
        "target": {
            "type": "string",
            "minLength": 1,
            "description": (
                "Which conversation: current (the default) or its id; last, owner and the ids of "
                "others cannot be had yet."
            ),
        },
    },
    "required": ["id", "at", "prompt"],
    "additionalProperties": False,
}


def as_schedule(arguments: dict[str, Any], workspace: Workspace) -> dict[str, Any]:
    """The same in the arguments of `schedule_create`; BadArguments on the argument that is wrong,
    or that asks for what cannot be had.
    """
    checked = schema.validated(arguments, PARAMETERS)
    if not _ID.fullmatch(checked["id"]):
        raise BadArguments("id must be made of a to z, 0 to 9 or -, as in check-mail")
    times.moment(checked["at"], "at")
    with on_argument("prompt"):
        checked_text(checked["prompt"], "prompt")
    if checked.get("delivery") == "none":
        raise BadArguments(
            "delivery: none cannot be had yet, an answer always shows in its conversation; "
            "use announce, or leave delivery out"
        )
    _check_target(checked.get("target", _CURRENT), workspace.workstream_id)
    return {
        "name": checked["id"],
        "message": checked["prompt"],
        "once": {"at": checked["at"]},
    }


def _check_target(target: str, current_id: str) -> None:
    if target in (_CURRENT, current_id):
        return
    what = f"{target} cannot be had" if target in _NOT_YET else "another conversation cannot be had"
    raise BadArguments(
        f"target: {what} yet, a task speaks to the conversation that made it; "
        "use current, or leave target out"
    )
