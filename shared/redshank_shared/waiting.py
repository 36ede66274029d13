"""Waits for an event, but not for ever."""

import asyncio


async def happened(event: asyncio.Event, within_seconds: float) -> bool:
    """Return as soon as the event is set, after so many seconds at the latest; whether it is.

    Unlike `asyncio.wait_for` of Python 3.11 it never forgets a cancel.
    """
    try:
        async with asyncio.timeout(within_seconds):
            await event.wait()
    except TimeoutError:
        return event.is_set()
    return True
