"""Makes images from words."""

from typing import Any

from redshank_node.tools.support import schema
from redshank_node.tools.support.media import calls
from redshank_node.tools.support.media.client import MediaFailed, generate_images
from redshank_node.tools.support.refusals import refused
from redshank_node.tools.tool import CallContext, Prepared, Result, Tool, Workspace
from redshank_shared.domain.events import Preview

_PARAMETERS: dict[str, Any] = {
    "type": "object",
    "properties": {
        "prompt": {
            "type": "string",
            "minLength": 1,
            "maxLength": 32_000,
            "description": "What the image shows.",
        },
        "provider": calls.PROVIDER,
        "size": calls.SIZE,
        "quality": {
            "type": "string",
            "maxLength": 20,
            "description": "As the model knows it, such as low or high. Left out, its own.",
        },
        "n": calls.COUNT,
    },
    "required": ["prompt"],
    "additionalProperties": False,
}


def prepare(arguments: dict[str, Any], workspace: Workspace) -> Prepared:
    """A prompt for a configured model that makes images (K-16, K-17)."""
    checked = schema.validated(arguments, _PARAMETERS)
    route = calls.route_for(workspace, TOOL.availability, checked.get("provider", ""))
    checked["provider"] = route.name
    return Prepared(checked, Preview(f"image from {route.name}", "text", checked["prompt"]))


async def run(prepared: Prepared, context: CallContext) -> Result:
    """The images as assets."""
    arguments = prepared.arguments
    if context.artifacts is None:
        return refused("nothing can be kept here")
    route = calls.route_for(context.workspace, TOOL.availability, arguments["provider"])
    seconds = min(context.max_seconds, route.timeout_seconds)
    try:
        made = await generate_images(route, seconds, calls.image_fields(arguments))
    except MediaFailed as failed:
        return refused(f"no image was made: {failed}")
    return await calls.stored(TOOL.name, route, made, context, context.artifacts)


TOOL = Tool(
    name="generate_image",
    description=(
        "Make images from a description. They are kept as assets: hand them over with "
        "emit_output, or show one with open_preview."
    ),
    parameters=_PARAMETERS,
    effect="network",
    prepare=prepare,
    run=run,
    primary_key="prompt",
    timeout_seconds=calls.SECONDS,
    availability="image_generation",
    top_level=True,
    task_agent=False,
)
