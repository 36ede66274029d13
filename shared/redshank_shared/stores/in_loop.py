"""PostgreSQL without threads: synchronous work that lets the event loop go on while it waits."""

import asyncio
import contextvars
from collections.abc import Awaitable, Callable
from typing import Any, ParamSpec, TypeVar

import greenlet
import psycopg
from psycopg.abc import PQGen
from psycopg.waiting import wait_async

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")

# How often a wait looks up although nothing came: there is nothing to see then.
_LOOK_SECONDS = 60.0


class _Work(greenlet.greenlet):
    """Work that was begun by `run` and can wait for an awaitable."""


async def run(
    work: Callable[Arguments, Result], *args: Arguments.args, **kwargs: Arguments.kwargs
) -> Result:
    """Do the work in this thread; while its connection waits, the loop goes on.

    When the caller is cancelled the work goes on to its end, as it would in a thread.
    """
    doing = _Work(work)
    doing.gr_context = contextvars.copy_context()
    reached = doing.switch(*args, **kwargs)
    if doing.dead:
        return reached  # type: ignore[no-any-return] # what `work` returned
    return await asyncio.shield(asyncio.ensure_future(_rest(doing, reached)))


async def _rest(doing: _Work, reached: Any) -> Any:
    while not doing.dead:
        try:
            value = await reached
        except BaseException as error:  # noqa: BLE001 - raised where the work waits
            reached = doing.throw(error)
        else:
            reached = doing.switch(value)
    return reached


def is_within() -> bool:
    """Whether the caller is work that `run` began."""
    return isinstance(greenlet.getcurrent(), _Work)


def in_thread(work: Callable[[], Result]) -> Result:
    """Called by work that `run` began: the result of what cannot but block."""
    return wait_for(asyncio.get_running_loop().run_in_executor(None, work))


def wait_for(awaitable: Awaitable[Result]) -> Result:
    """Called by work that `run` began: its result, while the loop goes on."""
    parent = greenlet.getcurrent().parent
    assert parent is not None
    return parent.switch(awaitable)  # type: ignore[no-any-return] # `_rest` sends it


class Connection(psycopg.Connection[Any]):
    """A connection whose statements let the loop go on, where the work came through `run`."""

    def wait(
        self, gen: PQGen[Result], interval: float = 0.1, timeout: float | None = None
    ) -> Result:
        """Carry a statement to its end."""
        if timeout is not None or not is_within():
            return super().wait(gen, interval, timeout)
        return wait_for(wait_async(gen, self.pgconn.socket, _LOOK_SECONDS))
