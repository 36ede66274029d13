"""Keeps one child alive: starts it, starts it again when it dies, stops it."""

import asyncio
import signal
from collections.abc import Callable

from redshank_console.cli.up.child import ChildSpec, signal_group, start_child
from redshank_console.cli.up.child_log import ChildLog
from redshank_console.cli.up.readiness import is_ready
from redshank_shared.clock import monotonic
from redshank_shared.waiting import happened

FIRST_PAUSE_SECONDS = 0.2
LONGEST_PAUSE_SECONDS = 10.0
# A child that lived this long has recovered: its next death is answered without a long pause.
STEADY_SECONDS = 30.0
READY_SECONDS = 60.0
PROBE_PAUSE_SECONDS = 0.05
TOLD_LINES = 20
# As a shell says it.
CANNOT_START = 127


class Keeper:
    """One child's life. `ready` is set once it first was; `failed` says why it never will be."""

    def __init__(self, spec: ChildSpec, log: ChildLog, say: Callable[[str], None]) -> None:
        self.spec = spec
        self.log = log
        self.ready = asyncio.Event()
        self.failed: str | None = None
        self.starts = 0
        self._say = say
        self._stop = asyncio.Event()
        self._ended = asyncio.Event()
        self._process: asyncio.subprocess.Process | None = None

    async def run(self) -> None:
        """Live until stopped, or until `failed` is set."""
        pause = FIRST_PAUSE_SECONDS
        try:
            while not self._stop.is_set():
                began = monotonic()
                code = await self._live_once()
                if self._stop.is_set() or self._is_over(code):
                    break
                if monotonic() - began >= STEADY_SECONDS:
                    pause = FIRST_PAUSE_SECONDS
                self._say(
                    f"{self.spec.name} ended ({describe(code)}), starts again in {pause:.1f} s"
                )
                await happened(self._stop, pause)
                pause = min(pause * 2, LONGEST_PAUSE_SECONDS)
        finally:
            self._kill()
            self._ended.set()

    async def stop(self) -> None:
        """Ask the child to end, kill it when its time is over; returns when it is gone."""
        self._stop.set()
        if self._process is not None and self._process.returncode is None:
            signal_group(self._process, signal.SIGTERM)
            try:
                async with asyncio.timeout(self.spec.stop_seconds):
                    await self._process.wait()
            except TimeoutError:
                self._say(f"{self.spec.name} did not end in time: killed")
                self._kill()
        await self._ended.wait()

    def hurry(self) -> None:
        """Kill the child at once."""
        self._stop.set()
        self._kill()

    @property
    def pid(self) -> int | None:
        """The running child's process id."""
        return self._process.pid if self._process is not None else None

    async def _live_once(self) -> int:
        self.starts += 1
        try:
            self._process = await start_child(self.spec, self.log.path)
        except OSError as error:
            self._say(f"{self.spec.name} cannot be started: {error}")
            return CANNOT_START
        if self._stop.is_set():
            self._kill()
        async with asyncio.TaskGroup() as life:
            probing = life.create_task(self._probe_until_ready(self._process))
            code = await self._process.wait()
            probing.cancel()
        # What it left behind in its group goes with it.
        signal_group(self._process, signal.SIGKILL)
        return code

    async def _probe_until_ready(self, process: asyncio.subprocess.Process) -> None:
        if self.spec.ready is None or self.ready.is_set():
            return
        end = monotonic() + READY_SECONDS
        while not await is_ready(self.spec.ready):
            if monotonic() > end:
                self._say(f"{self.spec.name} was not ready in {READY_SECONDS:.0f} s")
                signal_group(process, signal.SIGKILL)
                return
            await asyncio.sleep(PROBE_PAUSE_SECONDS)
        self.ready.set()

    def _is_over(self, code: int) -> bool:
        if self.spec.ready is None and code == 0:
            self.ready.set()
            return True
        if self.ready.is_set():
            return False
        self.failed = (
            f"{self.spec.name} ended ({describe(code)}) before it was ready; "
            f"the end of {self.log.path}:\n{self.log.end(TOLD_LINES)}"
        )
        return True

    def _kill(self) -> None:
        if self._process is not None and self._process.returncode is None:
            signal_group(self._process, signal.SIGKILL)


def describe(code: int) -> str:
    """How a process ended, in words."""
    return f"exit code {code}" if code >= 0 else f"killed by {signal.Signals(-code).name}"
