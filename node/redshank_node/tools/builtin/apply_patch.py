"""Changes several files by a patch, all or none."""

import asyncio
from typing import Any

from redshank_node.tools.support import schema
from redshank_node.tools.support.files.file_digests import digest_of
from redshank_node.tools.support.patches import plan, syntax, writing
from redshank_node.tools.support.patches.plan import FileChange
from redshank_node.tools.support.refusals import refused
from redshank_node.tools.tool import BadArguments, CallContext, Prepared, Result, Tool, Workspace
from redshank_shared.domain.seen_files import SeenFile

_MAX_CHARACTERS = 4 << 20
_PARAMETERS: dict[str, Any] = {
    "type": "object",
    "properties": {
        "patch": {
            "type": "string",
            "minLength": 1,
            "maxLength": _MAX_CHARACTERS,
            "description": (
                "*** Begin Patch, then for each file *** Add File: path, *** Update File: path "
                "(may be followed by *** Move to: path) or *** Delete File: path, then "
                "*** End Patch. Hunks begin with @@ or @@ and a line that stands before them; "
                "their lines begin with a blank, - or +. A unified diff is taken too: its hunks "
                "are placed by their context, whatever line they say."
            ),
        },
    },
    "required": ["patch"],
    "additionalProperties": False,
}
_BASE = "_base_sha256"


def prepare(arguments: dict[str, Any], workspace: Workspace) -> Prepared:
    """Checked arguments and all that the patch does as one diff; every hunk is placed already, so
    that what cannot be applied whole is not put before anybody (K12).
    """
    checked = schema.validated(arguments, _PARAMETERS)
    changes = plan.planned(workspace, syntax.parsed(checked["patch"]))
    return Prepared({**checked, _BASE: plan.digests_of(changes)}, plan.preview_of(changes))


async def run(prepared: Prepared, context: CallContext) -> Result:
    """Change all files or none. Refuses where one is not as it was when it was shown (K12, F33)."""
    try:
        # Not stopped half way: it ends in a moment, whole or not at all.
        changes = await asyncio.to_thread(_applied, prepared.arguments, context.workspace)
    except BadArguments as wrong:
        return refused(str(wrong))
    seen = tuple(
        SeenFile(change.moved or change.relative, digest_of(change.data))
        for change in changes
        if change.action != "delete"
    )
    return Result("\n".join(_said(change) for change in changes), seen=seen)


def _applied(arguments: dict[str, Any], workspace: Workspace) -> tuple[FileChange, ...]:
    changes = plan.planned(workspace, syntax.parsed(arguments["patch"]))
    for path, sha256 in plan.digests_of(changes).items():
        if arguments[_BASE].get(path) != sha256:
            raise BadArguments(
                f"patch: {path} changed since the patch was shown; read it again, send the patch "
                "anew"
            )
    writing.write_all(workspace.ground, changes)
    return changes


def _said(change: FileChange) -> str:
    match change.action:
        case "add":
            return f"A {change.path}"
        case "delete":
            return f"D {change.path}"
        case "update":
            return f"M {change.path}" + (f" -> {change.move_to}" if change.move_to else "")


TOOL = Tool(
    name="apply_patch",
    description=(
        "Change several files of the workspace by one patch, all or none: add, update, move, "
        "delete. Read a file before you patch it; UTF-8 text only."
    ),
    parameters=_PARAMETERS,
    effect="write",
    prepare=prepare,
    run=run,
    primary_key="patch",
)
