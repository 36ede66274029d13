"""Says a message to whom the agent talks with; a final one ends the turn."""

import json
from typing import Any

from redshank_node.tools.support import schema
from redshank_node.tools.support.files.kept_bytes import asked_digest, kept
from redshank_node.tools.support.refusals import refused
from redshank_node.tools.tool import (
    BadArguments,
    CallContext,
    Prepared,
    Result,
    Tool,
    Workspace,
)
from redshank_shared.domain.artifact_events import AssetPart, TextPart
from redshank_shared.domain.commands import EmitOutput
from redshank_shared.domain.events import Preview

_HERE = "current"
_PARAMETERS: dict[str, Any] = {
    "type": "object",
    "properties": {
        "content": {"type": "string", "minLength": 1, "description": "The message, in Markdown."},
        "channel": {
            "type": "string",
            "description": 'Where to: "current" is this conversation, the only one there is here.',
        },
        "final": {
            "type": "boolean",
            "description": "Whether your turn ends with it, as it does where this is left out.",
        },
        "attachments": {
            "type": "array",
            "maxItems": 64,
            "items": {"type": "string", "minLength": 1},
            "description": "Assets to send along, by their asset_id.",
        },
    },
    "required": ["content"],
    "additionalProperties": False,
}


def prepare(arguments: dict[str, Any], _: Workspace) -> Prepared:
    """A message with its attachments; BadArguments for one without a word, or to another channel
    (C-9, C-47).
    """
    checked = schema.validated(arguments, _PARAMETERS)
    content = checked["content"]
    if not content.strip():
        raise BadArguments("content: it is blank; say something, or end with no_response")
    channel = checked.get("channel", _HERE)
    if channel != _HERE:
        raise BadArguments(
            f"channel: there is no way from here to {channel[:100]!r}; leave it out to answer here"
        )
    digests = [
        asked_digest(text, f"attachments[{index}]")
        for index, text in enumerate(checked.get("attachments", ()))
    ]
    first = content.strip().splitlines()[0][:100]
    made = {"content": content, "final": checked.get("final", True), "attachments": digests}
    return Prepared(made, Preview(f"say {first!r}"))


async def run(prepared: Prepared, context: CallContext) -> Result:
    """What was said, as `output.emitted` records it."""
    asked = prepared.arguments
    parts: list[TextPart | AssetPart] = [TextPart(asked["content"])]
    if asked["attachments"] and context.artifacts is None:
        return refused("nothing can be attached here; say it in words")
    try:
        for index, digest in enumerate(asked["attachments"]):
            assert context.artifacts is not None
            found = await kept(context.artifacts, digest, f"attachments[{index}]")
            parts.append(AssetPart(found.digest, found.media_type, len(found.body)))
    except BadArguments as wrong:
        return refused(str(wrong))
    said = {"sent": True, "final": asked["final"]}
    command = EmitOutput(context.call_id, tuple(parts), final=asked["final"])
    return Result(json.dumps(said), command=command)


TOOL = Tool(
    name="respond",
    description=(
        "Say something to the person you talk with. Your turn ends with it; "
        "with final false you go on after it."
    ),
    parameters=_PARAMETERS,
    effect="deliver",
    prepare=prepare,
    run=run,
    primary_key="content",
    plan=True,
    top_level=True,
)
