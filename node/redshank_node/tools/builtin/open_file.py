"""Keeps a file in the model's sight."""

import asyncio
from collections.abc import Sequence
from typing import Any

import msgspec

from redshank_node.tools.support import schema
from redshank_node.tools.support.files import paths, pinned
from redshank_node.tools.tool import BadArguments, CallContext, Prepared, Result, Tool, Workspace
from redshank_shared.domain.commands import PinFile
from redshank_shared.domain.events import Preview
from redshank_shared.domain.pins import Pin, Pins

_IDS: dict[str, Any] = {
    "type": "array",
    "items": {"type": "string", "minLength": 1},
    "minItems": 1,
    "maxItems": 200,
}
_PARAMETERS: dict[str, Any] = {
    "type": "object",
    "properties": {
        "path": {
            "type": "string",
            "minLength": 1,
            "description": "File to keep in sight, relative to the workspace.",
        },
        "sections": {
            **_IDS,
            "description": "Sections of a large file to show, by their ids in its outline.",
        },
        "closeSections": {**_IDS, "description": "Sections to show no longer, by their ids."},
        "all": {
            "type": "boolean",
            "description": "Show all of a large file. Not together with the other two.",
        },
    },
    "required": ["path"],
    "additionalProperties": False,
}


def prepare(arguments: dict[str, Any], workspace: Workspace) -> Prepared:
    """Checked arguments; `all` excludes the other two (C-22)."""
    checked = schema.validated(arguments, _PARAMETERS)
    if checked.get("all", False) and ("sections" in checked or "closeSections" in checked):
        raise BadArguments("all shows the whole file; leave out sections, closeSections")
    paths.check_beneath(workspace.ground, checked["path"])
    return Prepared(checked, Preview(checked["path"]))


async def run(prepared: Prepared, context: CallContext) -> Result:
    """The files that are open now, with the active sections of this one (C-22)."""
    arguments = prepared.arguments
    try:
        file = await asyncio.to_thread(pinned.read, context.workspace.ground, arguments["path"])
        pin = _pin(file, context.pins.files.get(file.path, Pin()), arguments)
    except BadArguments as refused:
        return Result(str(refused), is_error=True, outcome="error")
    return Result(
        msgspec.json.encode(_said(file, pin, context.pins)).decode(),
        command=PinFile(file.path, pin.sections, pin.whole),
    )


def _pin(file: pinned.PinnedFile, before: Pin, arguments: dict[str, Any]) -> Pin:
    if arguments.get("all", False):
        return Pin(whole=True)
    opened, closed = arguments.get("sections", ()), arguments.get("closeSections", ())
    if not file.sections:
        if opened:
            raise BadArguments(
                f"sections: {file.path!r} is shown as a whole, it has no outline; leave them out"
            )
        return Pin()
    known = [section.id for section in file.sections]
    for name, ids in (("sections", opened), ("closeSections", closed)):
        if unknown := [one for one in ids if one not in known]:
            raise BadArguments(
                f"{name}: {file.path!r} has no section {', '.join(unknown)}; it has "
                f"{', '.join(known[:200])}"
            )
    active = {*before.sections, *opened} - set(closed)
    return Pin(tuple(one for one in known if one in active), before.whole and not opened)


def _said(file: pinned.PinnedFile, pin: Pin, pins: Pins) -> dict[str, Any]:
    others: Sequence[str] = [path for path in pins.files if path != file.path]
    said: dict[str, Any] = {"open": [*others, file.path], "activeSections": list(pin.sections)}
    if pin.whole or not file.sections:
        return {**said, "shown": "the whole file, from the next prompt on"}
    return {
        **said,
        "shown": "the outline with the active sections, from the next prompt on",
        "sections": [section.id for section in file.sections],
    }


TOOL = Tool(
    name="open_file",
    description=(
        "Keep a file in sight: every later prompt shows it as it is then, until close_file. "
        "Of a large file with sections only the outline is shown, with the sections you name."
    ),
    parameters=_PARAMETERS,
    effect="read",
    prepare=prepare,
    run=run,
    primary_key="path",
    plan=True,
    aliases=("open-file",),
)
