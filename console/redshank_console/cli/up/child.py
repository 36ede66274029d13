"""A child process: what it is started with, how it is started so that it never outlives us."""

import asyncio
import ctypes
import os
import signal
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import msgspec

from redshank_console.cli.up.readiness import Probe

PR_SET_PDEATHSIG = 1


class ChildSpec(msgspec.Struct, frozen=True):
    """One child. `ready` is asked until it says yes; without it the child runs once, to exit 0.

    Children of a lower `stop_rank` are stopped before those of a higher one, each with
    `stop_seconds` to end by itself. `configuration` is written to its standard input.
    """

    name: str
    command: tuple[str, ...]
    environment: Mapping[str, str]
    ready: Probe | None = None
    stop_rank: int = 0
    stop_seconds: float = 5.0
    configuration: str = ""


async def start_child(spec: ChildSpec, log: Path) -> asyncio.subprocess.Process:
    """Start it in its own process group, its output behind the log's end; dies when we die.

    The output goes to a file, not to a pipe: a pipe that a grandchild holds would hide the death.
    """
    with log.open("ab") as output:
        process = await asyncio.create_subprocess_exec(
            *spec.command,
            stdin=asyncio.subprocess.PIPE if spec.configuration else asyncio.subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            env=spec.environment,
            start_new_session=True,
            preexec_fn=_death_with(os.getpid()),
        )
    if process.stdin is not None:
        process.stdin.write(spec.configuration.encode())
        process.stdin.close()
    return process


def signal_group(process: asyncio.subprocess.Process, number: signal.Signals) -> None:
    """Signal a child's whole group; nothing when it is gone."""
    try:
        os.killpg(process.pid, number)
    except ProcessLookupError:
        return


def _death_with(parent: int) -> Callable[[], None] | None:
    if sys.platform != "linux":
        return None
    prctl = ctypes.CDLL(None).prctl

    def arrange() -> None:
        prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        # The parent may have died before the arrangement stood.
        if os.getppid() != parent:
            os._exit(1)

    return arrange
