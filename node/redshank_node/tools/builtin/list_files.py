"""Lists the files of a folder."""

import asyncio
import os
import pathlib
import stat
import threading
from collections.abc import Callable, Iterator
from typing import Any

from redshank_node.tools.support import schema
from redshank_node.tools.support.files import own_files, paths
from redshank_node.tools.support.search import globs
from redshank_node.tools.tool import BadArguments, CallContext, Prepared, Result, Tool, Workspace
from redshank_shared.domain.events import Preview
from redshank_shared.domain.roots import Root, Roots

_MAX_ENTRIES = 1000
_MAX_LOOKED_AT = 100_000
_DEEPEST = 20
_OPTIONS: dict[str, Any] = {
    "types": {
        "type": "boolean",
        "description": "A name with its type on each line, nothing else (C-25).",
    },
}
_PARAMETERS: dict[str, Any] = {
    "type": "object",
    "properties": {
        "path": {
            "type": "string",
            "minLength": 1,
            "description": "Folder to list, relative to the workspace. Default '.'.",
        },
        "depth": {
            "type": "integer",
            "minimum": 1,
            "maximum": _DEEPEST,
            "description": "Levels of folders to list. Default 1, or all with a pattern.",
        },
        "pattern": {
            "type": "string",
            "minLength": 1,
            "description": "Glob that names must match, as in '*.py' or 'src/**/*.ts'.",
        },
        "hidden": {
            "type": "boolean",
            "description": "Also list names that begin with a dot. Default false.",
        },
    },
    "required": [],
    "additionalProperties": False,
}


def prepare(arguments: dict[str, Any], workspace: Workspace) -> Prepared:
    """Checked arguments with their defaults."""
    checked = schema.validated(arguments, _PARAMETERS)
    path = checked.setdefault("path", ".")
    if "pattern" in checked:
        globs.glob_match(checked["pattern"])
    checked.setdefault("depth", _DEEPEST if "pattern" in checked else 1)
    if _made_up(workspace, path) is None:
        paths.check_beneath(workspace.ground, path)
    return Prepared(checked, Preview(path))


async def run(prepared: Prepared, context: CallContext) -> Result:
    """One line an entry.

    Its path below the folder, `/` behind a folder, the bytes of a file, where a link leads.
    """
    shown = _made_up(context.workspace, prepared.arguments["path"])
    if shown is not None:
        return Result("\n".join(shown) or "[the folder is empty]")
    stop = threading.Event()
    try:
        return await asyncio.to_thread(_listed, prepared.arguments, context, stop)
    except BadArguments as refused:
        if paths.is_unmade(refused):
            return Result("[the folder is empty]")
        return Result(str(refused), is_error=True, outcome="error")
    finally:
        stop.set()


def _made_up(workspace: Workspace, path: str) -> list[str] | None:
    """What stands above the workspace where names come with types: the folders above its roots,
    that of the programs which exec may run (C-25). None for every other path.
    """
    if not workspace.options.get("types", False) or not path.startswith("/"):
        return None
    if os.path.normpath(path).lstrip("/") == "bin":
        listed = workspace.web.tools.exec_binaries.split(":")
        return [f"{name}\tfile" for name in sorted(filter(None, listed))]
    bin_too = Root("/bin", pathlib.Path("/bin"))
    above = Roots(workspace.root, (*workspace.roots, bin_too)).children(path)
    return None if above is None else [f"{name}\tdirectory" for name in above]


def _listed(arguments: dict[str, Any], context: CallContext, stop: threading.Event) -> Result:
    folder, root, relative = paths.open_folder(context.workspace.ground, arguments["path"])
    pattern = arguments.get("pattern")
    wanted = globs.glob_match(pattern) if pattern else None
    line_of = _typed if context.workspace.options.get("types", False) else _line
    left_out = _left_out(root, relative)
    walk = _Listing(wanted, arguments.get("hidden", False), line_of, stop, left_out)
    lines: list[str] = []
    room = context.max_output_bytes - 200
    truncated = False
    for line in walk.lines(folder, "", arguments["depth"]):
        room -= len(line.encode()) + 1
        truncated = len(lines) >= _MAX_ENTRIES or room < 0
        if truncated:
            break
        lines.append(line)
    if truncated or walk.looked_at > _MAX_LOOKED_AT:
        lines.append("[there is more; name a deeper path or a pattern]")
    elif not lines:
        lines.append("[no file matches]" if wanted else "[the folder is empty]")
    return Result("\n".join(lines), truncated=truncated)


def _left_out(root: Root, relative: str) -> Callable[[str], bool]:
    """Whether a path from the folder is none that a listing shows."""
    own = frozenset(own_files.below(root.folder, relative))
    if not root.only:
        return own.__contains__

    def left_out(path: str) -> bool:
        whole = path if relative == "." else f"{relative}/{path}"
        return path in own or not (root.shows(whole) or root.leads(whole))

    return left_out


class _Listing:
    """A walk down from an open folder that enters no link."""

    def __init__(
        self,
        wanted: Callable[[str], bool] | None,
        hidden: bool,
        line_of: Callable[[int, str, str, os.stat_result], str],
        stop: threading.Event,
        left_out: Callable[[str], bool],
    ) -> None:
        self._left_out = left_out
        self._wanted = wanted
        self._hidden = hidden
        self._line_of = line_of
        self._stop = stop
        self.looked_at = 0

    def lines(self, folder: int, above: str, depth: int) -> Iterator[str]:
        """The lines of this folder and of those below it, by name; closes the descriptor."""
        try:
            names = sorted(os.listdir(folder))
            for name in names:
                self.looked_at += 1
                if self._stop.is_set() or self.looked_at > _MAX_LOOKED_AT:
                    return
                if self._left_out(above + name):
                    continue
                if self._hidden or not name.startswith("."):
                    yield from self._entry(folder, name, above + name, depth)
        finally:
            os.close(folder)

    def _entry(self, folder: int, name: str, path: str, depth: int) -> Iterator[str]:
        try:
            info = os.stat(name, dir_fd=folder, follow_symlinks=False)
            shown = self._wanted is None or self._wanted(path)
            if shown:
                yield self._line_of(folder, name, path, info)
            if stat.S_ISDIR(info.st_mode) and depth > 1:
                below = os.open(name, paths.FOLDER, dir_fd=folder)
                yield from self.lines(below, f"{path}/", depth - 1)
        except OSError as error:
            yield f"{_clean(path)}  [cannot be read: {error.strerror}]"


def _line(folder: int, name: str, path: str, info: os.stat_result) -> str:
    path = _clean(path)
    if stat.S_ISDIR(info.st_mode):
        return f"{path}/"
    if stat.S_ISLNK(info.st_mode):
        return f"{path} -> {_clean(os.readlink(name, dir_fd=folder))}"
    if stat.S_ISREG(info.st_mode):
        return f"{path}  {info.st_size}"
    return f"{path}  [no regular file]"


def _typed(_folder: int, _name: str, path: str, info: os.stat_result) -> str:
    kinds = ((stat.S_ISDIR, "directory"), (stat.S_ISREG, "file"), (stat.S_ISLNK, "symlink"))
    kind = next((word for is_kind, word in kinds if is_kind(info.st_mode)), "other")
    return f"{_clean(path)}\t{kind}"


def _clean(name: str) -> str:
    return name.encode(errors="surrogateescape").decode(errors="replace").replace("\n", "\\n")


TOOL = Tool(
    name="list_files",
    description=(
        "List the files of a folder of the workspace, with sizes. "
        "depth goes into folders; pattern finds files by name anywhere below."
    ),
    parameters=_PARAMETERS,
    effect="read",
    prepare=prepare,
    run=run,
    primary_key="path",
    parallel=True,
    plan=True,
    aliases=("list-dir",),
    options=_OPTIONS,
)
