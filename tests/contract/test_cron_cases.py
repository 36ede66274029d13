"""Cadences come due as each case of the table names."""

import pathlib
import time
import tomllib
from datetime import datetime
from typing import Any

import pytest

from redshank_shared.domain.cadence import (
    Cadence,
    Cron,
    Interval,
    Once,
    check,
    exactly_one,
    next_due,
)
from redshank_shared.domain.errors import Conflict, Invalid
from redshank_shared.domain.recurrence import Policy
from tests.contract.schedule_timeline import Timeline

_TABLE = tomllib.loads((pathlib.Path(__file__).parent / "cases" / "cron.toml").read_text())
_NOW = datetime.fromisoformat("2027-02-10T00:00:00Z").timestamp()
_LIMITS = {case["id"]: case for case in _TABLE["limit"]}


def _by_id(table: str) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("case", _TABLE[table], ids=lambda case: case["id"])


def _moments(texts: list[str]) -> list[float]:
    return [datetime.fromisoformat(text).timestamp() for text in texts]


@pytest.mark.req("K-87", "K-88", "O23")
@_by_id("cron")
def test_a_cron_fires_when_its_case_says(case: dict[str, Any]) -> None:
    cadence = Cron(case["expression"], case["timezone"])
    moment = datetime.fromisoformat(case["after"]).timestamp()
    check(cadence, moment)
    fires: list[float] = []
    for _ in case["fires"]:
        due = next_due(cadence, moment)
        assert due is not None
        fires.append(due)
        moment = due

    assert fires == _moments(case["fires"]), case["why"]


@pytest.mark.req("K-87")
@_by_id("refused")
def test_what_no_cron_may_be_is_refused_at_once_with_field_and_reason(case: dict[str, Any]) -> None:
    began = time.process_time()
    with pytest.raises(Invalid) as refusal:
        check(Cron(case["expression"], case["timezone"]), _NOW)

    assert time.process_time() - began < 0.5
    assert refusal.value.field == ("timezone" if "zone" in case["why"] else "expression")
    assert refusal.value.detail


def _cadence(case: dict[str, Any], zone: str, born: float) -> Cadence:
    kind, _, rest = case["cadence"].partition(" ")
    match kind:
        case "once":
            return Once(born + float(rest))
        case "interval":
            return Interval(int(rest), born)
        case _:
            return Cron(rest, zone)


@pytest.mark.req("K-86", "K-89", "K-90")
@_by_id("timeline")
def test_a_schedule_runs_along_its_timeline(case: dict[str, Any]) -> None:
    events = [event.split() for event in case["events"]]
    told = {event[0]: event[1] for event in events}
    born = datetime.fromisoformat(told["start"]).timestamp() if "start" in told else _NOW
    cadence = _cadence(case, told.get("zone", "UTC"), born)
    policy = Policy(overlap=case.get("overlap", "skip"))
    timeline = Timeline(cadence, policy, born, case.get("run_seconds", 0))
    for name, moment in events:
        if name not in ("start", "zone"):
            timeline.go_on_to(born + float(moment))
            timeline.meet(name)

    assert [due - born for due in timeline.started] == case["fires"], case["why"]
    assert [due - born for due in timeline.skipped] == case.get("skipped", []), case["why"]


@pytest.mark.req("K-90")
def test_the_refusal_to_resume_what_was_canceled_says_that_it_is_final() -> None:
    timeline = Timeline(Interval(60, _NOW), Policy(), _NOW, 0)
    timeline.meet("cancel")
    timeline.meet("resume")

    assert isinstance(timeline.refusals[-1], Conflict)
    assert "final" in timeline.refusals[-1].detail


@pytest.mark.req("K-86")
def test_an_interval_of_four_seconds_is_refused_as_t80_names() -> None:
    with pytest.raises(Invalid, match=_LIMITS["T80"]["expect"]) as refusal:
        check(Interval(4, _NOW), _NOW)

    assert refusal.value.field == "every_seconds"


@pytest.mark.req("K-86")
def test_an_interval_of_five_seconds_is_accepted_as_t81_names() -> None:
    check(Interval(5, _NOW), _NOW)

    assert next_due(Interval(5, _NOW), _NOW) == _NOW + 5


@pytest.mark.req("K-86")
@pytest.mark.parametrize("given", [{}, {"once": 1, "cron": 2}])
def test_none_or_several_cadences_are_refused_as_t83_names(given: dict[str, object]) -> None:
    with pytest.raises(Invalid, match=_LIMITS["T83"]["expect"]) as refusal:
        exactly_one({"once": None, "interval": None, "cron": None} | given)

    assert refusal.value.field == "cadence"
