"""PostgreSQL without threads: synchronous work that lets the event loop go on while it waits."""

import asyncio
import contextvars
import select
from collections.abc import Awaitable, Callable
from typing import Any, ParamSpec, TypeVar

import greenlet
import psycopg
from psycopg.abc import PQGen
from psycopg.waiting import Ready, Wait, wait_async

from redshank_shared.clock import monotonic

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")

# How often a wait looks up although nothing came: there is nothing to see then.
_LOOK_SECONDS = 60.0
# To wait in place costs a fifth of a millisecond less than a trip through the loop. Worth it while
# the database answers at once, nobody else waits; not beside other work, nor over a network.
_IN_PLACE_MS = 2
_AT_ONCE_SECONDS = 0.001
_WEIGHT = 0.1
_FORGETTING = 0.98
_POLLED = (0, select.POLLIN, select.POLLOUT, select.POLLIN | select.POLLOUT)
_READY = (Ready.NONE, Ready.R, Ready.W, Ready.RW)


_unfinished: set["asyncio.Task[Any]"] = set()


class _Work(greenlet.greenlet):
    """Work that was begun by `run` and can wait for an awaitable."""

    under_way = 0
    usual_seconds = 0.0


async def run(
    work: Callable[Arguments, Result], *args: Arguments.args, **kwargs: Arguments.kwargs
) -> Result:
    """Do the work in this thread; while its connection waits, the loop goes on.

    When the caller is cancelled the work goes on to its end, as it would in a thread.
    """
    doing = _Work(_counted)
    doing.gr_context = contextvars.copy_context()
    reached = doing.switch(work, *args, **kwargs)
    if doing.dead:
        return reached  # type: ignore[no-any-return] # what `work` returned
    rest = asyncio.ensure_future(_rest(doing, reached))
    _unfinished.add(rest)
    rest.add_done_callback(_unfinished.discard)
    return await asyncio.shield(rest)


async def settled(within_seconds: float) -> None:
    """Return when no work of this loop is under way, after so many seconds at the latest: work that
    outlives its caller would lose its connection with the loop.
    """
    loop = asyncio.get_running_loop()
    own = [rest for rest in _unfinished if rest.get_loop() is loop]
    if own:
        await asyncio.wait(own, timeout=within_seconds)


def _counted(
    work: Callable[Arguments, Result], *args: Arguments.args, **kwargs: Arguments.kwargs
) -> Result:
    _Work.under_way += 1
    try:
        return work(*args, **kwargs)
    finally:
        _Work.under_way -= 1


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
        socket = self.pgconn.socket
        if _Work.under_way > 1 or not _answers_at_once():
            return wait_for(wait_async(gen, socket, _LOOK_SECONDS))
        begin = monotonic()
        try:
            wanted = next(gen)
            while ready := _ready_in_place(socket, wanted):
                wanted = gen.send(ready)
        except StopIteration as end:
            return end.value  # type: ignore[no-any-return] # what the statement led to
        finally:
            _Work.usual_seconds += _WEIGHT * (monotonic() - begin - _Work.usual_seconds)
        return wait_for(wait_async(_going_on(gen, wanted), socket, _LOOK_SECONDS))


def _answers_at_once() -> bool:
    """As of late; after a while in which it did not, it is tried anew."""
    if _Work.usual_seconds < _AT_ONCE_SECONDS:
        return True
    _Work.usual_seconds *= _FORGETTING
    return False


def _ready_in_place(socket: int, wanted: Wait) -> Ready:
    # select would refuse a socket whose number is above 1023.
    poll = select.poll()
    poll.register(socket, _POLLED[wanted])
    for _, seen in poll.poll(_IN_PLACE_MS):
        failed = seen & ~(select.POLLIN | select.POLLOUT)
        readable, writable = failed or seen & select.POLLIN, failed or seen & select.POLLOUT
        return _READY[bool(readable) + 2 * bool(writable)]
    return Ready.NONE


def _going_on(gen: PQGen[Result], wanted: Wait) -> PQGen[Result]:
    """The rest of a generator that waits for this already."""
    try:
        while True:
            wanted = gen.send((yield wanted))
    except StopIteration as end:
        return end.value  # type: ignore[no-any-return] # what the statement led to
