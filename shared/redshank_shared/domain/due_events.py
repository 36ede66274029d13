"""Facts about what will be due: schedules, runs, notifications."""

from typing import Literal

import msgspec

from redshank_shared.domain.cadence import Cadence
from redshank_shared.domain.fact import Fact

ScheduleState = Literal["active", "paused", "completed", "canceled"]
Overlap = Literal["skip", "queue_one", "parallel"]
Misfire = Literal["coalesce_once", "skip_missed"]


class WatchSpec(msgspec.Struct, frozen=True):
    """What a watch runs at each poll, when it fires (empty: when the output changes), after how
    many polls it gives up.
    """

    command: str
    stop_on: str = ""
    max_polls: int = 100


class ScheduleCreated(Fact, frozen=True, tag="schedule.created"):
    """Something will be due: a wake, a repeated message, a poll. `next_due`: seconds since 1970.

    `max_executions` 0 means no end. `target`: the workstream that reads the message, empty for this
    one (K-93).
    """

    schedule_id: str
    name: str
    cadence: Cadence
    next_due: float
    message: str = ""
    by: str = ""
    watch: WatchSpec | None = None
    overlap: Overlap = "skip"
    misfire: Misfire = "coalesce_once"
    max_executions: int = 0
    target: str = ""


class ScheduleChanged(Fact, frozen=True, tag="schedule.changed"):
    """A schedule was paused, resumed, triggered or came to its end.

    `cadence` where it goes on from another time, `next_due` None where nothing is due any more,
    `remaining` the seconds that a pause keeps.
    """

    schedule_id: str
    state: ScheduleState
    by: str
    cadence: Cadence | None = None
    next_due: float | None = None
    remaining: float = 0.0
    detail: str = ""


class ScheduleTriggered(Fact, frozen=True, tag="schedule.triggered"):
    """Somebody asked for a run beside the cadence, due at once (seconds since 1970)."""

    schedule_id: str
    run_id: str
    due_at: float
    by: str
    polls: bool = False


class ScheduleFired(Fact, frozen=True, tag="schedule.fired"):
    """The run that was due then (seconds since 1970) has spoken: the message that follows."""

    schedule_id: str
    run_id: str
    due_at: float


class NotificationRequested(Fact, frozen=True, tag="notification.requested"):
    """Somebody is to be told, outside: a person by name, or one channel. It lies in the outbox from
    here on.
    """

    delivery_id: str
    message: str
    title: str = ""
    username: str = ""
    channel_type: str = ""
    channel_id: str = ""


class NotificationSettled(Fact, frozen=True, tag="notification.settled"):
    """What became of it, in one word for each target; it is not tried again."""

    delivery_id: str
    sent: bool
    results: tuple[str, ...] = ()
    detail: str = ""
