"""Reads a one-shot schedule as `schedule` takes it: id, at, prompt (C-42)."""

import re
from typing import Any

from redshank_node.tools.support import schema
from redshank_node.tools.tool import BadArguments

_ID = re.compile("[a-z0-9-]{1,200}")
_OWN = ("id", "prompt")
_PARAMETERS: dict[str, Any] = {
    "type": "object",
    "properties": {
        "id": {"type": "string", "minLength": 1},
        "at": {"type": "string"},
        "prompt": {"type": "string", "minLength": 1},
        "delivery": {"type": "string", "enum": ["announce"]},
        "target": {"type": "string", "enum": ["current"]},
    },
    "required": ["id", "at", "prompt"],
}


def is_one_shot(arguments: dict[str, Any]) -> bool:
    """Whether these arguments are those of `schedule` and not of `schedule_create`."""
    return any(name in arguments for name in _OWN)


def as_schedule(arguments: dict[str, Any]) -> dict[str, Any]:
    """The same in the arguments of `schedule_create`; else BadArguments on the argument."""
    checked = schema.validated(arguments, _PARAMETERS)
    if not _ID.fullmatch(checked["id"]):
        raise BadArguments("id must be made of a to z, 0 to 9 or -, as in check-mail")
    return {
        "name": checked["id"],
        "message": checked["prompt"],
        "once": {"at": checked["at"]},
    }
