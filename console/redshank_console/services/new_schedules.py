"""Reads what a client asks to be scheduled."""

from datetime import datetime
from typing import assert_never

from redshank_shared.domain.cadence import Cadence, Cron, Interval, Once, exactly_one
from redshank_shared.domain.commands import CreateSchedule
from redshank_shared.domain.decide import MAX_TEXT_CHARACTERS, seconds_of
from redshank_shared.domain.due_events import WatchSpec
from redshank_shared.domain.errors import Invalid, RedshankError
from redshank_shared.wire.schedule_requests import (
    NewCron,
    NewInterval,
    NewOnce,
    NewSchedule,
    NewWatch,
)

_KINDS = ("once", "interval", "cron", "watch")


def creation(asked: NewSchedule, schedule_id: str, by: str, at: str) -> CreateSchedule:
    """The command that makes it, intervals counted from `at` (RFC 3339); Invalid unless exactly one
    cadence is given, its moment in a form that is understood.
    """
    kind = exactly_one({kind: getattr(asked, kind) for kind in _KINDS})
    if len(asked.message) > MAX_TEXT_CHARACTERS:
        raise Invalid(
            f"message has {len(asked.message)} characters, at most {MAX_TEXT_CHARACTERS} are "
            f"taken; put the rest in a file",
            code="text_too_long",
            field="message",
        )
    watch = asked.watch
    return CreateSchedule(
        schedule_id=schedule_id,
        name=asked.name.strip(),
        cadence=_cadence(getattr(asked, kind), seconds_of(at)),
        by=by,
        message=asked.message,
        watch=WatchSpec(watch.command, watch.stop_on, watch.max_polls) if watch else None,
        overlap=asked.overlap,
        misfire=asked.misfire,
        max_executions=asked.max_executions or 0,
    )


def blamed(refusal: RedshankError, asked: NewSchedule) -> RedshankError:
    """The refusal with its field as the body has it: `cron.expression` for `expression`,
    `workstream` for an id that is no workstream's.
    """
    field = refusal.field
    if refusal.code == "workstream_not_found":
        field = "workstream"
    for kind in _KINDS:
        given = getattr(asked, kind)
        if given is not None and field in type(given).model_fields:
            field = f"{kind}.{field}"
    return type(refusal)(refusal.detail, code=refusal.code, field=field)


def _cadence(given: NewOnce | NewInterval | NewCron | NewWatch, now: float) -> Cadence:
    match given:
        case NewOnce():
            return Once(_moment(given.at))
        case NewInterval():
            return Interval(given.every_seconds, now)
        case NewCron():
            return Cron(given.expression, given.timezone)
        case NewWatch():
            return Interval(given.poll_every, now)
        case _:
            assert_never(given)


def _moment(text: str) -> float:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError as error:
        raise _no_moment() from error
    if moment.tzinfo is None:
        raise _no_moment()
    return moment.timestamp()


def _no_moment() -> Invalid:
    return Invalid(
        "at must be a moment with its offset from UTC, as in 2026-11-30T09:00:00Z or "
        "2026-11-30T10:00:00+01:00",
        field="at",
    )
