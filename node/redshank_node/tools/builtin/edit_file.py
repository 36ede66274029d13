"""Replaces exact pieces of a text file."""

import asyncio
import os
from typing import Any

import msgspec

from redshank_node.tools.support import diffs, matching, paths, schema, textfiles, truncate, writing
from redshank_node.tools.tool import BadArguments, CallContext, Prepared, Result, Tool, Workspace
from redshank_shared.domain.events import Preview

_OLD = {"type": "string", "description": "The exact text to replace, with its blanks."}
_NEW = {"type": "string", "description": "The text to put in its place."}
_NEAR = {
    "type": "integer",
    "minimum": 1,
    "description": "Where old_string is in several places: take the one nearest to this line.",
}
_PARAMETERS: dict[str, Any] = {
    "type": "object",
    "properties": {
        "path": {
            "type": "string",
            "minLength": 1,
            "description": "File to edit, relative to the workspace.",
        },
        "old_string": _OLD,
        "new_string": _NEW,
        "near_line": _NEAR,
        "replace_all": {
            "type": "boolean",
            "description": "Replace old_string everywhere. Default false.",
        },
        "edits": {
            "type": "array",
            "minItems": 1,
            "maxItems": 200,
            "description": "Several replacements, all or none, instead of old_string.",
            "items": {
                "type": "object",
                "properties": {"old_string": _OLD, "new_string": _NEW, "near_line": _NEAR},
                "required": ["old_string", "new_string"],
                "additionalProperties": False,
            },
        },
    },
    "required": ["path"],
    "additionalProperties": False,
}
_BASE = "_base_sha256"
_MAX_BYTES = 8 << 20
_PREVIEW_BYTES = 65536


class _Change(msgspec.Struct, frozen=True):
    """What the edits do to the file as it is now."""

    base_sha256: str
    data: bytes
    lines: tuple[int, ...]
    difference: diffs.Difference


def prepare(arguments: dict[str, Any], workspace: Workspace) -> Prepared:
    """Checked arguments and the whole change as a diff.

    The file's digest goes along, so that run can tell (F33).
    """
    checked = schema.validated(arguments, _PARAMETERS)
    change = _changed(checked, workspace)
    count = len(change.lines)
    path = checked["path"]
    preview = Preview(
        path if count == 1 else f"{path}, {count} places",
        "diff",
        truncate.head_of(change.difference.body, _PREVIEW_BYTES),
        change.difference.added,
        change.difference.removed,
    )
    return Prepared({**checked, _BASE: change.base_sha256}, preview)


async def run(prepared: Prepared, context: CallContext) -> Result:
    """Apply all edits or none.

    Refuses where the file is not the one that was prepared for (T-25, F16, F33).
    """
    try:
        # Not stopped half way: a write that has begun ends in a moment, whole.
        return await asyncio.to_thread(_edited, prepared.arguments, context.workspace)
    except BadArguments as refused:
        return Result(str(refused), is_error=True, outcome="error")


def _edited(arguments: dict[str, Any], workspace: Workspace) -> Result:
    path, base = arguments["path"], arguments[_BASE]
    data, _ = _read(path, workspace)
    if writing.digest_of(data) != base:
        raise BadArguments(
            f"path: {path!r} changed since this edit was shown; read it again, send the edit anew"
        )
    change = _changed(arguments, workspace)
    writing.replace_file(workspace.root, path, change.data, base)
    lines = ", ".join(map(str, change.lines[:20])) + (", ..." if len(change.lines) > 20 else "")
    return Result(
        f"{path} edited at line {lines}: "
        f"{change.difference.added} line(s) added, {change.difference.removed} removed"
    )


def _changed(arguments: dict[str, Any], workspace: Workspace) -> _Change:
    edits = _edits(arguments)
    path = arguments["path"]
    data, file = _read(path, workspace)
    spans = matching.located_edits(file.text, edits)
    after = matching.replaced(file.text, spans)
    try:
        encoded = textfiles.encoded(after, file.encoding)
    except UnicodeEncodeError as error:
        raise BadArguments(
            f"new_string: {error.object[error.start]!r} cannot be written in the file's encoding, "
            f"{file.encoding.name}; leave it out or write the whole file anew"
        ) from None
    lines = tuple(file.text.count("\n", 0, span.start) + 1 for span in spans)
    change = diffs.difference(file.text, after, path)
    return _Change(writing.digest_of(data), encoded, lines, change)


def _edits(arguments: dict[str, Any]) -> tuple[matching.Edit, ...]:
    single = [
        key for key in ("old_string", "new_string", "near_line", "replace_all") if key in arguments
    ]
    if "edits" in arguments:
        if single:
            raise BadArguments(
                f"{single[0]} cannot stand beside edits; put it into one of the edits"
            )
        return tuple(
            matching.Edit(
                f"edits[{place}].old_string",
                edit["old_string"],
                edit["new_string"],
                edit.get("near_line"),
            )
            for place, edit in enumerate(arguments["edits"])
        )
    for key in ("old_string", "new_string"):
        if key not in arguments:
            raise BadArguments(f"{key} is required, or edits in place of it")
    everywhere = arguments.get("replace_all", False)
    near = arguments.get("near_line")
    if everywhere and near is not None:
        raise BadArguments("near_line cannot stand beside replace_all; leave one of them out")
    return (
        matching.Edit(
            "old_string", arguments["old_string"], arguments["new_string"], near, everywhere
        ),
    )


def _read(path: str, workspace: Workspace) -> tuple[bytes, textfiles.TextFile]:
    descriptor = paths.open_file(workspace.root, path)
    try:
        data = writing.read_bytes(descriptor, _MAX_BYTES + 1)
    finally:
        os.close(descriptor)
    if len(data) > _MAX_BYTES:
        raise BadArguments(f"path: {path!r} is over {_MAX_BYTES} bytes; edit it with a command")
    try:
        return data, textfiles.decoded(data)
    except textfiles.NotText as other:
        raise BadArguments(
            f"path: {path!r} is no text but a {other.kind}; it cannot be edited"
        ) from None


TOOL = Tool(
    name="edit_file",
    description=(
        "Replace exact text in a file of the workspace. old_string must be in the file once, "
        "or give near_line or replace_all. edits makes several replacements, all or none."
    ),
    parameters=_PARAMETERS,
    effect="write",
    prepare=prepare,
    run=run,
    primary_key="old_string",
    aliases=("edit",),
)
