"""What a tool is: schema, effect, prepare, run in one frozen record."""

import pathlib
from collections.abc import Awaitable, Callable
from typing import Any, Literal

import msgspec

from redshank_shared.domain.events import Effect, Preview

SandboxLevel = Literal["inherited", "read_only", "workspace_write", "network_enabled"]


class BadArguments(Exception):
    """The model must mend its arguments. The message names the argument and the mend, and goes to
    the model.
    """


class Workspace(msgspec.Struct, frozen=True):
    """Where a call may work: the root folder that no path may leave."""

    root: pathlib.Path


class CallContext(msgspec.Struct, frozen=True):
    """What a running call is given. `emit` shows output in progress to watchers (already decoded
    text).
    """

    call_id: str
    workspace: Workspace
    emit: Callable[[str], None]
    max_output_bytes: int = 262144


class Prepared(msgspec.Struct, frozen=True):
    """Validated arguments (schema and paths checked, nothing done yet) and what a person sees
    before deciding.
    """

    arguments: dict[str, Any]
    preview: Preview


class Result(msgspec.Struct, frozen=True):
    """How a call ended. A tool's failure is a result, not an exception. `output` is what the model
    reads.
    """

    output: str
    is_error: bool = False
    outcome: Literal["ok", "error", "timeout"] = "ok"
    truncated: bool = False


class Tool(msgspec.Struct, frozen=True):
    """One tool. `prepare` has no effect and raises BadArguments; `run` acts, and stops at once when
    its task is cancelled.

    `timeout_seconds` bounds `run` from outside; `parallel` says whether it may run beside others of
    its batch;
    `plan` whether plan mode lists it; `primary_key` is the argument that a bare string stands for
    (T-11).
    """

    name: str
    description: str
    parameters: dict[str, Any]
    effect: Effect
    prepare: Callable[[dict[str, Any], Workspace], Prepared]
    run: Callable[[Prepared, CallContext], Awaitable[Result]]
    primary_key: str
    parallel: bool = False
    plan: bool = False
    timeout_seconds: float = 60.0
    sandbox: SandboxLevel = "inherited"
    aliases: tuple[str, ...] = ()
