"""A schedule as tools show it."""

import msgspec

from redshank_shared.domain.cadence import Cadence
from redshank_shared.domain.due_events import WatchSpec


class Scheduled(msgspec.Struct, frozen=True):
    """A schedule as a tool shows it. `next_due`: seconds since 1970, None where nothing is due;
    `runs`: how often it came due; `last_output`: what a watch saw last, if it has polled.
    """

    schedule_id: str
    name: str
    kind: str
    state: str
    cadence: Cadence
    next_due: float | None
    runs: int
    message: str = ""
    watch: WatchSpec | None = None
    last_output: str | None = None
    detail: str = ""
