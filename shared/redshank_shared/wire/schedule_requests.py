"""Bodies that HTTP clients send to make schedules."""

from typing import Annotated

from pydantic import Field

from redshank_shared.domain.due_events import (
    Misfire,
    Overlap,
)
from redshank_shared.wire.requests import Body, Text, Word

LONGEST_COMMAND = 100_000
LONGEST_EXPRESSION = 10_000
MOST_EXECUTIONS = 2**31 - 1

Expression = Annotated[Text, Field(max_length=LONGEST_EXPRESSION)]
CommandLine = Annotated[Text, Field(max_length=LONGEST_COMMAND)]


class NewOnce(Body):
    """One moment, RFC 3339 with its offset; one that is past is due now (K-86)."""

    at: Word


class NewInterval(Body):
    """Every so many seconds, first one interval from now."""

    every_seconds: int


class NewCron(Body):
    """Whenever the expression matches the local time of the IANA zone."""

    expression: Expression
    timezone: Word = "UTC"


class NewWatch(Body):
    """A command to run every `poll_every` seconds, until `stop_on` holds (empty: until its output
    changes) or `max_polls` are through.
    """

    command: CommandLine
    poll_every: int
    stop_on: Expression = ""
    max_polls: int = 100


class NewSchedule(Body):
    """A schedule of a workstream: exactly one of `once`, `interval`, `cron`, `watch`."""

    workstream: Word
    name: Word
    message: Text = ""
    once: NewOnce | None = None
    interval: NewInterval | None = None
    cron: NewCron | None = None
    watch: NewWatch | None = None
    overlap: Overlap = "skip"
    misfire: Misfire = "coalesce_once"
    max_executions: Annotated[int, Field(ge=1, le=MOST_EXECUTIONS)] | None = None
