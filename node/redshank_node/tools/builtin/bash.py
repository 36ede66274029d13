"""Runs a shell command in the workspace."""

import signal
from typing import Any

from redshank_node.tools.support import danger, environment, processes, schema
from redshank_node.tools.tool import BadArguments, CallContext, Prepared, Result, Tool, Workspace
from redshank_shared.domain.events import Preview
from redshank_shared.settings.environment import process_environment

_DEFAULT_SECONDS = 120
_MAX_SECONDS = 600
# The kernel takes no argument of 128 KiB or more.
_MAX_COMMAND_BYTES = 120_000
_PARAMETERS: dict[str, Any] = {
    "type": "object",
    "properties": {
        "command": {
            "type": "string",
            "minLength": 1,
            "description": "The command line for bash. It has no standard input.",
        },
        "timeout": {
            "type": "integer",
            "minimum": 1,
            "maximum": _MAX_SECONDS,
            "description": f"Seconds until it is stopped. Default {_DEFAULT_SECONDS}.",
        },
        "stop_on_error": {
            "type": "boolean",
            "description": "Stop at the first command that fails (set -e). Default false.",
        },
    },
    "required": ["command"],
    "additionalProperties": False,
}


def prepare(arguments: dict[str, Any], workspace: Workspace) -> Prepared:
    """Checked arguments; a command that nobody means is refused here, in every mode (T-20)."""
    checked = schema.validated(arguments, _PARAMETERS)
    command = checked["command"]
    if "\x00" in command:
        raise BadArguments("command holds a NUL character; no shell can take it")
    try:
        length = len(command.encode())
    except UnicodeEncodeError:
        raise BadArguments("command holds half a character; send whole characters") from None
    if length > _MAX_COMMAND_BYTES:
        raise BadArguments(
            f"command has {length} bytes, at most {_MAX_COMMAND_BYTES} can be run; "
            "write it into a file and run that"
        )
    objection = danger.objection(command)
    if objection:
        raise BadArguments(f"command is refused: {objection}; name exactly what is meant")
    checked.setdefault("timeout", _DEFAULT_SECONDS)
    first = command.strip().split("\n", 1)[0][:100]
    return Prepared(checked, Preview(first, "command", command))


async def run(prepared: Prepared, context: CallContext) -> Result:
    """Run the command as it was shown, byte for byte (F35).

    Its output as it comes goes to `emit` (T-17, T-18, T-21).
    """
    arguments = prepared.arguments
    seconds = min(arguments["timeout"], context.max_seconds)
    options = ("-e",) if arguments.get("stop_on_error", False) else ()
    command = processes.Command(
        argv=("bash", *options, "-c", arguments["command"]),
        folder=context.workspace.root,
        environment=environment.scrubbed(process_environment()),
        timeout_seconds=seconds,
        max_output_bytes=context.max_output_bytes,
    )
    try:
        ended = await processes.run_command(command, context.emit)
    except OSError as error:
        return Result(
            f"bash cannot be started in {context.workspace.root}: {error.strerror}; "
            "the operator must mend this",
            is_error=True,
            outcome="error",
        )
    return _result(ended, seconds)


def _result(ended: processes.Ended, timeout_seconds: float) -> Result:
    notes = _notes(ended, timeout_seconds)
    text, truncated = ended.output.text(len("\n".join(notes).encode()) + 1)
    if not text and not notes:
        text = "[no output]"
    if text and notes and not text.endswith("\n"):
        text += "\n"
    failed = ended.timed_out or ended.code is None or ended.code < 0 or ended.code > 1
    return Result(
        text + "\n".join(notes),
        is_error=failed,
        outcome="timeout" if ended.timed_out else "error" if failed else "ok",
        truncated=truncated,
    )


def _notes(ended: processes.Ended, timeout_seconds: float) -> list[str]:
    notes = []
    if ended.leftover_count and not ended.timed_out:
        shown = "; ".join(ended.leftovers)
        more = ", ..." if ended.leftover_count > len(ended.leftovers) else ""
        notes.append(
            f"[{ended.leftover_count} process(es) still ran when the command ended "
            f"and were stopped: {shown}{more}]"
        )
    if ended.timed_out:
        notes.append(f"[stopped after {timeout_seconds:g} s, with all that it had started]")
    elif ended.code is None:
        notes.append("[the command's supervisor was killed; how the command ended is not known]")
    elif ended.code < 0:
        notes.append(f"[ended by signal {-ended.code} ({_signal(-ended.code)})]")
    elif ended.code > 0:
        notes.append(f"[exit code {ended.code}]")
    return notes


def _signal(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return "unnamed"


TOOL = Tool(
    name="bash",
    description=(
        "Run a command with bash in the workspace. Lines of standard error are marked [stderr]. "
        "Processes that still run when the command ends are stopped."
    ),
    parameters=_PARAMETERS,
    effect="process",
    prepare=prepare,
    run=run,
    primary_key="command",
    timeout_seconds=_MAX_SECONDS + 30.0,
)
