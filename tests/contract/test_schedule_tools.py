"""The tools about schedules, as a call runs them: what they refuse, what they ask for."""

from typing import Any

import pytest

from redshank_node.tools.catalog import BUILTIN
from redshank_node.tools.tool import BadArguments, Result
from redshank_shared.domain.cadence import Cron, Interval, Once
from redshank_shared.domain.commands import ChangeSchedule, CreateSchedule
from tests.contract.schedule_calls import (
    NOW,
    ONE_SHOT,
    SCHEDULE,
    WORKSTREAM,
    call,
    created,
    prepared,
    scheduled,
    watching,
)

EVERY_HOUR = {"name": "tick", "message": "tick", "interval": {"every_seconds": 3600}}


def test_the_tools_about_time_are_those_of_the_documents() -> None:
    names = {tool.name for tool in BUILTIN}
    assert names >= {
        "wake_after",
        "wake_at",
        "schedule_create",
        "schedule_list",
        "schedule_get",
        "schedule_pause",
        "schedule_resume",
        "schedule_cancel",
        "schedule_trigger_now",
        "watch",
    }


@pytest.mark.req("K-82")
def test_all_but_a_watch_may_run_beside_others() -> None:
    about_time = [tool for tool in BUILTIN if tool.name.startswith(("wake_", "schedule_", "watch"))]
    assert {tool.name for tool in about_time if not tool.parallel} == {"watch"}


class TestWake:
    @pytest.mark.req("K-22")
    async def test_wake_after_is_due_once_after_the_delay(self) -> None:
        made = await created("wake_after", delay="1h30m", message="look at the build")
        assert made == CreateSchedule(
            SCHEDULE,
            f"wake-{SCHEDULE[4:]}",
            Once(NOW + 5400),
            "agent",
            "look at the build",
        )

    @pytest.mark.req("K-22")
    async def test_wake_at_is_due_once_at_the_moment(self) -> None:
        made = await created(
            "wake_at", at="2026-11-30T10:00:00+01:00", message="stand up", name="standup"
        )
        assert made == CreateSchedule(SCHEDULE, "standup", Once(NOW + 3600), "agent", "stand up")

    @pytest.mark.req("K-22")
    @pytest.mark.parametrize("at", ["2026-11-30T08:00:00Z", "2026-11-30T07:59:59Z"])
    async def test_a_moment_that_has_passed_is_refused_with_the_time_it_is(self, at: str) -> None:
        result = await call("wake_at", at=at, message="late")
        assert result.is_error
        assert result.command is None
        assert result.output.startswith("at: 2026-11-30T")
        assert "has passed, it is 2026-11-30T08:00:00.000Z; give a time to come" in result.output

    @pytest.mark.req("K-93")
    @pytest.mark.parametrize(
        "target",
        [
            {},
            {"target": "self"},
            {"target": "session"},
            {"target": "session", "target_id": WORKSTREAM},
            {"target": "agent", "target_id": WORKSTREAM},
        ],
    )
    async def test_a_workstream_may_wake_itself(self, target: dict[str, str]) -> None:
        await created("wake_after", delay="5m", message="x", **target)

    @pytest.mark.req("K-93")
    @pytest.mark.parametrize("tool", ["wake_after", "schedule_create"])
    @pytest.mark.parametrize(
        "target",
        [
            {"target": "parent"},
            {"target": "parent", "target_id": "ws_parent"},
            {"target": "agent", "target_id": "ws_parent"},
        ],
    )
    async def test_a_child_may_wake_its_parent(self, tool: str, target: dict[str, str]) -> None:
        when: dict[str, dict[str, Any]] = {
            "wake_after": {"delay": "5m"},
            "schedule_create": {"name": "x", "interval": {"every_seconds": 60}},
        }
        result = await call(tool, parent="ws_parent", message="x", **when[tool], **target)
        assert isinstance(result.command, CreateSchedule)
        assert result.command.target == "ws_parent"

    @pytest.mark.req("K-93")
    async def test_a_child_may_wake_no_other_by_the_word_parent(self) -> None:
        result = await call(
            "wake_after",
            parent="ws_parent",
            message="x",
            delay="5m",
            target="parent",
            target_id="ws_other",
        )
        assert (result.is_error, result.command) == (True, None)
        assert result.output.startswith("target_id: ws_other is not this")

    @pytest.mark.req("K-93")
    @pytest.mark.parametrize("tool", ["wake_after", "wake_at", "schedule_create"])
    @pytest.mark.parametrize(
        ("target", "said"),
        [
            ({"target": "parent"}, "target: this workstream has no parent"),
            ({"target": "session", "target_id": "ws_other"}, "target_id: ws_other is not this"),
            ({"target": "agent", "target_id": "ws_other"}, "target_id: ws_other is not this"),
        ],
    )
    async def test_a_workstream_may_wake_no_stranger(
        self, tool: str, target: dict[str, Any], said: str
    ) -> None:
        when: dict[str, dict[str, Any]] = {
            "wake_after": {"delay": "5m"},
            "wake_at": {"at": "2027-01-01T00:00:00Z"},
            "schedule_create": {"name": "x", "interval": {"every_seconds": 60}},
        }
        result = await call(tool, message="x", **when[tool], **target)
        assert result.is_error
        assert result.command is None
        assert result.output.startswith(said)

    @pytest.mark.req("K-22")
    @pytest.mark.parametrize(
        ("tool", "arguments", "said"),
        [
            ("wake_after", {"delay": "soon"}, "delay must be a duration"),
            ("wake_after", {"delay": "0s"}, "delay must be from 1s to 366d"),
            ("wake_after", {"delay": 5}, "delay must be a string, not the number 5"),
            ("wake_after", {"delay": "5m", "message": " "}, "message is empty; write something"),
            ("wake_after", {"delay": "5m", "message": "a\0"}, "message holds a NUL at character 1"),
            ("wake_after", {"delay": "5m", "name": "\ud800"}, "name holds half of a surrogate"),
            ("wake_after", {"delay": "5m", "name": " "}, "name is empty"),
            ("wake_after", {"delay": "5m", "target": "boss"}, "target must be one of self, parent"),
            ("wake_after", {}, "delay is required"),
            ("wake_at", {"at": "2027-01-31T09:00:00"}, "at lacks its offset"),
        ],
    )
    def test_what_cannot_be_meant_is_refused_with_the_argument(
        self, tool: str, arguments: dict[str, Any], said: str
    ) -> None:
        with pytest.raises(BadArguments, match=said):
            prepared(tool, **{"message": "x", **arguments})


class TestCreate:
    @pytest.mark.req("K-23", "K-86", "K-89", "K-91")
    @pytest.mark.parametrize(
        ("given", "cadence"),
        [
            ({"once": {"at": "2026-11-30T09:00:00Z"}}, Once(NOW + 3600)),
            ({"once": {"at": "2020-01-01T00:00:00Z"}}, Once(1_577_836_800.0)),
            ({"interval": {"every_seconds": 5}}, Interval(5, NOW)),
            ({"cron": {"expression": "0 3 * * *"}}, Cron("0 3 * * *", "UTC")),
            (
                {"cron": {"expression": "30 0 3 * * 2", "timezone": "Europe/Berlin"}},
                Cron("30 0 3 * * 2", "Europe/Berlin"),
            ),
        ],
    )
    async def test_one_cadence_with_its_policies_is_asked_for(
        self, given: dict[str, Any], cadence: Once | Interval | Cron
    ) -> None:
        policies = {"overlap": "queue_one", "misfire": "skip_missed", "max_executions": 3}
        made = await created("schedule_create", name="n", message="m", **given, **policies)
        assert made == CreateSchedule(
            SCHEDULE, "n", cadence, "agent", "m", None, "queue_one", "skip_missed", 3
        )

    @pytest.mark.req("K-89", "K-91")
    async def test_the_policies_left_out_are_those_of_the_document(self) -> None:
        made = await created("schedule_create", **EVERY_HOUR)
        assert (made.overlap, made.misfire, made.max_executions) == ("skip", "coalesce_once", 0)

    @pytest.mark.req("K-86", "K-87", "K-88")
    @pytest.mark.parametrize(
        ("cadence", "said"),
        [
            ({}, "give exactly one cadence of once, interval, cron; got none"),
            (
                {"interval": {"every_seconds": 60}, "once": {"at": "2027-01-01T00:00:00Z"}},
                "got once and interval",
            ),
            (
                {"interval": {"every_seconds": 4}},
                "interval.every_seconds must be between 5 and 31622400, not 4",
            ),
            (
                {"interval": {"every_seconds": 31_622_401}},
                "interval.every_seconds must be between 5 and 31622400",
            ),
            ({"interval": {}}, "interval.every_seconds is required"),
            ({"once": {"at": "noon"}}, "once.at must be an RFC 3339 time"),
            ({"cron": {"expression": "0 0 30 2 *"}}, "cron.expression: .* never fires"),
            ({"cron": {"expression": "* * * * * *"}}, "cron.expression: .* within 5 s"),
            ({"cron": {"expression": "61 * * * *"}}, "cron.expression: minute"),
            (
                {"cron": {"expression": "@daily", "timezone": "Europe/Berln"}},
                "cron.timezone: there is no time zone 'Europe/Berln'; .*Europe/Berlin",
            ),
            ({"cron": {"expression": "@daily", "timezone": "../../etc"}}, "cron.timezone: there"),
        ],
    )
    def test_a_cadence_that_cannot_come_due_is_refused_with_the_field(
        self, cadence: dict[str, Any], said: str
    ) -> None:
        with pytest.raises(BadArguments, match=said):
            prepared("schedule_create", name="n", message="m", **cadence)

    @pytest.mark.req("K-87")
    async def test_a_cron_whose_years_are_over_is_refused_when_it_would_be_made(self) -> None:
        over = {"expression": "0 0 0 1 1 ? 2001"}
        result = await call("schedule_create", name="n", message="m", cron=over)
        assert result.is_error
        assert result.command is None
        assert result.output.startswith("cron.expression: the cron expression never fires")

    @pytest.mark.req("K-89", "K-91")
    @pytest.mark.parametrize(
        ("more", "said"),
        [
            ({"overlap": "queue"}, "overlap must be one of skip, queue_one, parallel"),
            ({"misfire": "all"}, "misfire must be one of coalesce_once, skip_missed"),
            ({"max_executions": 0}, "max_executions must be between 1 and 1000000, not 0"),
            ({"name": "x" * 201}, "name must have at most 200 characters, not 201"),
            ({"watch": {}}, "watch is not an argument of this tool"),
            ({"source": "scheduler"}, "source is not an argument of this tool"),
        ],
    )
    def test_what_the_policies_do_not_know_is_refused(
        self, more: dict[str, Any], said: str
    ) -> None:
        with pytest.raises(BadArguments, match=said):
            prepared("schedule_create", **{**EVERY_HOUR, **more})

    @pytest.mark.req("C-42")
    async def test_a_one_shot_in_its_own_words_is_the_same_schedule(self) -> None:
        made = await created(
            "schedule",
            id="check-mail",
            at="2026-11-30T09:00:00Z",
            prompt="read the mail",
            delivery="announce",
            target="current",
        )
        assert made == CreateSchedule(
            SCHEDULE, "check-mail", Once(NOW + 3600), "agent", "read the mail", replaces=True
        )

    @pytest.mark.req("C-42")
    async def test_a_one_shot_may_name_its_own_conversation(self) -> None:
        made = await created(
            "schedule", id="a", at="2026-11-30T09:00:00Z", prompt="x", target=WORKSTREAM
        )
        assert (made.name, made.target) == ("a", "")

    @pytest.mark.req("C-42")
    def test_a_one_shot_has_the_arguments_of_its_document_and_no_others(self) -> None:
        shown = ONE_SHOT.parameters
        assert list(shown["properties"]) == ["id", "at", "prompt", "delivery", "target"]
        assert shown["required"] == ["id", "at", "prompt"]
        assert shown["additionalProperties"] is False
        with pytest.raises(BadArguments, match="id is not an argument"):
            prepared("schedule_create", id="a", at="2027-01-01T00:00:00Z", prompt="x")

    @pytest.mark.req("C-42")
    async def test_a_one_shot_must_be_to_come(self) -> None:
        result = await call("schedule", id="a", at="2026-11-30T07:00:00Z", prompt="x")
        assert result.is_error
        assert result.command is None
        assert result.output.startswith("at: 2026-11-30T07:00:00.000Z has passed")

    @pytest.mark.req("C-42")
    @pytest.mark.parametrize(
        ("more", "said"),
        [
            ({"id": "Check Mail"}, "id must be made of a to z, 0 to 9 or -"),
            ({"at": "soon"}, "at must be an RFC 3339 time"),
            ({"prompt": "\0"}, "^prompt holds a NUL"),
            ({"delivery": "none"}, "^delivery: none cannot be had yet.*; use announce"),
            ({"delivery": "loud"}, "^delivery must be one of announce, none"),
            ({"target": "last"}, "^target: last cannot be had yet.*; use current"),
            ({"target": "owner"}, "^target: owner cannot be had yet"),
            ({"target": "ws_other"}, "^target: another conversation cannot be had yet"),
            ({"once": {"at": "2027-01-01T00:00:00Z"}}, "^once is not an argument"),
            ({"overlap": "skip"}, "^overlap is not an argument"),
        ],
    )
    def test_a_one_shot_names_the_argument_to_mend(self, more: dict[str, str], said: str) -> None:
        given = {"id": "a", "at": "2027-01-01T00:00:00Z", "prompt": "x", **more}
        with pytest.raises(BadArguments, match=said):
            prepared("schedule", **given)


class TestChange:
    @pytest.mark.req("K-23", "K-90")
    @pytest.mark.parametrize(
        ("tool", "change", "run_id"),
        [
            ("schedule_pause", "pause", ""),
            ("schedule_resume", "resume", ""),
            ("schedule_cancel", "cancel", ""),
            ("schedule_trigger_now", "trigger", f"run_{SCHEDULE[4:]}"),
        ],
    )
    async def test_each_asks_for_its_change_of_the_schedule_that_is_named(
        self, tool: str, change: Any, run_id: str
    ) -> None:
        result = await call(tool, id="tick")
        assert result.command == ChangeSchedule("tick", change, "agent", run_id)
        assert not result.is_error
        assert result.output.startswith("tick ")

    def test_the_schedule_must_be_named(self) -> None:
        with pytest.raises(BadArguments, match="id is required"):
            prepared("schedule_pause")


class TestReading:
    @pytest.mark.req("K-23")
    async def test_a_list_shows_what_is_not_over_in_one_line_each(self) -> None:
        result = await call(
            "schedule_list",
            scheduled("tick"),
            scheduled("done", state="completed", next_due=None),
            watching("pr", state="paused", next_due=None),
        )
        assert result.output.splitlines() == [
            "sch_000000000000000000tick tick: every 1h, active, next 2026-11-30T09:00:00.000Z, "
            "2 runs",
            "sch_00000000000000000000pr pr: watch, every 1h, paused, nothing due, 2 of 100 polls",
        ]

    @pytest.mark.req("K-23")
    @pytest.mark.parametrize(
        ("state", "names"),
        [("completed", ["done"]), ("active", ["tick"]), ("paused", []), ("all", ["tick", "done"])],
    )
    async def test_a_list_may_be_of_one_state(self, state: str, names: list[str]) -> None:
        there = [scheduled("tick"), scheduled("done", state="completed", next_due=None)]
        result = await call("schedule_list", *there, state=state)
        shown = [line.split()[1].rstrip(":") for line in result.output.splitlines()]
        assert shown == (names or ["schedule]"])

    async def test_a_list_without_a_line_says_so(self) -> None:
        assert await call("schedule_list") == Result("[no schedule]")

    async def test_a_long_list_is_cut_to_what_a_call_may_give_back(self) -> None:
        there = [scheduled(f"n{number}") for number in range(100)]
        result = await call("schedule_list", *there, max_bytes=1000)
        assert result.truncated
        assert len(result.output.encode()) <= 1000
        assert result.output.endswith("more; ask for one by its name]")

    @pytest.mark.req("K-23")
    @pytest.mark.parametrize("reference", ["pr", "sch_00000000000000000000pr", "sch_0"])
    async def test_one_is_shown_in_full_by_its_name_its_id_or_its_beginning(
        self, reference: str
    ) -> None:
        shown = await call("schedule_get", watching("pr", last_output="OPEN\n"), id=reference)
        assert shown.output.splitlines()[1:] == [
            "command: gh pr view",
            'stop_on: data["state"] == "MERGED"',
            "last output:",
            "OPEN",
        ]

    @pytest.mark.req("K-23")
    async def test_what_is_not_there_or_not_alone_is_an_error_that_names_the_mend(self) -> None:
        there = [scheduled("a"), scheduled("b")]
        missing = await call("schedule_get", *there, id="c")
        several = await call("schedule_get", *there, id="sch_0")
        assert missing.is_error
        assert missing.output.startswith("id: no schedule is called c; schedule_list shows")
        assert several.is_error
        assert several.output == "id: sch_0 begins the ids of several: a, b; name one of them"
