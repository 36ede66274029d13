"""Runs a shell command in the workspace."""

from typing import Any

from redshank_node.tools.support import schema
from redshank_node.tools.support.commands import environment, processes
from redshank_node.tools.support.commands.process_endings import result_of
from redshank_node.tools.support.danger import judging
from redshank_node.tools.support.refusals import refused
from redshank_node.tools.tool import (
    BackgroundCommand,
    BadArguments,
    CallContext,
    Confine,
    Prepared,
    Result,
    Tool,
    Workspace,
)
from redshank_shared.domain.errors import RedshankError
from redshank_shared.domain.events import Preview
from redshank_shared.permissions.rules import NETWORK
from redshank_shared.settings.environment import process_environment

_MAX_SECONDS = 600
_BACKGROUND_SECONDS = 86400
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
            "description": "Seconds until it is stopped. Default: as set, usually 120.",
        },
        "stop_on_error": {
            "type": "boolean",
            "description": "Stop at the first command that fails (set -e). Default false.",
        },
        "background": {
            "type": "boolean",
            "description": (
                "Let it run on as a task after this turn, for a day at most; its output is read "
                "with task_output. Default false."
            ),
        },
        "network": {
            "type": "boolean",
            "description": (
                "Let it use the network, which it has not otherwise; a person may be asked first. "
                "Default false."
            ),
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
    objection = judging.objection(command)
    if objection:
        raise BadArguments(f"command is refused: {objection}; name exactly what is meant")
    if not checked.get("background", False):
        checked.setdefault("timeout", workspace.web.tools.bash_timeout_seconds)
    title = first_line(command)
    if not checked.get("network", False):
        return Prepared(checked, Preview(title, "command", command))
    preview = Preview(f"WITH NETWORK: {title}", "command", command)
    return Prepared(checked, preview, NETWORK, sandbox="network_enabled")


async def run(prepared: Prepared, context: CallContext) -> Result:
    """Run the command as it was shown, byte for byte (F35).

    Its output as it comes goes to `emit` (T-17, T-18, T-21).
    """
    arguments, workspace = prepared.arguments, context.workspace
    options = ("-e",) if arguments.get("stop_on_error", False) else ()
    argv = ("bash", *options, "-c", arguments["command"])
    if arguments.get("background", False):
        return await _started(argv, arguments, context)
    seconds = min(arguments["timeout"], context.max_seconds)
    command = processes.Command(
        argv=argv,
        folder=workspace.root,
        environment=environment.scrubbed(process_environment()),
        timeout_seconds=seconds,
        max_output_bytes=context.max_output_bytes,
        confine=_confining(arguments, context),
    )
    try:
        ended = await processes.run_command(command, context.emit)
    except OSError as error:
        return Result(
            f"bash cannot be started in {workspace.shown_root}: {error.strerror}; "
            "the operator must mend this",
            is_error=True,
            outcome="error",
        )
    return result_of(ended, seconds)


async def _started(
    argv: tuple[str, ...], arguments: dict[str, Any], context: CallContext
) -> Result:
    """The command as a task that outlives its turn (K-24)."""
    if context.tasks is None:
        return refused("background: there are no background tasks here; leave it out")
    command, workspace = arguments["command"], context.workspace
    task = BackgroundCommand(
        command,
        argv,
        workspace.root,
        environment.scrubbed(process_environment()),
        arguments.get("timeout", _BACKGROUND_SECONDS),
        _confining(arguments, context),
    )
    try:
        started = await context.tasks.start(first_line(command), task)
    except RedshankError as error:
        return refused(error.detail)
    return Result(
        f"[task {started.task_id} runs; it goes on after this turn. task_output shows what it "
        "writes, task_stop ends it]"
    )


def _confining(arguments: dict[str, Any], context: CallContext) -> Confine | None:
    sandbox = context.workspace.sandbox
    if sandbox is None:
        return None
    if arguments.get("network", False):
        sandbox = sandbox.giving({"bash": "network_enabled"})
    return sandbox.confining("bash", TOOL.sandbox, context.max_sandbox)


def first_line(command: str) -> str:
    """What stands for the command where there is little room."""
    return command.strip().split("\n", 1)[0][:100]


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
    cwd_note="It starts in {working_dir}.",
    workspace_note="Keep what you make in the workspace {workspace_dir}.",
    primary_key="command",
    sandbox="workspace_write",
    timeout_seconds=_MAX_SECONDS + 30.0,
)
