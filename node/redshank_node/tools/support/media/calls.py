"""What the media tools share: which model is asked, what becomes of what it makes."""

import json
from collections.abc import Sequence
from typing import Any

from redshank_node.tools.support.media.client import Media
from redshank_node.tools.tool import (
    Artifacts,
    Availability,
    BadArguments,
    CallContext,
    MediaRoute,
    Result,
    Workspace,
)
from redshank_shared.domain.artifact_events import StoredAsset
from redshank_shared.domain.commands import StoreAssets

SECONDS = 175.0
PROVIDER: dict[str, Any] = {
    "type": "string",
    "description": "The configured model to ask, by its name here. Left out, the first that can.",
}
SIZE: dict[str, Any] = {
    "type": "string",
    "maxLength": 20,
    "description": "Width x height in pixels, as in 1024x1024. Left out, the model's own.",
}
COUNT: dict[str, Any] = {
    "type": "integer",
    "minimum": 1,
    "maximum": 4,
    "description": "How many images. Default 1.",
}


def route_for(workspace: Workspace, can: Availability, provider: str) -> MediaRoute:
    """The route of this name, the first that can where none is named; BadArguments names those
    that can (K-17).
    """
    able = [route for route in workspace.web.media if can in route.can]
    for route in able:
        if provider in ("", route.name):
            return route
    known = ", ".join(route.name for route in able) or "none, until the operator configures one"
    raise BadArguments(f"provider: {provider!r} is no configured model for this; there are {known}")


def image_fields(arguments: dict[str, Any]) -> dict[str, str | int]:
    """The fields of a request for images that its call gives."""
    given = {"prompt": arguments["prompt"], "n": arguments.get("n", 1)}
    return {**given, **{key: arguments[key] for key in ("size", "quality") if key in arguments}}


async def stored(
    tool: str,
    route: MediaRoute,
    made: Sequence[Media],
    context: CallContext,
    artifacts: Artifacts,
) -> Result:
    """The assets of what was made; `provider` is the technical backend here (K-16, K-17)."""
    assets = []
    for number, media in enumerate(made, 1):
        kept = await artifacts.keep(media.body, media.media_type)
        name = f"{tool}-{number}.{media.media_type.partition('/')[2]}"
        assets.append(StoredAsset(kept.digest, media.media_type, len(kept.body), name))
    said = {
        "provider": route.backend,
        "model": route.model,
        "assets": [
            {"asset_id": each.digest, "media_type": each.media_type, "size": each.size}
            for each in assets
        ],
    }
    return Result(json.dumps(said), command=StoreAssets(context.call_id, tool, tuple(assets)))
