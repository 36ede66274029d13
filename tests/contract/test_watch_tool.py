"""The tool `watch`, as a call runs it: what it refuses, what it asks the log for."""

from typing import Any

import pytest

from redshank_node.tools.tool import BadArguments, Result
from redshank_shared.domain.cadence import Interval
from redshank_shared.domain.commands import ChangeSchedule, CreateSchedule
from redshank_shared.domain.due_events import WatchSpec
from tests.contract.schedule_calls import (
    NOW,
    SCHEDULE,
    call,
    created,
    prepared,
    scheduled,
    watching,
)

WATCH = {"action": "create", "name": "pr", "command": "gh pr view 7 --json state"}


@pytest.mark.req("T-50")
async def test_a_watch_polls_every_five_minutes_a_hundred_times_until_the_output_changes() -> None:
    made = await created("watch", **WATCH)
    assert made == CreateSchedule(
        SCHEDULE,
        "pr",
        Interval(300, NOW),
        "agent",
        watch=WatchSpec("gh pr view 7 --json state", "", 100),
    )


@pytest.mark.req("T-50")
async def test_interval_condition_and_number_of_polls_may_be_given() -> None:
    until = 'data["state"] == "MERGED"'
    made = await created("watch", **WATCH, poll_every="10s", stop_on=until, max_polls=7)
    assert made.cadence == Interval(10, NOW)
    assert made.watch == WatchSpec("gh pr view 7 --json state", until, 7)


@pytest.mark.req("T-50")
def test_a_person_sees_the_command_the_interval_the_condition() -> None:
    shown = prepared("watch", **WATCH, poll_every="90s", stop_on="exit_code != 0").preview
    assert shown.title == "watch pr every 1m30s until exit_code != 0"
    assert (shown.kind, shown.body) == ("command", "gh pr view 7 --json state")


@pytest.mark.req("T-50")
@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"poll_every": "9s"}, "poll_every must be from 10s to 24h, not '9s'"),
        ({"poll_every": "25h"}, "poll_every must be from 10s to 24h, not '25h'"),
        ({"poll_every": "often"}, "poll_every must be a duration"),
        ({"max_polls": 0}, "max_polls must be between 1 and 10000, not 0"),
        ({"name": " "}, "name is required to create a watch"),
        ({"command": None}, "command is required to create a watch"),
        ({"command": "rm -rf /"}, "command is refused"),
        ({"command": "a\0"}, "command holds a NUL at character 1"),
        ({"action": "stop"}, "action must be one of create, list, cancel, not stop"),
    ],
)
def test_what_no_watch_can_be_is_refused_before_anyone_is_asked(
    more: dict[str, Any], said: str
) -> None:
    with pytest.raises(BadArguments, match=said):
        prepared("watch", **{**WATCH, **more})


@pytest.mark.req("T-51")
@pytest.mark.fault("F36")
@pytest.mark.parametrize(
    ("condition", "column"),
    [
        ("output ==", 10),
        ('"x" in output and import os', 19),
        ("().__class__.__bases__", 14),
        ("open('/etc/passwd')", 1),
    ],
)
def test_a_condition_that_is_none_is_refused_with_its_column(condition: str, column: int) -> None:
    with pytest.raises(BadArguments, match=rf"stop_on.*column {column}\b"):
        prepared("watch", **WATCH, stop_on=condition)


@pytest.mark.req("T-50")
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"action": "list", "command": "ls"}, "command goes with action create"),
        ({"action": "cancel", "name": "x", "stop_on": "changed"}, "stop_on goes with"),
        ({"action": "cancel"}, "name is required to cancel"),
    ],
)
def test_list_and_cancel_take_nothing_of_create(arguments: dict[str, Any], said: str) -> None:
    with pytest.raises(BadArguments, match=said):
        prepared("watch", **arguments)


@pytest.mark.req("T-50")
async def test_a_list_shows_the_watches_alone() -> None:
    there = [watching("pr"), scheduled("tick"), watching("old", state="completed")]
    result = await call("watch", *there, action="list")
    assert [line.split()[1] for line in result.output.splitlines()] == ["pr:"]
    assert await call("watch", action="list") == Result("[no watch]")


@pytest.mark.req("T-50")
@pytest.mark.parametrize("reference", ["pr", "sch_00000000000000000000pr", "sch_0"])
async def test_a_watch_is_cancelled_by_its_name_its_id_or_its_beginning(reference: str) -> None:
    result = await call("watch", watching("pr"), scheduled("x"), action="cancel", name=reference)
    assert result.command == ChangeSchedule("sch_00000000000000000000pr", "cancel", "agent")


@pytest.mark.req("T-50")
@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("tick", "name: no watch is called tick; there are: a, b"),
        ("sch_0", "name: several watches begin with sch_0; there are: a, b"),
    ],
)
async def test_cancelling_what_is_no_watch_changes_nothing(name: str, said: str) -> None:
    there = [watching("a"), watching("b"), scheduled("tick")]
    result = await call("watch", *there, action="cancel", name=name)
    assert result == Result(said, is_error=True, outcome="error")
