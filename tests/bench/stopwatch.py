"""Times the stages of a turn from outside, without a word in the product about it."""

import functools
import inspect
import statistics
from collections import defaultdict
from collections.abc import Callable
from time import perf_counter
from typing import Any


class Stopwatch:
    """Wraps methods of objects and keeps how long each call took, in seconds, by stage."""

    def __init__(self) -> None:
        self.seconds: dict[str, list[float]] = defaultdict(list)

    def watch(self, owner: Any, method: str, stage: str) -> None:
        """From now on each call of `owner.method` counts for `stage`."""
        setattr(owner, method, self.timed(getattr(owner, method), stage))

    def timed(self, function: Callable[..., Any], stage: str) -> Callable[..., Any]:
        """The function, timed; a coroutine from its call to its end."""
        if inspect.iscoroutinefunction(function):

            @functools.wraps(function)
            async def awaited(*args: Any, **more: Any) -> Any:
                begin = perf_counter()
                try:
                    return await function(*args, **more)
                finally:
                    self.seconds[stage].append(perf_counter() - begin)

            return awaited

        @functools.wraps(function)
        def called(*args: Any, **more: Any) -> Any:
            begin = perf_counter()
            try:
                return function(*args, **more)
            finally:
                self.seconds[stage].append(perf_counter() - begin)

        return called

    def table(self, turns: int) -> list[str]:
        """A line a stage: calls a turn, median of one call, share of a turn, in milliseconds."""
        lines = [f"{'stage':44} {'calls/turn':>10} {'p50 ms':>8} {'ms/turn':>8}"]
        for stage, taken in self.seconds.items():
            median, each = statistics.median(taken) * 1000, sum(taken) / turns * 1000
            lines.append(f"{stage:44} {len(taken) / turns:10.1f} {median:8.2f} {each:8.2f}")
        return lines
