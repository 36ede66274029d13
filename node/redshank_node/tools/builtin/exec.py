"""Runs one listed program with its arguments, without a shell."""

import asyncio
import pathlib
import re
import shlex
import shutil
from datetime import UTC, datetime
from typing import Any

import msgspec

from redshank_node.tools.support import schema
from redshank_node.tools.support.commands import environment, processes
from redshank_node.tools.support.commands.exec_report import reported, stem_of
from redshank_node.tools.support.commands.exec_streams import SeparateStreams
from redshank_node.tools.support.commands.process_endings import is_failure, signal_name
from redshank_node.tools.support.danger import judging
from redshank_node.tools.support.files.paths import open_file
from redshank_node.tools.support.files.writing import read_bytes
from redshank_node.tools.support.refusals import refused
from redshank_node.tools.tool import BadArguments, CallContext, Prepared, Result, Tool, Workspace
from redshank_shared import clock
from redshank_shared.domain.events import Preview
from redshank_shared.settings.environment import process_environment

_MAX_BYTES = 120_000
_MAX_SECONDS = 3570.0
_ENV_BYTES = 65536
_NOT_A_NAME = re.compile(r"[\s'\"|&;$`\\/<>()]")
_PARAMETERS: dict[str, Any] = {
    "type": "object",
    "properties": {
        "command": {
            "type": "string",
            "minLength": 1,
            "description": "The name of one program, as git. No shell reads it.",
        },
        "args": {
            "type": "array",
            "items": {"type": "string"},
            "description": "Its arguments, each as it is: nothing is split or expanded.",
        },
    },
    "required": ["command"],
    "additionalProperties": False,
}


def prepare(arguments: dict[str, Any], workspace: Workspace) -> Prepared:
    """One listed program (C-10, C-11); what nobody means is refused here, as for bash."""
    checked = schema.validated(arguments, _PARAMETERS)
    command, args = checked["command"], checked.setdefault("args", [])
    listed = [name for name in workspace.web.tools.exec_binaries.split(":") if name]
    hint = ', or bash with "-c" and the line as args' if "bash" in listed else ""
    if _NOT_A_NAME.search(command):
        raise BadArguments(
            f"command: {command[:80]!r} is not the name of one program; put the program there, "
            f"its arguments into args, one each{hint}"
        )
    if command not in listed:
        raise BadArguments(
            f"command: {command} is not listed; use {', '.join(listed) or 'none, none is'}{hint}; "
            "the operator lists programs in tools.exec_binaries"
        )
    line = shlex.join((command, *args))
    try:
        length = len(line.encode())
    except UnicodeEncodeError:
        raise BadArguments("args hold half a character; send whole characters") from None
    if "\0" in line or length > _MAX_BYTES:
        raise BadArguments(f"args must hold no NUL and at most {_MAX_BYTES} bytes in all")
    objection = judging.objection(line)
    if objection:
        raise BadArguments(f"the call is refused: {objection}; name exactly what is meant")
    return Prepared(checked, Preview(line.split("\n", 1)[0][:100], "command", line))


async def run(prepared: Prepared, context: CallContext) -> Result:
    """Run it in the workspace with a rebuilt environment; its output as C-14 to C-17 say."""
    workspace, options = context.workspace, context.workspace.exec_options
    name, args = prepared.arguments["command"], prepared.arguments["args"]
    variables = environment.rebuilt(
        process_environment(),
        workspace.root,
        options.host_env_passthrough,
        _own_variables(workspace.root),
    )
    if shutil.which(name, path=variables["PATH"]) is None:
        return refused(f"command: {name} is listed, but not installed on this node")
    seconds = min(options.timeout / 1000, context.max_seconds, _MAX_SECONDS)
    command = processes.Command(
        argv=(name, *args),
        folder=workspace.root,
        environment=variables,
        timeout_seconds=seconds,
        max_output_bytes=context.max_output_bytes,
        confine=workspace.confining("exec", TOOL.sandbox, context.max_sandbox),
    )
    output = SeparateStreams(context.max_output_bytes)
    try:
        ended = await processes.run_command(command, context.emit, output)
    except OSError as error:
        return refused(
            f"{name} cannot be started in {workspace.shown_root}: {error.strerror}; "
            "the operator must mend this"
        )
    stem = "\0".join(stem_of(clock.rfc3339(datetime.fromtimestamp(context.now_seconds, UTC)), name))
    report = await asyncio.to_thread(reported, output, options, workspace.ground, stem)
    said = {**_ending(ended, seconds), **report}
    return Result(
        msgspec.json.encode(said).decode(),
        is_error=is_failure(ended),
        outcome="timeout" if ended.timed_out else "error" if is_failure(ended) else "ok",
        truncated=report["truncated"],
    )


def _ending(ended: processes.Ended, seconds: float) -> dict[str, Any]:
    code = ended.code
    said: dict[str, Any] = {"exitCode": code, "success": code == 0 and not ended.timed_out}
    if code is not None and code < 0:
        said |= {"exitCode": None, "signal": signal_name(-code)}
    if ended.timed_out:
        said["error"] = f"stopped after {seconds:g} s, with all that it had started"
    elif ended.leftover_count:
        said["stoppedProcesses"] = ended.leftover_count
    return said


def _own_variables(root: pathlib.Path) -> str:
    """The text of the workspace's `.env`; empty where there is none that can be read."""
    try:
        descriptor = open_file(root, ".env")
    except (BadArguments, OSError):
        return ""
    with open(descriptor, "rb") as file:
        return read_bytes(file.fileno(), _ENV_BYTES).decode(errors="replace")


TOOL = Tool(
    name="exec",
    description=(
        "Run one program with its arguments in the workspace, without a shell. Long output is kept "
        "in files of the workspace, the result shows where."
    ),
    parameters=_PARAMETERS,
    effect="process",
    prepare=prepare,
    run=run,
    primary_key="command",
    sandbox="workspace_write",
    timeout_seconds=_MAX_SECONDS + 30.0,
)
