"""Finds files by their names."""

import asyncio
from typing import Any

from redshank_node.tools.support import schema
from redshank_node.tools.support.files import paths
from redshank_node.tools.support.files.paths import is_unmade
from redshank_node.tools.support.search import globs, ripgrep
from redshank_node.tools.tool import BadArguments, CallContext, Prepared, Result, Tool, Workspace
from redshank_shared.domain.events import Preview

_LISTED_BYTES = 8 << 20
_MOST_FILES = 1000
_NOTICE_BYTES = 200
_PARAMETERS: dict[str, Any] = {
    "type": "object",
    "properties": {
        "pattern": {
            "type": "string",
            "minLength": 1,
            "description": (
                "Glob for the paths of files: * and ? within a name, ** across folders, [...], "
                "{a,b}, \\ before one of these for itself. Without a slash it is matched with the "
                "name alone, anywhere below."
            ),
        },
        "path": {
            "type": "string",
            "minLength": 1,
            "description": "Folder to search, relative to the workspace. Default '.'.",
        },
        "hidden": {
            "type": "boolean",
            "description": "Also find names that begin with a dot. Default false.",
        },
    },
    "required": ["pattern"],
    "additionalProperties": False,
}


def prepare(arguments: dict[str, Any], workspace: Workspace) -> Prepared:
    """Checked arguments with their defaults."""
    checked = schema.validated(arguments, _PARAMETERS)
    globs.glob_match(checked["pattern"])
    path = checked.setdefault("path", ".")
    paths.check_beneath(workspace.ground, path)
    return Prepared(checked, Preview(f"{checked['pattern'][:200]} in {path}"))


async def run(prepared: Prepared, context: CallContext) -> Result:
    """The paths of the files that match, from the workspace's root, in order, bounded; what
    .gitignore names is left out.
    """
    arguments = prepared.arguments
    options = ["--files", "--sort=path", "--no-require-git"]
    if arguments.get("hidden", False):
        options += ["--hidden", "--glob=!.git"]
    try:
        with ripgrep.searched(context.workspace.ground, arguments["path"]) as place:
            if place.file is not None:
                raise BadArguments(f"path: {arguments['path']!r} is no folder; name one to search")
            ended = await ripgrep.run(place, (*options, "--", "./"), _LISTED_BYTES)
    except BadArguments as refused:
        if is_unmade(refused):
            return Result("[no file matches]")
        return Result(str(refused), is_error=True, outcome="error")
    text, _ = ended.output.text()
    cut = ended.output.overflows() or ended.timed_out
    if cut:
        text = text[: _LISTED_BYTES // 4]
    lines = text.split("\n")[:-1]
    found = await asyncio.to_thread(_found, lines, arguments["pattern"])
    return _result([place.shown + path for path in found], context.max_output_bytes, cut)


def _found(lines: list[str], pattern: str) -> list[str]:
    """The paths below the folder that match, without what ripgrep complained of."""
    matches = globs.glob_match(pattern)
    paths_below = (line.removeprefix("./") for line in lines if not line.startswith("[stderr] "))
    return [path for path in paths_below if matches(path)]


def _result(found: list[str], max_bytes: int, cut: bool) -> Result:
    room = max_bytes - _NOTICE_BYTES
    shown: list[str] = []
    for path in found:
        room -= len(path.encode(errors="replace")) + 1
        if room < 0 or len(shown) >= _MOST_FILES:
            cut = True
            break
        shown.append(path)
    if cut:
        shown.append("[there may be more; name a deeper path or a narrower pattern]")
    return Result("\n".join(shown) or "[no file matches]", truncated=cut)


TOOL = Tool(
    name="glob_search",
    description=(
        "Find files of the workspace by name, as in '**/*.py'. "
        "Hidden files and those that .gitignore names are left out."
    ),
    parameters=_PARAMETERS,
    effect="read",
    prepare=prepare,
    run=run,
    primary_key="pattern",
    parallel=True,
    plan=True,
)
