"""Makes speech from text."""

from typing import Any

from redshank_node.tools.support import schema
from redshank_node.tools.support.media import calls
from redshank_node.tools.support.media.client import MediaFailed, speak
from redshank_node.tools.support.refusals import refused
from redshank_node.tools.tool import CallContext, Prepared, Result, Tool, Workspace
from redshank_shared.domain.events import Preview

_TYPES = {
    "mp3": "audio/mpeg",
    "wav": "audio/wav",
    "opus": "audio/ogg",
    "flac": "audio/flac",
    "aac": "audio/aac",
}
_PARAMETERS: dict[str, Any] = {
    "type": "object",
    "properties": {
        "text": {
            "type": "string",
            "minLength": 1,
            "maxLength": 4096,
            "description": "What is said.",
        },
        "voice": {
            "type": "string",
            "minLength": 1,
            "maxLength": 100,
            "description": "A voice that the model knows. Default alloy.",
        },
        "format": {
            "type": "string",
            "enum": list(_TYPES),
            "description": "Default mp3.",
        },
        "speed": {
            "type": "number",
            "minimum": 0.25,
            "maximum": 4,
            "description": "1 is as usual.",
        },
        "provider": calls.PROVIDER,
    },
    "required": ["text"],
    "additionalProperties": False,
}


def prepare(arguments: dict[str, Any], workspace: Workspace) -> Prepared:
    """A text for a configured model that speaks (K-16, K-17)."""
    checked = schema.validated(arguments, _PARAMETERS)
    route = calls.route_for(workspace, TOOL.availability, checked.get("provider", ""))
    checked["provider"] = route.name
    return Prepared(checked, Preview(f"speech from {route.name}", "text", checked["text"]))


async def run(prepared: Prepared, context: CallContext) -> Result:
    """The speech as an asset."""
    arguments = prepared.arguments
    if context.artifacts is None:
        return refused("nothing can be kept here")
    route = calls.route_for(context.workspace, TOOL.availability, arguments["provider"])
    form = arguments.get("format", "mp3")
    fields = {
        "input": arguments["text"],
        "voice": arguments.get("voice", "alloy"),
        "response_format": form,
        **({"speed": arguments["speed"]} if "speed" in arguments else {}),
    }
    seconds = min(context.max_seconds, route.timeout_seconds)
    try:
        made = await speak(route, seconds, fields, _TYPES[form])
    except MediaFailed as failed:
        return refused(f"no sound was made: {failed}")
    return await calls.stored(TOOL.name, route, [made], context, context.artifacts)


TOOL = Tool(
    name="generate_audio",
    description=("Make speech from a text. It is kept as an asset: hand it over with emit_output."),
    parameters=_PARAMETERS,
    effect="network",
    prepare=prepare,
    run=run,
    primary_key="text",
    timeout_seconds=calls.SECONDS,
    availability="audio_generation",
    top_level=True,
    task_agent=False,
)
