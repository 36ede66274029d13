"""Takes a file out of the model's sight."""

from typing import Any

import msgspec

from redshank_node.tools.support import schema
from redshank_node.tools.support.files import paths
from redshank_node.tools.tool import BadArguments, CallContext, Prepared, Result, Tool, Workspace
from redshank_shared.domain.commands import UnpinFile
from redshank_shared.domain.events import Preview
from redshank_shared.domain.roots import key_of

_PARAMETERS: dict[str, Any] = {
    "type": "object",
    "properties": {
        "path": {
            "type": "string",
            "minLength": 1,
            "description": "File to keep in sight no longer, relative to the workspace.",
        },
    },
    "required": ["path"],
    "additionalProperties": False,
}


def prepare(arguments: dict[str, Any], workspace: Workspace) -> Prepared:
    """Checked arguments."""
    checked = schema.validated(arguments, _PARAMETERS)
    paths.check_beneath(workspace.ground, checked["path"])
    return Prepared(checked, Preview(checked["path"]))


async def run(prepared: Prepared, context: CallContext) -> Result:
    """The files that stay open; closing what is not open is no error (C-24)."""
    path = _pinned_path(context, prepared.arguments["path"])
    left = [one for one in context.pins.files if one != path]
    said = {"closed": path in context.pins.files, "open": left}
    return Result(msgspec.json.encode(said).decode(), command=UnpinFile(path))


def _pinned_path(context: CallContext, asked: str) -> str:
    """The name under which the file is open: it may be gone, or a link lead elsewhere by now."""
    written = key_of(context.workspace.ground, asked)
    if written in context.pins.files:
        return written
    try:
        with paths.located(context.workspace.ground, asked) as place:
            return place.key
    except BadArguments:
        return written


TOOL = Tool(
    name="close_file",
    description="Take a file that open_file opened out of sight again.",
    parameters=_PARAMETERS,
    effect="read",
    prepare=prepare,
    run=run,
    primary_key="path",
    plan=True,
    aliases=("close-file",),
)
