"""Searches the contents of files with ripgrep."""

import itertools
import re
from collections.abc import Iterator
from typing import Any

from redshank_node.tools.support import schema, truncate
from redshank_node.tools.support.commands import processes
from redshank_node.tools.support.files import paths
from redshank_node.tools.support.files.paths import is_unmade
from redshank_node.tools.support.search import ripgrep
from redshank_node.tools.tool import BadArguments, CallContext, Prepared, Result, Tool, Workspace
from redshank_shared.domain.events import Preview

_MAX_BYTES = 65536
_COLUMNS = 500
_PARAMETERS: dict[str, Any] = {
    "type": "object",
    "properties": {
        "pattern": {
            "type": "string",
            "minLength": 1,
            "description": "Regular expression (Rust syntax) to find within a line.",
        },
        "path": {
            "type": "string",
            "minLength": 1,
            "description": "File or folder to search, relative to the workspace. Default '.'.",
        },
        "glob": {
            "type": "string",
            "minLength": 1,
            "description": "Only files that match, as in '*.py' or '!tests/**'.",
        },
        "case": {
            "type": "string",
            "enum": ["sensitive", "insensitive", "smart"],
            "description": "smart: insensitive unless the pattern has capitals. Default sensitive.",
        },
        "context": {
            "type": "integer",
            "minimum": 0,
            "maximum": 20,
            "description": "Lines to show around each match. Default 0.",
        },
    },
    "required": ["pattern"],
    "additionalProperties": False,
}
# ripgrep writes NUL behind a path, which the gathered output shows as this.
_NUL = "\ufffd"
_LINE = re.compile(rf"(.*?){_NUL}(\d+)([:-])(.*)", re.DOTALL)


def prepare(arguments: dict[str, Any], workspace: Workspace) -> Prepared:
    """Checked arguments with their defaults."""
    checked = schema.validated(arguments, _PARAMETERS)
    for key in ("pattern", "glob"):
        if "\x00" in checked.get(key, "") or not _encodes(checked.get(key, "")):
            raise BadArguments(f"{key} holds NUL or half a character; send plain text")
    if "\n" in checked["pattern"]:
        raise BadArguments("pattern holds a line break; a match is within one line")
    path = checked.setdefault("path", ".")
    paths.check_beneath(workspace.ground, path)
    return Prepared(checked, Preview(f"{checked['pattern'][:200]} in {path}"))


async def run(prepared: Prepared, context: CallContext) -> Result:
    """Lines as `path:line:text`, those around a match as `path-line-text`, by path, bounded
    (T-27).
    """
    options = _options(prepared.arguments)
    max_bytes = min(_MAX_BYTES, context.max_output_bytes)
    try:
        with ripgrep.searched(context.workspace.ground, prepared.arguments["path"]) as place:
            target = ("--", "-" if place.file is not None else "./")
            ended = await ripgrep.run(place, (*options, *target), max_bytes)
            if ended.output.overflows() and place.file is None:
                # All cores search in no order. Which matches have room must not be chance: once
                # more in order, which ends as soon as the result is full.
                ended = await ripgrep.run(place, ("--sort=path", *options, *target), max_bytes)
    except BadArguments as refused:
        return Result("[no match]") if is_unmade(refused) else _error(str(refused))
    return _result(ended, place.shown, place.file is not None, max_bytes)


def _options(arguments: dict[str, Any]) -> list[str]:
    options = [
        "--no-heading",
        "--line-number",
        "--with-filename",
        "--null",
        "--crlf",
        "--no-require-git",
        f"--max-columns={_COLUMNS}",
        "--max-columns-preview",
        f"--context={arguments.get('context', 0)}",
    ]
    case = arguments.get("case", "sensitive")
    options.append(
        {"insensitive": "--ignore-case", "smart": "--smart-case"}.get(case, "--case-sensitive")
    )
    glob = arguments.get("glob", "")
    if glob and not glob.startswith("!") and "/" not in glob and ":" not in glob:
        # Unlike a glob, a type does not bring back what .gitignore leaves out.
        options += [f"--type-add=asked:{glob}", "--type=asked"]
    elif glob:
        options.append(f"--glob={glob}")
    return [*options, f"--regexp={arguments['pattern']}"]


def _result(ended: processes.Ended, shown: str, one_file: bool, max_bytes: int) -> Result:
    text, _ = ended.output.text()
    full = ended.output.overflows()
    complaints = [line[9:] for line in text.splitlines() if line.startswith("[stderr] ")]
    if ended.code == 2 and complaints:
        return _error(_mend(complaints))
    head = truncate.head_of(text, max_bytes // 2) if full else text
    lines = [line.removesuffix("\r") for line in head.split("\n")[:-1]]
    named = list(_by_path(line for line in lines if not line.startswith("[stderr] ")))
    named = [line if line == "--" else _named(line, shown, one_file) for line in named]
    if ended.timed_out:
        note = f"[stopped after {ripgrep.SECONDS:.0f} s; name a deeper path or a glob]"
        return Result("\n".join([*named, note]), is_error=True, outcome="timeout", truncated=True)
    if full:
        named.append("[there is more; narrow the pattern, the path or the glob]")
    return Result("\n".join(named) or "[no match]", truncated=full)


def _by_path(lines: Iterator[str]) -> Iterator[str]:
    """The lines with the files in order, as ripgrep sorts them; each file's own stay together."""
    files: list[tuple[list[str], list[str]]] = []
    parted = False
    for path, group in itertools.groupby(lines, lambda line: line.partition(_NUL)[0]):
        block = list(group)
        if path == "--":
            parted = True
        elif files and files[-1][0] == path.split("/"):
            files[-1][1].extend(["--", *block] if parted else block)
        else:
            files.append((path.split("/"), block))
    for place, (_, found) in enumerate(sorted(files, key=lambda file: file[0])):
        if parted and place:
            yield "--"
        yield from found


def _named(line: str, shown: str, one_file: bool) -> str:
    found = _LINE.fullmatch(line)
    if found is None:
        return line.replace("<stdin>", shown, 1) if one_file else line.removeprefix("./")
    path, number, mark, text = found.groups()
    where = shown if one_file else shown + path.removeprefix("./")
    return f"{where}{mark}{number}{mark}{text}"


def _mend(complaints: list[str]) -> str:
    words = "\n".join(complaints)[:2000]
    if "regex parse error" in words:
        return f"pattern is no regular expression; escape what is meant literally with \\\n{words}"
    if "glob" in words:
        return f"glob is no glob pattern; write it like '*.py'\n{words}"
    return f"pattern cannot be searched for\n{words}"


def _error(message: str) -> Result:
    return Result(message, is_error=True, outcome="error")


def _encodes(text: str) -> bool:
    return not any("\ud800" <= character <= "\udfff" for character in text)


TOOL = Tool(
    name="grep_search",
    description=(
        "Search the contents of the workspace's files with a regular expression. "
        "Hidden files and those that .gitignore names are left out."
    ),
    parameters=_PARAMETERS,
    effect="read",
    prepare=prepare,
    run=run,
    cwd_note="A relative path starts at {working_dir}.",
    primary_key="pattern",
    parallel=True,
    plan=True,
    aliases=("search",),
)
