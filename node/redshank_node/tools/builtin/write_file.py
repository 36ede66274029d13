"""Writes a whole file, or adds to its end."""

import asyncio
import os
from typing import Any

import msgspec

from redshank_node.tools.support import schema, truncate
from redshank_node.tools.support.edits.change import MAX_BYTES
from redshank_node.tools.support.edits.write_frontmatter import with_frontmatter
from redshank_node.tools.support.files import diffs, paths, textfiles, writing
from redshank_node.tools.support.files.file_digests import digest_of, seen_file, still_is
from redshank_node.tools.support.refusals import refused
from redshank_node.tools.tool import BadArguments, CallContext, Prepared, Result, Tool, Workspace
from redshank_shared.domain.events import Preview
from redshank_shared.domain.roots import key_of
from redshank_shared.domain.seen_files import SeenFile

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
        "expected_sha256": {
            "type": "string",
            "minLength": 64,
            "maxLength": 64,
            "description": "Write only if the file has this SHA-256 now, in hexadecimal.",
        },
    },
    "required": ["path", "content"],
    "additionalProperties": False,
}
_OPTIONS: dict[str, Any] = {"keep_frontmatter": {"type": "boolean"}}
_BASE = "_base_sha256"
_KNOWN = "_known"
_PREVIEW_BYTES = 65536
_COMPARED_BYTES = 1 << 20


class _Before(msgspec.Struct, frozen=True):
    """What is there now: the first bytes of it, its digest, its key."""

    path: str
    head: bytes
    digest: str
    as_seen: bool


def prepare(arguments: dict[str, Any], workspace: Workspace) -> Prepared:
    """Checked arguments, with the difference to what is there now.

    A file that changed since this workstream read it is refused (F33), one that is not the
    expected one too (K10).
    """
    checked = schema.validated(arguments, _PARAMETERS)
    try:
        checked["content"].encode()
    except UnicodeEncodeError:
        raise BadArguments("content holds half a character; send whole characters") from None
    paths.check_writable(workspace.ground, checked["path"])
    before = _before(workspace, checked["path"])
    expected = checked.get("expected_sha256", "").lower()
    if expected and (before is None or before.digest != expected):
        raise BadArguments(
            f"expected_sha256: {checked['path']!r} "
            f"{'does not exist' if before is None else f'has {before.digest} now'}; read it again"
        )
    if before is not None and not before.as_seen:
        raise BadArguments(
            f"path: {checked['path']!r} changed on disk since it was last read here; read it "
            "again, then decide what to write"
        )
    if workspace.options.get("keep_frontmatter", False) and not checked.get("append", False):
        path = _key(workspace, checked["path"])
        checked["content"] = with_frontmatter(path, _text_of(before), checked["content"])
    if not checked.get("append", False) or expected:
        # What a person saw replaced must be what is replaced, also when they answer much later.
        checked[_BASE] = writing.NONE if before is None else before.digest
    # What was added to a file that nobody read here is not read by that.
    checked[_KNOWN] = before is None or before.path in workspace.seen
    return Prepared(checked, _preview(checked, before))


def _before(workspace: Workspace, path: str) -> _Before | None:
    try:
        with paths.located(workspace.ground, path) as place:
            if place.info is None:
                return None
            place.regular()
            descriptor, key = place.open(os.O_RDONLY), place.key
    except paths.PathRefused as missing:
        if missing.kind != "missing":
            raise
        return None
    try:
        info = os.fstat(descriptor)
        data = writing.read_bytes(descriptor, MAX_BYTES + 1)
        digest = seen_file(key, descriptor).digest if len(data) > MAX_BYTES else digest_of(data)
    finally:
        os.close(descriptor)
    known = workspace.seen.get(key)
    as_seen = known is None or still_is(known, digest, info)
    return _Before(key, data[: _COMPARED_BYTES + 1], digest, as_seen)


def _key(workspace: Workspace, path: str) -> str:
    try:
        with paths.located(workspace.ground, path) as place:
            return place.key
    except paths.PathRefused as missing:
        if missing.kind != "missing":
            raise
        return key_of(workspace.ground, path)


def _text_of(before: _Before | None) -> str:
    try:
        return textfiles.decoded(before.head).text if before is not None else ""
    except textfiles.NotText:
        return ""


def _preview(checked: dict[str, Any], before: _Before | None) -> Preview:
    path, content = checked["path"], checked["content"]
    lines = content.count("\n") + (not content.endswith("\n") and content != "")
    body = truncate.head_of(content, _PREVIEW_BYTES)
    if before is None:
        return Preview(f"{path}, new file", "text", body, added=lines)
    if checked.get("append", False):
        return Preview(f"{path}, at its end", "text", body, added=lines)
    try:
        if len(before.head) > _COMPARED_BYTES:
            raise textfiles.NotText("large file")
        text = textfiles.decoded(before.head).text
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
    except BadArguments as wrong:
        return refused(str(wrong))


def _written(arguments: dict[str, Any], workspace: Workspace) -> Result:
    path, content = arguments["path"], arguments["content"]
    base = arguments.get(_BASE)
    data = content.encode()
    if arguments.get("append", False):
        new = writing.append_file(
            workspace.ground, path, lambda head: _addition(content, head), base
        )
        done = "made" if new else "extended"
    else:
        # One too large to be hashed while it was prepared is replaced as it is.
        expected = None if base is not None and base.startswith("stat:") else base
        new = writing.replace_file(workspace.ground, path, data, expected)
        done = "made" if new else "replaced"
    said = f"{path} {done}: {len(data)} bytes written"
    known = arguments[_KNOWN] or not arguments.get("append", False)
    return Result(said, seen=_seen(workspace, path) if known else ())


def _seen(workspace: Workspace, path: str) -> tuple[SeenFile, ...]:
    """The file as it is now; nothing where it is gone again."""
    try:
        with paths.located(workspace.ground, path) as place:
            descriptor, key = place.open(os.O_RDONLY), place.key
    except paths.PathRefused:
        return ()
    try:
        return (seen_file(key, descriptor),)
    finally:
        os.close(descriptor)


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
    cwd_note="A relative path starts at {working_dir}.",
    workspace_note="Keep what you make in the workspace {workspace_dir}.",
    primary_key="content",
    aliases=("write",),
    options=_OPTIONS,
)
