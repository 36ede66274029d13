"""Compares a file with another file or with a text."""

import asyncio
import contextlib
from collections.abc import Iterator
from typing import Any

from redshank_node.tools.support import schema, truncate
from redshank_node.tools.support.edits.change import Found, file_at
from redshank_node.tools.support.files import paths, textfiles
from redshank_node.tools.support.files.diffs import hunks_of, told
from redshank_node.tools.support.refusals import refused
from redshank_node.tools.tool import BadArguments, CallContext, Prepared, Result, Tool, Workspace
from redshank_shared.domain.events import Preview
from redshank_shared.domain.seen_files import SeenFile

_USUAL_CONTEXT = 3
_PARAMETERS: dict[str, Any] = {
    "type": "object",
    "properties": {
        "path": {
            "type": "string",
            "minLength": 1,
            "description": "File to compare, relative to the workspace: the old side.",
        },
        "other_path": {
            "type": "string",
            "minLength": 1,
            "description": "File to compare it with: the new side. Or give a text.",
        },
        "content": {
            "type": "string",
            "description": "Text to compare it with: the new side. Or give other_path.",
        },
        "context_lines": {
            "type": "integer",
            "minimum": 0,
            "maximum": 20,
            "description": f"Unchanged lines to show around changes. Default {_USUAL_CONTEXT}.",
        },
    },
    "required": ["path"],
    "additionalProperties": False,
}
_NOTICE_BYTES = 200
_NO_NUL = "holds NUL characters, so it is no text to compare"


def prepare(arguments: dict[str, Any], workspace: Workspace) -> Prepared:
    """Checked arguments. Files that are not there yet are no error here, an earlier call may make
    them.
    """
    checked = schema.validated(arguments, _PARAMETERS)
    if ("other_path" in checked) == ("content" in checked):
        raise BadArguments("content: give this or other_path to compare with, one of the two")
    if "\x00" in checked.get("content", ""):
        raise BadArguments(f"content {_NO_NUL}")
    for key in ("path", "other_path"):
        if key in checked:
            with _about(key):
                paths.check_beneath(workspace.ground, checked[key])
    against = checked.get("other_path", "a text")
    return Prepared(checked, Preview(f"{checked['path']} against {against}"))


async def run(prepared: Prepared, context: CallContext) -> Result:
    """The unified diff; one larger than the output may be stops there, with a notice (T-26). What
    was compared counts as read (T-25).
    """
    try:
        return await asyncio.to_thread(
            _compared, prepared.arguments, context.workspace, context.max_output_bytes
        )
    except BadArguments as wrong:
        return refused(str(wrong))


def _compared(arguments: dict[str, Any], workspace: Workspace, max_bytes: int) -> Result:
    path, other = arguments["path"], arguments.get("other_path")
    found = [file_at(workspace, path)]
    before = _text(path, found[0])
    if other is None:
        after = arguments["content"]
    else:
        with _about("other_path"):
            found.append(file_at(workspace, other))
            after = _text(other, found[1])
    seen = tuple(SeenFile(file.path, file.sha256) for file in found)
    hunks = hunks_of(before, after, arguments.get("context_lines", _USUAL_CONTEXT))
    if not hunks:
        return Result("[no difference]", seen=seen)
    difference = told(hunks, path, len(hunks))
    body = "\n".join([f"--- {path}", f"+++ {other or 'content'}", *hunks])
    shown = truncate.head_of(body, max_bytes - _NOTICE_BYTES)
    if len(shown) == len(body):
        return Result(body, seen=seen)
    return Result(
        f"{shown}\n[cut here; in all {difference.added} line(s) are added, {difference.removed} "
        "removed: compare smaller parts, or ask for fewer context_lines]",
        truncated=True,
        seen=seen,
    )


@contextlib.contextmanager
def _about(argument: str) -> Iterator[None]:
    """What is refused of a file is said of the argument that names it."""
    try:
        yield
    except BadArguments as wrong:
        raise BadArguments(f"{argument}:{str(wrong).removeprefix('path:')}") from wrong


def _text(path: str, found: Found) -> str:
    if b"\x00" in found.data and not found.data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise BadArguments(f"path: {path!r} {_NO_NUL}")
    try:
        return textfiles.decoded(found.data).text
    except textfiles.NotText as other:
        raise BadArguments(f"path: {path!r} is no text but a {other.kind}") from None


TOOL = Tool(
    name="diff_file",
    description=(
        "Compare a file of the workspace with another file or with a text, as a unified diff. "
        "Counts as reading it."
    ),
    parameters=_PARAMETERS,
    effect="read",
    prepare=prepare,
    run=run,
    cwd_note="A relative path starts at {working_dir}.",
    primary_key="path",
    parallel=True,
    plan=True,
)
