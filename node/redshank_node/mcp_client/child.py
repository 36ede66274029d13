"""Runs the command of a stdio server, so that nothing of it outlives its connection."""

import asyncio
import contextlib
import logging
import os
import pathlib
import shutil
import signal
import subprocess
from collections.abc import Callable, Mapping

import msgspec

from redshank_node.tools.support.commands.supervised import pipe, supervised
from redshank_shared.waiting import happened

logger = logging.getLogger(__name__)

_GRACE_SECONDS = 0.2
_LEAVE_SECONDS = 2.0
_LOST_SECONDS = 0.3
_TERMINATE_SECONDS = 1.0
_KILL_SECONDS = 2.0
_STATUS_BYTES = 4096


class ServerCommand(msgspec.Struct, frozen=True):
    """What to start; `environment` is the whole of it. `confine` puts it into a sandbox.
    `search_path`: where a command without a slash is looked for, in the form of PATH.
    """

    argv: tuple[str, ...]
    environment: Mapping[str, str]
    folder: pathlib.Path
    search_path: str
    confine: Callable[[tuple[str, ...]], tuple[str, ...]] | None = None


class Child:
    """A running command behind its supervisor process (`tools/support/commands/supervisor.py`):
    the tree dies with the node, however that goes (F11).

    `stdin`, `stdout`, `stderr`: our ends, which the owner of this object closes. `ended` is set
    once the command itself has ended, or could not be started.
    """

    def __init__(self, command: ServerCommand) -> None:
        """Start it. OSError where it cannot be started."""
        self.ended = asyncio.Event()
        self._gone = asyncio.Event()
        self._code: int | None = None
        self._errno = 0
        self._said = b""
        self._command = command
        self._loop = asyncio.get_running_loop()
        argv = _found(command)
        if command.confine is not None:
            argv = command.confine(argv)
        with contextlib.ExitStack() as theirs, contextlib.ExitStack() as undo:
            ours: dict[str, tuple[int, int]] = {}
            for name in ("control", "stdin", "status", "stdout", "stderr"):
                ours[name] = pipe(theirs, read_is_theirs=name in ("control", "stdin"))
                undo.callback(os.close, ours[name][1])
            control, status = ours["control"][0], ours["status"][0]
            locale = command.environment.get("LC_CTYPE", "")
            # Not in a thread: a parent-death signal comes when the thread that forked ends.
            self._popen = subprocess.Popen(
                supervised(argv, control, status, _GRACE_SECONDS, locale),
                stdin=ours["stdin"][0],
                stdout=ours["stdout"][0],
                stderr=ours["stderr"][0],
                cwd=command.folder,
                env=dict(command.environment),
                pass_fds=(control, status),
                start_new_session=True,
            )
            undo.pop_all()
        self._control, self._status = ours["control"][1], ours["status"][1]
        self.stdin, self.stdout, self.stderr = (
            ours[name][1] for name in ("stdin", "stdout", "stderr")
        )
        os.set_blocking(self._status, False)
        self._loop.add_reader(self._status, self._hear)

    def end(self) -> str:
        """How it ended, in words."""
        if self._errno:
            return f"{self._command.argv[0]} cannot be started: {os.strerror(self._errno)}"
        if self._code is None:
            return "its process is gone"
        if self._code < 0:
            return f"its process was ended by {_signal_name(-self._code)}"
        return f"its process ended with exit code {self._code}"

    async def close(self, *, is_lost: bool) -> None:
        """Return when nothing of it is left: its standard input, already closed, asks it to leave;
        then TERM to the whole tree, then KILL. One that is lost anyway gets little time.
        """
        try:
            if not await happened(self._gone, _LOST_SECONDS if is_lost else _LEAVE_SECONDS):
                self._order(b"T")
                if not await happened(self._gone, _TERMINATE_SECONDS):
                    self._order(b"K")
                    await happened(self._gone, _KILL_SECONDS)
        finally:
            self._let_go()

    def _hear(self) -> None:
        try:
            data = os.read(self._status, _STATUS_BYTES)
        except BlockingIOError:
            return
        *lines, self._said = (self._said + data).split(b"\n")
        for line in lines:
            word, _, rest = line.partition(b" ")
            if word == b"ended":
                self._code = int(rest)
                self.ended.set()
            elif word == b"failed":
                self._errno = int(rest)
        if not data:
            self._loop.remove_reader(self._status)
            self.ended.set()
            self._gone.set()

    def _order(self, order: bytes) -> None:
        with contextlib.suppress(BrokenPipeError):
            os.write(self._control, order)
        # A command can stop its supervisor; this wakes it.
        self._popen.send_signal(signal.SIGCONT)

    def _let_go(self) -> None:
        """The supervisor kills whatever is left when its control pipe ends."""
        os.close(self._control)
        if not self._gone.is_set():
            self._loop.remove_reader(self._status)
        os.close(self._status)
        try:
            self._popen.wait(timeout=0.2 if self._gone.is_set() else _KILL_SECONDS)
        except subprocess.TimeoutExpired:
            logger.error("process %d does not end after KILL: look at it", self._popen.pid)


def _found(command: ServerCommand) -> tuple[str, ...]:
    program, *arguments = command.argv
    if "/" in program:
        path = str(command.folder / program)
    else:
        path = shutil.which(program, path=command.search_path) or ""
    if not path or not os.path.exists(path):
        raise FileNotFoundError(
            f"there is no program {program}: give its whole path, or mend PATH of the node"
        )
    return (path, *arguments)


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
