"""Shows further sections of a file that is kept in sight."""

import asyncio
from typing import Any

import msgspec

from redshank_node.tools.support import schema
from redshank_node.tools.support.files import paths, pinned
from redshank_node.tools.tool import BadArguments, CallContext, Prepared, Result, Tool, Workspace
from redshank_shared.domain.commands import PinFile
from redshank_shared.domain.events import Preview
from redshank_shared.domain.pins import Pin

_PARAMETERS: dict[str, Any] = {
    "type": "object",
    "properties": {
        "path": {
            "type": "string",
            "minLength": 1,
            "description": "File that open_file has opened, relative to the workspace.",
        },
        "sections": {
            "type": "array",
            "items": {"type": "string", "minLength": 1},
            "minItems": 1,
            "maxItems": 200,
            "description": "Ids of the sections, as the outline has them.",
        },
        "all": {"type": "boolean", "description": "All of the file instead of sections."},
    },
    "required": ["path"],
    "additionalProperties": False,
}


def prepare(arguments: dict[str, Any], workspace: Workspace) -> Prepared:
    """Checked arguments: sections or all, not both (C-23)."""
    checked = schema.validated(arguments, _PARAMETERS)
    paths.check_beneath(workspace.ground, checked["path"])
    if ("sections" in checked) == bool(checked.get("all", False)):
        raise BadArguments("name sections, or set all to true; one of the two")
    return Prepared(checked, Preview(checked["path"]))


async def run(prepared: Prepared, context: CallContext) -> Result:
    """Which sections come into sight, which are there now (C-23)."""
    arguments = prepared.arguments
    try:
        file = await asyncio.to_thread(pinned.read, context.workspace.ground, arguments["path"])
        before = context.pins.files.get(file.path)
        if before is None:
            raise BadArguments(f"path: {file.path!r} is not open; open it with open_file first")
        if before.whole or not file.sections:
            return Result(
                f"whole file is in context: {file.path} is shown in every prompt as it is"
            )
        added = _added(file, before, arguments)
    except BadArguments as refused:
        return Result(str(refused), is_error=True, outcome="error")
    if arguments.get("all", False):
        said = {"path": file.path, "added": added, "activeSections": "all"}
        return _shown(said, PinFile(file.path, whole=True))
    known = [section.id for section in file.sections]
    active = tuple(one for one in known if one in before.sections or one in added)
    said = {"path": file.path, "added": added, "activeSections": list(active)}
    return _shown(said, PinFile(file.path, active) if added else None)


def _added(file: pinned.PinnedFile, before: Pin, arguments: dict[str, Any]) -> list[str]:
    known = [section.id for section in file.sections]
    wanted = known if arguments.get("all", False) else arguments["sections"]
    if unknown := [one for one in wanted if one not in known]:
        raise BadArguments(
            f"sections: {file.path!r} has no section {', '.join(unknown)}; it has "
            f"{', '.join(known[:200])}"
        )
    return [one for one in known if one in wanted and one not in before.sections]


def _shown(said: dict[str, Any], command: PinFile | None) -> Result:
    return Result(msgspec.json.encode(said).decode(), command=command)


TOOL = Tool(
    name="read_sections",
    description="Show more sections of a large file that open_file keeps in sight.",
    parameters=_PARAMETERS,
    effect="read",
    prepare=prepare,
    run=run,
    primary_key="path",
    plan=True,
    aliases=("read-sections",),
)
