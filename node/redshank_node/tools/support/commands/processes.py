"""Runs a command so that it ends in time, leaving nothing behind.

Each command gets a supervisor process of its own (`supervisor.py`), a bare interpreter: measured,
9 ms of one core beside the 1 ms of a shell alone (20 ms with the usual imports). A spawner that is
forked once would save most of that and be one more process to keep alive, to restart and to hand
descriptors to; a model takes a hundred times as long to ask.
"""

import asyncio
import contextlib
import functools
import logging
import os
import pathlib
import signal
import subprocess
import time
from collections.abc import AsyncIterator, Callable

import msgspec

from redshank_node.tools.support.commands.latest_lines import LatestLines
from redshank_node.tools.support.commands.output import GatheredOutput, Stream
from redshank_node.tools.support.commands.supervised import pipe, supervised
from redshank_shared.waiting import happened

_logger = logging.getLogger(__name__)
_READ_BYTES = 65536
_EMIT_SECONDS = 0.05
_EMIT_CHARACTERS = 16384
_TERMINATE_SECONDS = 1.0
_KILL_SECONDS = 2.0
_DRAIN_SECONDS = 0.5
_SHORT_WAITS = 10
_SHORT_WAIT_SECONDS = 0.00005


class Command(msgspec.Struct, frozen=True):
    """What to run. `folder` is a path or an open descriptor's number.

    `stdin` a descriptor, nothing to read without.

    `confine` puts the argv behind a sandbox's own, where there is one.

    `leftover_grace_seconds` is what processes left behind get to end by themselves once the command
    itself has ended; `stop_when_full` ends the command when it has written more than
    `max_output_bytes`.
    """

    argv: tuple[str, ...]
    folder: pathlib.Path | int
    environment: dict[str, str]
    timeout_seconds: float
    max_output_bytes: int
    stdin: int | None = None
    leftover_grace_seconds: float = 0.2
    stop_when_full: bool = False
    confine: Callable[[tuple[str, ...]], tuple[str, ...]] | None = None


class Ended(msgspec.Struct, frozen=True):
    """How a command ended. `code` is negative for a signal, None where it never reported one.

    `leftovers` what was stopped.
    """

    code: int | None
    timed_out: bool
    output: GatheredOutput
    leftovers: tuple[str, ...] = ()
    leftover_count: int = 0


async def run_command(
    command: Command, emit: Callable[[str], None], output: GatheredOutput | None = None
) -> Ended:
    """Run to the end of the command and of all that it started.

    Never longer than its timeout plus a few seconds. What it writes goes into `output`, where one
    is given.

    Returns soon after the command itself has ended, whatever still holds its output open (F14);
    what it left running is stopped. At the timeout the whole tree gets TERM and a second later
    KILL. When the task is cancelled the tree is killed before the cancellation goes on; when the
    node dies in any way the tree dies too (F11, F24). Raises OSError where the command cannot be
    started.
    """
    async with _started(command, emit, output) as process:
        timed_out = not await process.ends_within(command.timeout_seconds)
        if timed_out:
            process.order(b"T")
            if not await process.ends_within(_TERMINATE_SECONDS):
                process.order(b"K")
                await process.ends_within(_KILL_SECONDS)
        await process.drained_within(_DRAIN_SECONDS)
        process.finish()
        if process.start_errno:
            raise OSError(process.start_errno, os.strerror(process.start_errno), command.argv[0])
        return Ended(
            process.code,
            timed_out,
            process.output,
            tuple(process.leftovers),
            process.leftover_count,
        )


@contextlib.asynccontextmanager
async def _started(
    command: Command, emit: Callable[[str], None], output: GatheredOutput | None
) -> AsyncIterator["_Process"]:
    process = _Process(command, emit, output or GatheredOutput(command.max_output_bytes))
    try:
        yield process
    except asyncio.CancelledError:
        process.order(b"K")
        await process.ends_within(_KILL_SECONDS)
        raise
    finally:
        process.close()


class _Process:
    """A supervisor at work, its pipes read as they fill."""

    def __init__(
        self, command: Command, emit: Callable[[str], None], output: GatheredOutput
    ) -> None:
        self.output = output
        self.code: int | None = None
        self.start_errno = 0
        self.leftovers: list[str] = []
        self.leftover_count = 0
        self._emitter = _Emitter(emit)
        self._stop_when_full = command.stop_when_full
        self._shell = 0
        self._said = b""
        self._over = asyncio.Event()
        self._drained = asyncio.Event()
        self._readers: dict[int, Stream | None] = {}
        self._loop = asyncio.get_running_loop()
        self._start(command)

    def _start(self, command: Command) -> None:
        with contextlib.ExitStack() as theirs:
            control, self._control = pipe(theirs, read_is_theirs=True)
            ours = {}
            for name in ("status", "stdout", "stderr"):
                write, read = pipe(theirs, read_is_theirs=False)
                ours[name] = (write, read)
            folder = command.folder
            try:
                # Not in a thread: a parent-death signal comes when the thread that forked ends.
                self._popen = subprocess.Popen(
                    _supervised(command, control, ours["status"][0]),
                    stdin=subprocess.DEVNULL if command.stdin is None else command.stdin,
                    stdout=ours["stdout"][0],
                    stderr=ours["stderr"][0],
                    cwd=f"/proc/self/fd/{folder}" if isinstance(folder, int) else folder,
                    env=command.environment,
                    pass_fds=(control, ours["status"][0]),
                    start_new_session=True,
                )
            except OSError:
                for descriptor in (self._control, *(read for _, read in ours.values())):
                    os.close(descriptor)
                raise
        self._status = ours["status"][1]
        streams: tuple[Stream, ...] = ("stdout", "stderr")
        for stream in streams:
            self._watch(ours[stream][1], stream)
        self._watch(self._status, None)

    def _watch(self, descriptor: int, stream: Stream | None) -> None:
        os.set_blocking(descriptor, False)
        self._readers[descriptor] = stream
        self._loop.add_reader(descriptor, functools.partial(self._read, descriptor))

    def _unwatch(self, descriptor: int) -> None:
        self._loop.remove_reader(descriptor)
        del self._readers[descriptor]
        os.close(descriptor)

    def _read(self, descriptor: int) -> None:
        try:
            data = os.read(descriptor, _READ_BYTES)
        except BlockingIOError:
            return
        stream = self._readers[descriptor]
        if stream is None:
            self._hear(data)
        else:
            self._emitter.add(self.output.feed(stream, data, last=not data))
            if self._stop_when_full and self.output.overflows():
                self.order(b"K")
        if not data:
            self._unwatch(descriptor)
            if stream is None:
                self._over.set()
            if not any(self._readers.values()):
                self._drained.set()

    def _hear(self, data: bytes) -> None:
        *lines, self._said = (self._said + data).split(b"\n")
        for line in lines:
            word, _, rest = line.decode(errors="replace").partition(" ")
            match word:
                case "started":
                    self._shell = int(rest)
                case "ended":
                    self.code = int(rest)
                case "failed":
                    self.start_errno = int(rest)
                case "left":
                    self.leftovers.append(rest)
                case "lefts":
                    self.leftover_count = int(rest)

    def order(self, order: bytes) -> None:
        """Tell the supervisor to end the tree: `T` asks, `K` kills."""
        with contextlib.suppress(BrokenPipeError):
            os.write(self._control, order)
        # A command can stop its supervisor; this wakes it.
        self._popen.send_signal(signal.SIGCONT)

    async def ends_within(self, seconds: float) -> bool:
        return await happened(self._over, seconds)

    async def drained_within(self, seconds: float) -> None:
        # A process outside the tree can hold the pipe, if it was handed there: then this is all
        # that is waited.
        await happened(self._drained, seconds)

    def finish(self) -> None:
        """Take over what stands in unfinished lines."""
        for stream in [stream for stream in self._readers.values() if stream is not None]:
            self._emitter.add(self.output.feed(stream, b"", last=True))
        self._emitter.flush()

    def close(self) -> None:
        """Let go of everything; a tree that is still there dies of it."""
        os.close(self._control)
        for descriptor in tuple(self._readers):
            self._unwatch(descriptor)
        self._emitter.stop()
        if self.code is None or not self._over.is_set():
            self._end_supervisor()
        for _ in range(_SHORT_WAITS):
            # It has closed its pipes and is about to be gone; the usual wait begins with 1 ms.
            if self._popen.poll() is not None:
                return
            time.sleep(_SHORT_WAIT_SECONDS)
        try:
            self._popen.wait(timeout=1)
        except subprocess.TimeoutExpired:
            _logger.error(
                "process %d does not end after KILL; look at what it waits for", self._popen.pid
            )

    def _end_supervisor(self) -> None:
        self._popen.kill()
        if self._shell:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._shell, signal.SIGKILL)


class _Emitter:
    """Hands text to watchers at most every 50 ms, the latest where too much came (T-17)."""

    def __init__(self, emit: Callable[[str], None]) -> None:
        self._emit = emit
        self._loop = asyncio.get_running_loop()
        self._pending = LatestLines(_EMIT_CHARACTERS)
        self._not_before = 0.0
        self._timer: asyncio.TimerHandle | None = None

    def add(self, text: str) -> None:
        if not text:
            return
        self._pending.add(text)
        if self._timer is None:
            self._timer = self._loop.call_at(max(self._not_before, self._loop.time()), self.flush)

    def flush(self) -> None:
        self.stop()
        if self._pending:
            self._not_before = self._loop.time() + _EMIT_SECONDS
            self._emit(self._pending.take())

    def stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


def _supervised(command: Command, control: int, status: int) -> list[str]:
    argv = command.argv if command.confine is None else command.confine(command.argv)
    locale = command.environment.get("LC_CTYPE", "")
    return supervised(argv, control, status, command.leftover_grace_seconds, locale)
