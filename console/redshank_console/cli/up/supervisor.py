"""Runs the stages of a start, then watches over all children until told to stop."""

import asyncio
import signal
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

from redshank_console.cli.up.child import ChildSpec
from redshank_console.cli.up.child_log import ChildLog
from redshank_console.cli.up.keeper import Keeper
from redshank_shared.domain.errors import Unavailable

LOG_PAUSE_SECONDS = 0.3
STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
Stages = Sequence[Sequence[ChildSpec]]


class Supervisor:
    """All children of one `redshank up`."""

    def __init__(self, logs: Path, say: Callable[[str], None]) -> None:
        self._logs = logs
        self._say = say
        self._stop = asyncio.Event()
        self.keepers: list[Keeper] = []

    async def run(self, stages: Stages, greet: Callable[[], Awaitable[None]]) -> None:
        """Start stage after stage, each when the one before is ready; greet; keep; stop in order.

        Returns when stopped by a signal or by `stop`; raises Unavailable when a child did not
        come up. Nothing runs when it ends.
        """
        loop = asyncio.get_running_loop()
        for number in STOP_SIGNALS:
            loop.add_signal_handler(number, self._on_signal)
        try:
            async with asyncio.TaskGroup() as owner:
                watching = owner.create_task(self._watch_logs())
                if await self._start(stages, owner):
                    await greet()
                    await self._stop.wait()
                await self._stop_all()
                watching.cancel()
        finally:
            for number in STOP_SIGNALS:
                loop.remove_signal_handler(number)
        failed = [keeper.failed for keeper in self.keepers if keeper.failed]
        if failed:
            raise Unavailable(failed[0], code="child_failed")

    def stop(self) -> None:
        """Begin to stop everything."""
        self._stop.set()

    def _on_signal(self) -> None:
        if self._stop.is_set():
            for keeper in self.keepers:
                keeper.hurry()
            return
        self._say("stopping; once more kills at once")
        self._stop.set()

    async def _start(self, stages: Stages, owner: asyncio.TaskGroup) -> bool:
        for stage in stages:
            runs = []
            for spec in stage:
                keeper = Keeper(spec, ChildLog(self._logs / f"{spec.name}.log"), self._say)
                self.keepers.append(keeper)
                runs.append((keeper, owner.create_task(keeper.run())))
            for keeper, run in runs:
                await self._settled(owner, keeper, run)
            if self._stop.is_set() or any(keeper.failed for keeper, _ in runs):
                return False
        return True

    async def _settled(
        self, owner: asyncio.TaskGroup, keeper: Keeper, run: asyncio.Task[None]
    ) -> None:
        waits = [owner.create_task(each.wait()) for each in (keeper.ready, self._stop)]
        await asyncio.wait((run, *waits), return_when=asyncio.FIRST_COMPLETED)
        for wait in waits:
            wait.cancel()

    async def _stop_all(self) -> None:
        for rank in sorted({keeper.spec.stop_rank for keeper in self.keepers}):
            async with asyncio.TaskGroup() as stops:
                for keeper in self.keepers:
                    if keeper.spec.stop_rank == rank:
                        stops.create_task(keeper.stop())

    async def _watch_logs(self) -> None:
        while True:
            await asyncio.sleep(LOG_PAUSE_SECONDS)
            for keeper in self.keepers:
                for warning in keeper.log.warnings():
                    self._say(f"{keeper.spec.name} {warning}")
                keeper.log.rotate()
