"""Replaces pieces of a text file."""

import asyncio
import functools
from collections.abc import Mapping
from typing import Any

from redshank_node.tools.support import schema, truncate
from redshank_node.tools.support.edits import report as edit_report
from redshank_node.tools.support.edits.arguments import edits_of
from redshank_node.tools.support.edits.change import (
    MAX_BYTES,
    EditChange,
    Found,
    change_of,
    check_as_seen,
    check_size,
    file_at,
)
from redshank_node.tools.support.edits.previews import DryRun, DryRuns
from redshank_node.tools.support.files import paths, writing
from redshank_node.tools.support.files.file_digests import digest_of
from redshank_node.tools.support.refusals import refused
from redshank_node.tools.tool import BadArguments, CallContext, Prepared, Result, Tool, Workspace
from redshank_shared.domain.events import Preview
from redshank_shared.domain.seen_files import SeenFile

_OLD = {"type": "string", "description": "The text to replace, copied from the file."}
_NEW = {"type": "string", "description": "The text to put in its place."}
_NEAR_LINE = {
    "type": "integer",
    "minimum": 1,
    "description": "Where old_string is in several places: take the one nearest to this line.",
}
_NEAR = {
    "description": (
        "Look only near this: a text (15 lines around it), {startLine, endLine}, {symbol, and line "
        "or index, direction before or after, radius}, or a list of these that must all hold."
    ),
}
_ALL = {"type": "boolean", "description": "Replace old_string everywhere. Default false."}
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
        "near_line": _NEAR_LINE,
        "near": _NEAR,
        "replace_all": _ALL,
        "edits": {
            "type": "array",
            "minItems": 1,
            "maxItems": 200,
            "description": "Several replacements, all or none, instead of old_string.",
            "items": {
                "type": "object",
                "properties": {
                    "old_string": _OLD,
                    "new_string": _NEW,
                    "near_line": _NEAR_LINE,
                    "near": _NEAR,
                    "replace_all": _ALL,
                },
                "required": ["old_string", "new_string"],
                "additionalProperties": False,
            },
        },
        "dry_run": {
            "type": "boolean",
            "description": "Change nothing: show the diff, with an id for apply. Default false.",
        },
        "apply": {
            "type": "string",
            "minLength": 1,
            "description": "Do what the dry run with this id showed, with path and nothing else.",
        },
    },
    "required": ["path"],
    "additionalProperties": False,
}
_OPTIONS: dict[str, Any] = {
    "matching": {"type": "string", "enum": ["exact", "tolerant"]},
    "needs_read": {"type": "boolean"},
    "refuse_blank": {"type": "boolean"},
    "keep_frontmatter": {"type": "boolean"},
    "report": {"type": "string", "enum": ["text", "json"]},
}
_BASE = "_base_sha256"
_PREVIEW_BYTES = 65536


def prepare(dry_runs: DryRuns, arguments: dict[str, Any], workspace: Workspace) -> Prepared:
    """Checked arguments and the whole change as a diff.

    The file's digest goes along, so that run can tell (F33).
    """
    checked = schema.validated(arguments, _PARAMETERS)
    options, path = workspace.options, checked["path"]
    if "apply" not in checked:
        # What is wrong with the arguments alone is said before the file is looked at.
        edits_of(checked, refuse_blank=options.get("refuse_blank", False))
    paths.check_writable(workspace.ground, path)
    found = file_at(workspace, path)
    wanted: Mapping[str, Any] = checked
    if "apply" in checked:
        wanted = _shown_before(dry_runs, checked, workspace, found)
    else:
        check_as_seen(workspace, path, found, needs_read=options.get("needs_read", False))
    change = change_of(found, wanted, options)
    return Prepared({**checked, _BASE: found.sha256}, _preview(path, checked, change))


def _shown_before(
    dry_runs: DryRuns, checked: Mapping[str, Any], workspace: Workspace, found: Found
) -> Mapping[str, Any]:
    """The arguments of the dry run that is to be applied, if the file is still the one shown."""
    beside = [key for key in checked if key not in ("path", "apply")]
    if beside:
        raise BadArguments(f"{beside[0]} cannot stand beside apply; send path and apply alone")
    dry_run = dry_runs.find(checked["apply"], workspace.workstream_id, found.path)
    if dry_run.sha256 != found.sha256:
        raise BadArguments(
            f"apply: {checked['path']!r} changed since the dry run; read it again, then make "
            "another dry run"
        )
    return dry_run.arguments


def _preview(path: str, checked: Mapping[str, Any], change: EditChange) -> Preview:
    difference = change.difference(path)
    count = len(change.spans)
    title = path if count == 1 else f"{path}, {count} places"
    if checked.get("dry_run", False):
        title = f"dry run: {title}"
    body = truncate.head_of(difference.body, _PREVIEW_BYTES)
    return Preview(title, "diff", body, difference.added, difference.removed)


async def run(dry_runs: DryRuns, prepared: Prepared, context: CallContext) -> Result:
    """Apply all edits or none; a dry run only says what they would do (T-25, C35, C36).

    Refuses where the file is not the one that was prepared for (F16, F33).
    """
    arguments, workspace = prepared.arguments, context.workspace
    apply_id = ""
    try:
        if arguments.get("dry_run", False):
            change, seen = await asyncio.to_thread(_looked, arguments, workspace)
            shown = DryRun(context.workstream_id, seen.path, seen.digest, arguments)
            apply_id = dry_runs.keep(context.call_id, shown)
        else:
            wanted = await asyncio.to_thread(_wanted, dry_runs, arguments, context)
            # Not stopped half way: a write that has begun ends in a moment, whole.
            change, seen = await asyncio.to_thread(_edited, wanted, arguments[_BASE], workspace)
            dry_runs.drop(arguments.get("apply", ""))
    except BadArguments as wrong:
        return refused(str(wrong))
    as_json = workspace.options.get("report") == "json"
    told = edit_report.as_json if as_json else edit_report.in_words
    return Result(told(arguments["path"], change, apply_id), seen=(seen,))


def _looked(arguments: Mapping[str, Any], workspace: Workspace) -> tuple[EditChange, SeenFile]:
    found = file_at(workspace, arguments["path"])
    change = change_of(found, arguments, workspace.options)
    return change, SeenFile(found.path, found.sha256)


def _wanted(
    dry_runs: DryRuns, arguments: Mapping[str, Any], context: CallContext
) -> Mapping[str, Any]:
    if "apply" not in arguments:
        return arguments
    found = file_at(context.workspace, arguments["path"])
    return dry_runs.find(arguments["apply"], context.workstream_id, found.path).arguments


def _edited(
    wanted: Mapping[str, Any], base_sha256: str, workspace: Workspace
) -> tuple[EditChange, SeenFile]:
    path = wanted["path"]
    done: list[tuple[EditChange, SeenFile]] = []

    def rewritten(key: str, data: bytes) -> bytes:
        check_size(path, data)
        found = Found(key, data, digest_of(data))
        if found.sha256 != base_sha256:
            raise BadArguments(
                f"path: {path!r} changed since this edit was shown; read it again, send the edit "
                "anew"
            )
        change = change_of(found, wanted, workspace.options)
        after = change.data()
        done.append((change, SeenFile(key, digest_of(after))))
        return after

    writing.rewrite_file(workspace.ground, path, MAX_BYTES, rewritten)
    return done[0]


def tool(dry_runs: DryRuns) -> Tool:
    """The tool, with these dry runs to apply."""
    return Tool(
        name="edit_file",
        description=(
            "Replace text in a file of the workspace. old_string must be in the file once, or the "
            "call must say which place is meant, or that all are. edits makes several "
            "replacements, all or none."
        ),
        parameters=_PARAMETERS,
        effect="write",
        prepare=functools.partial(prepare, dry_runs),
        run=functools.partial(run, dry_runs),
        cwd_note="A relative path starts at {working_dir}.",
        primary_key="old_string",
        aliases=("edit",),
        options=_OPTIONS,
    )


TOOL = tool(DryRuns())
