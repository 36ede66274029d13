"""Tells a person outside the conversation."""

from typing import Any

from redshank_node.tools.support import schema
from redshank_node.tools.support.timing import wakes
from redshank_node.tools.tool import BadArguments, CallContext, Prepared, Result, Tool, Workspace
from redshank_shared.domain.commands import RequestNotification
from redshank_shared.domain.events import Preview

_MAX_MESSAGE_CHARACTERS = 2000
_PARAMETERS: dict[str, Any] = {
    "type": "object",
    "properties": {
        "message": {
            "type": "string",
            "minLength": 1,
            "maxLength": _MAX_MESSAGE_CHARACTERS,
            "description": "What to say, as plain text.",
        },
        "username": {
            "type": "string",
            "minLength": 1,
            "maxLength": 200,
            "description": "A user; every linked channel of theirs gets it.",
        },
        "channel_type": {
            "type": "string",
            "minLength": 1,
            "maxLength": 40,
            "description": "The platform of channel_id, as in discord.",
        },
        "channel_id": {
            "type": "string",
            "minLength": 1,
            "maxLength": 200,
            "description": "A channel or a user of that platform.",
        },
        "title": {
            "type": "string",
            "minLength": 1,
            "maxLength": 200,
            "description": "Stands bold in front of the message.",
        },
    },
    "required": ["message"],
    "additionalProperties": False,
}


def prepare(arguments: dict[str, Any], workspace: Workspace) -> Prepared:
    """Checked arguments with exactly one target: a user, or a channel of a platform (T-43)."""
    checked = schema.validated(arguments, _PARAMETERS)
    if not checked["message"].strip():
        raise BadArguments("message must not be empty")
    wakes.check_storable(checked, *checked)
    return Prepared(checked, Preview(f"notify {_target(checked)}", "text", checked["message"]))


async def run(prepared: Prepared, context: CallContext) -> Result:
    """Put it into the outbox; the sixth of a turn is refused where that is decided (T-43)."""
    return Result(
        f"{_target(prepared.arguments)} is being told; the workstream shows what became of it",
        command=RequestNotification(
            delivery_id=f"dl_{context.call_id.removeprefix('call_')}", **prepared.arguments
        ),
    )


def _target(checked: dict[str, Any]) -> str:
    direct = [name for name in ("channel_type", "channel_id") if name in checked]
    if "username" in checked:
        if direct:
            raise BadArguments(f"username goes without {' and '.join(direct)}; give one target")
        return str(checked["username"])
    if len(direct) == 2:
        return f"{checked['channel_type']} {checked['channel_id']}"
    if direct:
        missing = "channel_id" if direct == ["channel_type"] else "channel_type"
        raise BadArguments(f"{missing} is required beside {direct[0]}")
    raise BadArguments("a target is required: username, or channel_type with channel_id")


TOOL = Tool(
    name="notify",
    description=(
        "Tell a person outside this conversation, at once: a user on all their linked channels, or "
        "one channel. At most 5 in a turn. Put no secrets in it."
    ),
    parameters=_PARAMETERS,
    effect="deliver",
    prepare=prepare,
    run=run,
    primary_key="message",
)
