"""Changes kept images as words say."""

from typing import Any

from redshank_node.tools.support import schema
from redshank_node.tools.support.files.kept_bytes import asked_digest, kept
from redshank_node.tools.support.media import calls
from redshank_node.tools.support.media.client import Media, MediaFailed, edit_images
from redshank_node.tools.support.refusals import refused
from redshank_node.tools.tool import (
    Artifacts,
    BadArguments,
    CallContext,
    Prepared,
    Result,
    Tool,
    Workspace,
)
from redshank_shared.domain.events import Preview

_MOST_IMAGES = 8
_PARAMETERS: dict[str, Any] = {
    "type": "object",
    "properties": {
        "prompt": {
            "type": "string",
            "minLength": 1,
            "maxLength": 32_000,
            "description": "What is to change.",
        },
        "asset_ids": {
            "type": "array",
            "minItems": 1,
            "maxItems": _MOST_IMAGES,
            "items": {"type": "string", "minLength": 1},
            "description": "The images to change, by their asset_id; store_asset keeps a file.",
        },
        "mask_asset_id": {
            "type": "string",
            "description": "A PNG whose transparent parts say where the first image may change.",
        },
        "provider": calls.PROVIDER,
        "size": calls.SIZE,
        "n": calls.COUNT,
    },
    "required": ["prompt", "asset_ids"],
    "additionalProperties": False,
}


def prepare(arguments: dict[str, Any], workspace: Workspace) -> Prepared:
    """An instruction about kept images for a configured model that edits them (K-16, K-17)."""
    checked = schema.validated(arguments, _PARAMETERS)
    for index, text in enumerate(checked["asset_ids"]):
        asked_digest(text, f"asset_ids[{index}]")
    if "mask_asset_id" in checked:
        asked_digest(checked["mask_asset_id"], "mask_asset_id")
    route = calls.route_for(workspace, TOOL.availability, checked.get("provider", ""))
    checked["provider"] = route.name
    title = f"{len(checked['asset_ids'])} image(s) to {route.name}"
    return Prepared(checked, Preview(title, "text", checked["prompt"]))


async def run(prepared: Prepared, context: CallContext) -> Result:
    """The new images as assets; the old ones stay."""
    arguments = prepared.arguments
    if context.artifacts is None:
        return refused("nothing can be kept here")
    route = calls.route_for(context.workspace, TOOL.availability, arguments["provider"])
    seconds = min(context.max_seconds, route.timeout_seconds)
    try:
        images = [
            await _image(context.artifacts, text, f"asset_ids[{index}]")
            for index, text in enumerate(arguments["asset_ids"])
        ]
        mask_id = arguments.get("mask_asset_id")
        mask = await _image(context.artifacts, mask_id, "mask_asset_id") if mask_id else None
        fields = calls.image_fields(arguments)
        made = await edit_images(route, seconds, fields, images, mask)
    except BadArguments as wrong:
        return refused(str(wrong))
    except MediaFailed as failed:
        return refused(f"no image was made: {failed}")
    return await calls.stored(TOOL.name, route, made, context, context.artifacts)


async def _image(artifacts: Artifacts, text: str, argument: str) -> Media:
    found = await kept(artifacts, text, argument)
    if not found.media_type.startswith("image/"):
        raise BadArguments(f"{argument}: it is {found.media_type}; name an image")
    return Media(found.media_type, found.body)


TOOL = Tool(
    name="edit_image",
    description=(
        "Change kept images by an instruction. The results are new assets; the given ones stay."
    ),
    parameters=_PARAMETERS,
    effect="network",
    prepare=prepare,
    run=run,
    primary_key="prompt",
    timeout_seconds=calls.SECONDS,
    availability="image_edit",
    top_level=True,
    task_agent=False,
)
