"""Delivers text with kept assets, in order."""

import json
from typing import Any

from redshank_node.tools.support import schema
from redshank_node.tools.support.files.kept_bytes import asked_digest, kept
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
from redshank_shared.domain.artifact_events import AssetPart, TextPart
from redshank_shared.domain.commands import EmitOutput
from redshank_shared.domain.events import Preview

_MOST_PARTS = 64
_PART: dict[str, Any] = {
    "type": "object",
    "properties": {
        "type": {"type": "string", "enum": ["text", "asset"], "description": "What it is."},
        "text": {"type": "string", "description": "Of a text: Markdown."},
        "asset_id": {"type": "string", "description": "Of an asset: its id."},
    },
    "required": ["type"],
    "additionalProperties": False,
}
_PARAMETERS: dict[str, Any] = {
    "type": "object",
    "properties": {
        "content": {"type": "string", "description": "Text that comes first."},
        "parts": {
            "type": "array",
            "maxItems": _MOST_PARTS,
            "items": _PART,
            "description": "Texts and assets in the order in which they are read.",
        },
        "artifact_ids": {
            "type": "array",
            "maxItems": _MOST_PARTS,
            "items": {"type": "string", "minLength": 1},
            "description": "Assets that come last, by their asset_id.",
        },
        "include_artifacts_inline": {
            "type": "boolean",
            "description": "Show the assets where they stand. Left out, they come as files.",
        },
    },
    "additionalProperties": False,
}


def prepare(arguments: dict[str, Any], _: Workspace) -> Prepared:
    """Something to deliver; BadArguments where content, parts, artifacts are all empty (K-14)."""
    checked = schema.validated(arguments, _PARAMETERS)
    parts = _parts(checked)
    if not any(part["type"] == "asset" or part["text"].strip() for part in parts):
        raise BadArguments(
            "content: it is empty, and so are parts and artifact_ids; give at least one of them"
        )
    count = sum(part["type"] == "asset" for part in parts)
    first = next((part["text"].strip() for part in parts if part["type"] == "text"), "")
    title = f"deliver {first.splitlines()[0][:100]!r}" if first else "deliver"
    return Prepared(
        {"parts": parts, "inline": checked.get("include_artifacts_inline", False)},
        Preview(f"{title} with {count} asset(s)" if count else title),
    )


async def run(prepared: Prepared, context: CallContext) -> Result:
    """What is delivered, as `output.emitted` records it (K-14)."""
    if context.artifacts is None:
        return refused("nothing can be delivered here; answer in words")
    try:
        parts = [await _made(part, context.artifacts) for part in prepared.arguments["parts"]]
    except BadArguments as wrong:
        return refused(str(wrong))
    ids = [part.asset_id for part in parts if isinstance(part, AssetPart)]
    said = {"delivered": True, "parts": len(parts), "asset_ids": ids}
    command = EmitOutput(context.call_id, tuple(parts), prepared.arguments["inline"])
    return Result(json.dumps(said), command=command)


def _parts(checked: dict[str, Any]) -> list[dict[str, str]]:
    parts = [{"type": "text", "text": checked["content"]}] if checked.get("content") else []
    for index, part in enumerate(checked.get("parts", ())):
        where = f"parts[{index}]"
        needed, other = ("text", "asset_id") if part["type"] == "text" else ("asset_id", "text")
        if needed not in part or other in part:
            raise BadArguments(
                f"{where}: a part of type {part['type']} has {needed}, and no {other}"
            )
        if needed == "asset_id":
            part = {**part, "asset_id": asked_digest(part["asset_id"], f"{where}.asset_id")}
        parts.append({**part, "where": f"{where}.{needed}"})
    for index, text in enumerate(checked.get("artifact_ids", ())):
        where = f"artifact_ids[{index}]"
        parts.append({"type": "asset", "asset_id": asked_digest(text, where), "where": where})
    return parts


async def _made(part: dict[str, str], artifacts: Artifacts) -> TextPart | AssetPart:
    if part["type"] == "text":
        return TextPart(part["text"])
    found = await kept(artifacts, part["asset_id"], part["where"])
    return AssetPart(found.digest, found.media_type, len(found.body))


TOOL = Tool(
    name="emit_output",
    description=(
        "Deliver a result to the user: text, kept assets, or both in order. "
        "Give content, parts or artifact_ids; an asset_id comes from store_asset or a media tool."
    ),
    parameters=_PARAMETERS,
    effect="deliver",
    prepare=prepare,
    run=run,
    primary_key="content",
    plan=True,
)
