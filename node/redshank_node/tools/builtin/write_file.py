"""Writes a whole file, or adds to its end."""

import asyncio
import os
from typing import Any

from redshank_node.tools.support import diffs, paths, schema, textfiles, truncate, writing
from redshank_node.tools.tool import BadArguments, CallContext, Prepared, Result, Tool, Workspace
from redshank_shared.domain.events import Preview

_PARAMETERS: dict[str, Any] = {
    "type": "object",
    "properties": {
        "path": {
            "type": "string",
            "minLength": 1,
            "description": "File to write, relative to the workspace. Missing folders are made.",
        },
        "content": {"type": "string", "description": "The text to write."},
        "append": {
            "type": "boolean",
            "description": "Add to the end of the file instead of replacing it. Default false.",
        },
    },
    "required": ["path", "content"],
    "additionalProperties": False,
}
_BASE = "_base_sha256"
_PREVIEW_BYTES = 65536
_COMPARED_BYTES = 1 << 20


def prepare(arguments: dict[str, Any], workspace: Workspace) -> Prepared:
    """Checked arguments, with the difference to what is there now."""
    checked = schema.validated(arguments, _PARAMETERS)
    try:
        checked["content"].encode()
    except UnicodeEncodeError:
        raise BadArguments("content holds half a character; send whole characters") from None
    try:
        before = _before(workspace, checked["path"])
    except paths.PathRefused as refused:
        if refused.kind != "missing":
            raise
        before = None
    if not checked.get("append", False):
        # What a person saw replaced must be what is replaced, also when they answer much later.
        checked[_BASE] = "none" if before is None else writing.digest_of(before)
    return Prepared(checked, _preview(checked, before))


def _before(workspace: Workspace, path: str) -> bytes | None:
    with paths.located(workspace.root, path) as place:
        if place.info is None:
            return None
        place.regular()
        descriptor = place.open(os.O_RDONLY)
    try:
        return writing.read_bytes(descriptor, _COMPARED_BYTES + 1)
    finally:
        os.close(descriptor)


def _preview(checked: dict[str, Any], before: bytes | None) -> Preview:
    path, content = checked["path"], checked["content"]
    lines = content.count("\n") + (not content.endswith("\n") and content != "")
    body = truncate.head_of(content, _PREVIEW_BYTES)
    if before is None:
        return Preview(f"{path}, new file", "text", body, added=lines)
    if checked.get("append", False):
        return Preview(f"{path}, at its end", "text", body, added=lines)
    try:
        if len(before) > _COMPARED_BYTES:
            raise textfiles.NotText("large file")
        text = textfiles.decoded(before).text
    except textfiles.NotText as other:
        note = f"[replaces a {other.kind}]\n"
        return Preview(path, "text", note + body, added=lines)
    change = diffs.difference(text, content, path)
    shown = truncate.head_of(change.body, _PREVIEW_BYTES)
    return Preview(path, "diff", shown, change.added, change.removed)


async def run(prepared: Prepared, context: CallContext) -> Result:
    """Write atomically; appended text gets the file's encoding and line ends (T-24, F33)."""
    try:
        # Not stopped half way: a write that has begun ends in a moment, whole.
        return await asyncio.to_thread(_written, prepared.arguments, context.workspace)
    except BadArguments as refused:
        return Result(str(refused), is_error=True, outcome="error")


def _written(arguments: dict[str, Any], workspace: Workspace) -> Result:
    path, content = arguments["path"], arguments["content"]
    if arguments.get("append", False):
        new = writing.append_file(workspace.root, path, lambda head: _addition(content, head))
        done = "made" if new else "extended"
    else:
        new = writing.replace_file(workspace.root, path, content.encode())
        done = "made" if new else "replaced"
    return Result(f"{path} {done}: {len(content.encode())} bytes written")


def _addition(content: str, head: bytes) -> bytes:
    if not head:
        return content.encode()
    try:
        encoding = textfiles.sniffed(head, whole=False)
        text = head[len(encoding.bom) :].decode(encoding.codec, errors="replace")
        addition = textfiles.with_newlines(content, textfiles.newline_of(text))
        return addition.encode(encoding.codec)
    except textfiles.NotText as other:
        raise BadArguments(
            f"path: the file is a {other.kind}; text cannot be added to it"
        ) from None
    except UnicodeEncodeError as error:
        raise BadArguments(
            f"content: {error.object[error.start]!r} cannot be written in the file's encoding, "
            f"{encoding.name}; leave it out or replace the whole file"
        ) from None


TOOL = Tool(
    name="write_file",
    description=(
        "Write a file of the workspace, replacing what is there, or add to its end with append. "
        "To change a part of a file use edit_file."
    ),
    parameters=_PARAMETERS,
    effect="write",
    prepare=prepare,
    run=run,
    primary_key="content",
    aliases=("write",),
)
