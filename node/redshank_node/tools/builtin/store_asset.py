"""Keeps a file of the workspace as an asset."""

import asyncio
import json
import mimetypes
import re
from typing import Any

from redshank_node.tools.support import schema
from redshank_node.tools.support.files import paths
from redshank_node.tools.support.files.workspace_bytes import bytes_of
from redshank_node.tools.support.previews.kinds import MEGABYTE
from redshank_node.tools.support.refusals import refused
from redshank_node.tools.tool import (
    BadArguments,
    CallContext,
    Prepared,
    Result,
    Tool,
    Workspace,
)
from redshank_shared.domain.artifact_events import StoredAsset
from redshank_shared.domain.commands import StoreAssets
from redshank_shared.domain.events import Preview

MOST_BYTES = 32 * MEGABYTE
_MEDIA_TYPE = re.compile(r"[a-z]+/[A-Za-z0-9.+-]+")
_UNKNOWN = "application/octet-stream"
_PACKINGS = {
    "gzip": "application/gzip",
    "bzip2": "application/x-bzip2",
    "xz": "application/x-xz",
    "compress": "application/x-compress",
    "br": "application/x-brotli",
}
_PARAMETERS: dict[str, Any] = {
    "type": "object",
    "properties": {
        "path": {
            "type": "string",
            "minLength": 1,
            "description": "The file to keep, relative to the workspace.",
        },
        "media_type": {
            "type": "string",
            "maxLength": 100,
            "description": "What it is, as in image/png. Left out, its name says.",
        },
    },
    "required": ["path"],
    "additionalProperties": False,
}


def prepare(arguments: dict[str, Any], workspace: Workspace) -> Prepared:
    """A path within the workspace; one that leads out is refused (K-15)."""
    checked = schema.validated(arguments, _PARAMETERS)
    paths.check_beneath(workspace.ground, checked["path"])
    if "media_type" in checked and not _MEDIA_TYPE.fullmatch(checked["media_type"]):
        raise BadArguments("media_type must be a type and a subtype, as in image/png")
    return Prepared(checked, Preview(f"keep {checked['path']}"))


async def run(prepared: Prepared, context: CallContext) -> Result:
    """The asset_id of the file's bytes as they are now, at most 32 MiB (K-15)."""
    path: str = prepared.arguments["path"]
    if context.artifacts is None:
        return refused("nothing can be kept here")
    try:
        file = await asyncio.to_thread(bytes_of, context.workspace.ground, path, MOST_BYTES + 1)
    except paths.PathRefused as wrong:
        return refused(str(wrong))
    if len(file.body) > MOST_BYTES:
        return refused(f"path: {path!r} has {file.size} bytes, at most {MOST_BYTES} are kept")
    name = path.rstrip("/").rpartition("/")[2]
    media_type = prepared.arguments.get("media_type") or _guessed(name)
    made = await context.artifacts.keep(file.body, media_type)
    asset = StoredAsset(made.digest, media_type, len(made.body), name)
    said = {"asset_id": made.digest, "media_type": media_type, "size": asset.size, "name": name}
    command = StoreAssets(context.call_id, TOOL.name, (asset,))
    return Result(json.dumps(said, ensure_ascii=False), command=command)


def _guessed(name: str) -> str:
    """What is packed is named after its packing, not after what comes out of it."""
    guessed, packing = mimetypes.guess_type(name)
    if packing is not None:
        return _PACKINGS.get(packing, _UNKNOWN)
    return guessed or _UNKNOWN


TOOL = Tool(
    name="store_asset",
    description=(
        "Keep a file of the workspace as an asset and get its asset_id, for emit_output, "
        "open_preview or edit_image. The asset stays as it is, whatever happens to the file."
    ),
    parameters=_PARAMETERS,
    effect="state",
    prepare=prepare,
    run=run,
    primary_key="path",
    parallel=True,
)
