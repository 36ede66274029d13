"""Follows a workstream's log without a gap, across connections that break."""

import time
from collections.abc import Callable, Iterator

from redshank_shared import clock
from redshank_shared.client.console import ConsoleClient
from redshank_shared.client.stream import Frame
from redshank_shared.domain.errors import Unavailable
from redshank_shared.domain.events import Recorded

FIRST_PAUSE_SECONDS = 0.2
LONGEST_PAUSE_SECONDS = 5.0


def follow(
    client: ConsoleClient,
    workstream_id: str,
    after: int,
    *,
    patience_seconds: float = 60.0,
    pause: Callable[[float], None] = time.sleep,
    monotonic: Callable[[], float] = clock.monotonic,
) -> Iterator[Frame]:
    """Every frame after a number, each fact once, for ever.

    A broken stream is taken up after the last number that came. Raises Unavailable when nothing
    came for `patience_seconds`; every other refusal at once.
    """
    heard, pause_seconds = monotonic(), FIRST_PAUSE_SECONDS
    while True:
        try:
            for frame in client.frames_once(workstream_id, after):
                heard, pause_seconds = monotonic(), FIRST_PAUSE_SECONDS
                if isinstance(frame, Recorded):
                    if frame.seq <= after:
                        continue
                    after = frame.seq
                yield frame
        except Unavailable:
            if monotonic() - heard > patience_seconds:
                raise
        pause(pause_seconds)
        pause_seconds = min(pause_seconds * 2, LONGEST_PAUSE_SECONDS)
