"""Schedules over HTTP: created, listed, steered; what is out of order is refused by its field."""

import asyncio
from datetime import UTC, datetime
from typing import Any

import httpx
import pytest
from sqlalchemy import insert

from redshank_shared import clock
from redshank_shared.domain.ids import WorkstreamId
from redshank_shared.stores.tables import schedule_runs
from tests.integration.console_world import RunningConsole, fresh_id

pytest_plugins = ("tests.integration.console_fixtures",)

HOURLY = {"interval": {"every_seconds": 3600}}
WATCH = {"watch": {"command": "cat state.json", "poll_every": 60}}
PATH = "/v1/schedules"
CADENCES: dict[str, dict[str, Any]] = {
    "once": {"once": {"at": "2099-11-30T09:00:00.000Z"}},
    "interval": HOURLY,
    "cron": {"cron": {"expression": "0 7 * * 1", "timezone": "Europe/Berlin"}},
    "watch": {
        "watch": {
            "command": "cat state.json",
            "poll_every": 60,
            "stop_on": "exit_code != 0",
            "max_polls": 7,
        }
    },
}


async def ask(world: RunningConsole, ws: str, **body: Any) -> httpx.Response:
    """A creation as a client asks it; what is None is left out."""
    whole = {"workstream": ws, "name": "tide", "message": "look again", **body}
    given = {key: value for key, value in whole.items() if value is not None}
    return await world.client.post(PATH, json=given)


async def made(world: RunningConsole, ws: str, **body: Any) -> dict[str, Any]:
    answer = await ask(world, ws, **body)
    assert answer.status_code == 201, answer.text
    return dict(answer.json())


async def shown(world: RunningConsole, schedule_id: str) -> dict[str, Any]:
    answer = await world.client.get(f"{PATH}/{schedule_id}")
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


async def listed(world: RunningConsole, **query: Any) -> dict[str, Any]:
    answer = await world.client.get(PATH, params=query)
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


async def change(world: RunningConsole, schedule_id: str, what: str) -> httpx.Response:
    return await world.client.post(f"{PATH}/{schedule_id}/{what}")


def seconds(text: str) -> float:
    return datetime.fromisoformat(text).timestamp()


def add_run(world: RunningConsole, view: dict[str, Any], due_at: float, **more: Any) -> None:
    """A run as the clock's leader writes it."""
    values = {
        "run_id": fresh_id("run"),
        "schedule_id": view["id"],
        "workstream_id": view["workstream"],
        "kind": "fire",
        "due_at": due_at,
        "state": "done",
        "handed_at": due_at,
        "node": "",
        "detail": "",
        **more,
    }
    with world.database.begin() as connection:
        connection.execute(insert(schedule_runs).values(**values))


@pytest.mark.req("K-86")
@pytest.mark.req("K-94")
async def test_each_cadence_is_shown_in_the_form_in_which_it_was_asked_for(
    both: RunningConsole,
) -> None:
    for kind, cadence in CADENCES.items():
        ws = await both.create()
        before = clock.now_ms() / 1000
        view = await made(both, ws, **cadence)
        assert {
            "name": "tide",
            "workstream": ws,
            "kind": kind,
            "cadence": cadence,
            "state": "active",
            "last_run": None,
            "runs": 0,
            "message": "look again",
            "detail": "",
            "overlap": "skip",
            "misfire": "coalesce_once",
            "max_executions": None,
        }.items() <= view.items()
        assert seconds(view["next_due"]) > before
        assert await shown(both, view["id"]) == {**view, "last_runs": []}
        alone = await listed(both, workstream=ws)
        assert alone == {"items": [view], "next_cursor": None, "total": 1}
    kinds = [event["kind"] for event in await both.events(ws)]
    assert "schedule.created" in kinds


@pytest.mark.req("K-86")
async def test_an_interval_is_due_first_after_one_interval(console: RunningConsole) -> None:
    before = clock.now_ms() / 1000
    view = await made(console, await console.create(), **HOURLY)
    after = clock.now_ms() / 1000
    assert before - 0.001 <= seconds(view["next_due"]) - 3600 <= after + 0.001


@pytest.mark.req("K-86")
async def test_a_moment_that_is_past_is_due_now(console: RunningConsole) -> None:
    before = clock.now_ms() / 1000
    view = await made(console, await console.create(), once={"at": "2001-01-01T00:00:00+01:00"})
    assert view["cadence"] == {"once": {"at": "2000-12-31T23:00:00.000Z"}}
    assert before - 0.001 <= seconds(view["next_due"]) <= clock.now_ms() / 1000 + 0.001


@pytest.mark.req("K-87")
async def test_what_is_left_out_takes_its_default(console: RunningConsole) -> None:
    ws = await console.create()
    cron = await made(console, ws, cron={"expression": "@daily"})
    assert cron["cadence"] == {"cron": {"expression": "@daily", "timezone": "UTC"}}
    due = datetime.fromtimestamp(seconds(cron["next_due"]), UTC)
    assert (due.hour, due.minute, due.second) == (0, 0, 0)
    watch = await made(console, ws, name="door", message=None, **WATCH)
    assert watch["cadence"]["watch"] == {**WATCH["watch"], "stop_on": "", "max_polls": 100}
    assert watch["message"] == ""


async def test_policies_are_kept_as_they_were_asked_for(console: RunningConsole) -> None:
    policies = {"overlap": "queue_one", "misfire": "skip_missed", "max_executions": 3}
    view = await made(console, await console.create(), **HOURLY, **policies)
    assert policies.items() <= view.items()


REFUSALS: dict[str, tuple[dict[str, Any], str]] = {
    "none of the cadences": ({}, "cadence"),
    "two of the cadences": ({**HOURLY, "cron": {"expression": "@daily"}}, "cadence"),
    "an interval too short": ({"interval": {"every_seconds": 4}}, "interval.every_seconds"),
    "an interval too long": ({"interval": {"every_seconds": 10**9}}, "interval.every_seconds"),
    "an interval of no number": ({"interval": {"every_seconds": "x"}}, "interval.every_seconds"),
    "a cron that never fires": ({"cron": {"expression": "0 0 30 2 *"}}, "cron.expression"),
    "a cron of four fields": ({"cron": {"expression": "* * * *"}}, "cron.expression"),
    "a cron every second": ({"cron": {"expression": "* * * * * *"}}, "cron.expression"),
    "an unknown zone": (
        {"cron": {"expression": "@daily", "timezone": "Europe/Berln"}},
        "cron.timezone",
    ),
    "a moment without offset": ({"once": {"at": "2099-11-30T09:00:00"}}, "once.at"),
    "a moment that is none": ({"once": {"at": "tomorrow"}}, "once.at"),
    "a moment too far": ({"once": {"at": "9999-12-31T23:59:59Z"}}, "once.at"),
    "a poll too often": ({"watch": {"command": "ls", "poll_every": 9}}, "watch.poll_every"),
    "a poll too rarely": ({"watch": {"command": "ls", "poll_every": 86401}}, "watch.poll_every"),
    "no poll at all": (
        {"watch": {"command": "ls", "poll_every": 60, "max_polls": 0}},
        "watch.max_polls",
    ),
    "a watch of nothing": ({"watch": {"command": " ", "poll_every": 60}}, "watch.command"),
    "a condition with a fault": (
        {"watch": {"command": "ls", "poll_every": 60, "stop_on": "exit_code =="}},
        "watch.stop_on",
    ),
    "a NUL in a command": ({"watch": {"command": "l\0s", "poll_every": 60}}, "watch.command"),
    "no message": ({**HOURLY, "message": " "}, "message"),
    "no name": ({**HOURLY, "name": " "}, "name"),
    "a name too long": ({**HOURLY, "name": "n" * 201}, "name"),
    "an unknown policy": ({**HOURLY, "overlap": "sometimes"}, "overlap"),
    "no execution at all": ({**HOURLY, "max_executions": 0}, "max_executions"),
    "an unknown field": ({**HOURLY, "colour": "red"}, "colour"),
    "an id that is none": ({**HOURLY, "workstream": "ws_1"}, "workstream"),
}


@pytest.mark.req("K-86")
@pytest.mark.req("K-87")
@pytest.mark.req("T-50")
async def test_bad_input_is_refused_by_its_field_and_changes_nothing(
    console: RunningConsole,
) -> None:
    ws = await console.create()
    before = await console.events(ws)
    wrong = {}
    for what, (body, field) in REFUSALS.items():
        answer = await ask(console, ws, **body)
        problem = answer.json()
        if (answer.status_code, problem.get("field")) != (422, field):
            wrong[what] = (answer.status_code, problem)
        assert answer.headers["content-type"] == "application/problem+json"
    assert wrong == {}
    assert (await listed(console))["total"] == 0
    assert await console.events(ws) == before


async def test_the_words_of_a_refusal_say_what_would_do(console: RunningConsole) -> None:
    ws = await console.create()
    two = (await ask(console, ws, **HOURLY, once={"at": "2099-01-01T00:00:00Z"})).json()
    assert "once and interval" in two["detail"]
    zone = await ask(console, ws, cron={"expression": "@daily", "timezone": "Europe/Berln"})
    assert "Europe/Berlin" in zone.json()["detail"]
    condition = {"command": "ls", "poll_every": 60, "stop_on": "exit_code =="}
    assert "column" in (await ask(console, ws, watch=condition)).json()["detail"]


@pytest.mark.req("T-54")
async def test_a_sixth_watch_is_refused_until_one_is_cancelled(both: RunningConsole) -> None:
    ws = await both.create()
    views = [await made(both, ws, name=f"w{n}", **WATCH) for n in range(5)]
    sixth = await ask(both, ws, name="w5", **WATCH)
    assert (sixth.status_code, sixth.json()["code"]) == (409, "too_many_watches")
    assert (await listed(both))["total"] == 5
    assert (await change(both, views[0]["id"], "cancel")).status_code == 200
    assert (await ask(both, ws, name="w5", **WATCH)).status_code == 201


@pytest.mark.req("T-54")
async def test_a_name_is_taken_while_its_schedule_lives(console: RunningConsole) -> None:
    ws, other = await console.create(), await console.create()
    first = await made(console, ws, **HOURLY)
    again = await ask(console, ws, **HOURLY)
    assert (again.status_code, again.json()["code"], again.json()["field"]) == (
        409,
        "duplicate_name",
        "name",
    )
    await made(console, other, **HOURLY)
    await change(console, first["id"], "cancel")
    await made(console, ws, **HOURLY)


async def test_an_unknown_workstream_or_schedule_is_told(console: RunningConsole) -> None:
    nowhere = await ask(console, "ws_0000000000000000000000", **HOURLY)
    assert (nowhere.status_code, nowhere.json()["field"]) == (404, "workstream")
    answers = [await console.client.get(f"{PATH}/{name}") for name in ("sch_1", "a%00b", "%F0%9F")]
    answers += [
        await change(console, "sch_1", what) for what in ("pause", "resume", "cancel", "trigger")
    ]
    told = [(one.status_code, one.json()["code"], one.json()["field"]) for one in answers]
    assert told == [(404, "schedule_not_found", "id")] * 7


async def test_a_closed_workstream_takes_no_schedule_and_ends_those_it_has(
    console: RunningConsole,
) -> None:
    ws = await console.create()
    view = await made(console, ws, **HOURLY)
    await console.client.post(f"/v1/workstreams/{ws}/close")
    assert (await shown(console, view["id"]))["state"] == "canceled"
    answer = await ask(console, ws, **HOURLY)
    assert (answer.status_code, answer.json()["code"]) == (409, "workstream_closed")


@pytest.mark.req("K-90")
async def test_each_change_answers_with_what_is_shown_from_then_on(both: RunningConsole) -> None:
    view = await made(both, await both.create(), **HOURLY)
    schedule_id = view["id"]
    due = seconds(view["next_due"])
    expected = [
        ("pause", "paused", False),
        ("pause", "paused", False),
        ("resume", "active", True),
        ("resume", "active", True),
        ("trigger", "active", True),
        ("pause", "paused", False),
        ("cancel", "canceled", False),
    ]
    runs: list[dict[str, Any]] = []
    for what, state, has_due in expected:
        answer = await change(both, schedule_id, what)
        assert answer.status_code == 200, answer.text
        changed = answer.json()
        assert (changed["state"], changed["next_due"] is not None) == (state, has_due), what
        if what == "trigger":
            runs.append(changed["last_run"])
            assert abs(seconds(runs[0]["due_at"]) - clock.now_ms() / 1000) < 5
        assert await shown(both, schedule_id) == {**changed, "last_runs": runs}, what
        if what == "resume":
            assert abs(seconds(changed["next_due"]) - due) < 5


@pytest.mark.req("K-90")
async def test_what_is_over_is_final(console: RunningConsole) -> None:
    view = await made(console, await console.create(), **HOURLY)
    await change(console, view["id"], "cancel")
    for what in ("pause", "resume", "cancel", "trigger"):
        answer = await change(console, view["id"], what)
        problem = answer.json()
        assert (answer.status_code, problem["code"]) == (409, "schedule_over"), what
        assert "canceled, which is final; make a new one" in problem["detail"]


@pytest.mark.req("K-90")
async def test_a_paused_schedule_that_is_triggered_runs_once_and_stays_paused(
    console: RunningConsole,
) -> None:
    view = await made(console, await console.create(), **HOURLY)
    await change(console, view["id"], "pause")
    answer = await change(console, view["id"], "trigger")
    triggered = answer.json()
    assert (answer.status_code, triggered["state"], triggered["next_due"]) == (200, "paused", None)
    assert triggered["last_run"]["state"] == "triggered"
    shown_then = await shown(console, view["id"])
    assert shown_then == {**triggered, "last_runs": [triggered["last_run"]]}


@pytest.mark.req("K52")
async def test_twenty_creations_with_one_key_are_one_schedule(both: RunningConsole) -> None:
    body = {"workstream": await both.create(), "name": "tide", "message": "look", **HOURLY}
    headers = {"Idempotency-Key": "once"}
    answers = await asyncio.gather(
        *(both.client.post(PATH, json=body, headers=headers) for _ in range(20))
    )
    assert {(answer.status_code, answer.text) for answer in answers} == {(201, answers[0].text)}
    assert (await listed(both))["total"] == 1
    other = await both.client.post(PATH, json={**body, "name": "ebb"}, headers=headers)
    assert (other.status_code, other.json()["code"]) == (409, "idempotency_key_reused")


@pytest.mark.req("K52")
async def test_a_cancel_that_is_sent_twice_with_one_key_gets_the_same_answer(
    console: RunningConsole,
) -> None:
    view = await made(console, await console.create(), **HOURLY)
    path, headers = f"{PATH}/{view['id']}/cancel", {"Idempotency-Key": "once"}
    first = await console.client.post(path, headers=headers)
    second = await console.client.post(path, headers=headers)
    assert (first.status_code, first.text) == (200, second.text)
    assert second.status_code == 200


async def test_lists_go_on_behind_their_cursor_the_newest_first(both: RunningConsole) -> None:
    mine, other = await both.create(), await both.create()
    names = [f"s{n}" for n in range(5)]
    for name in names:
        await made(both, mine, name=name, **HOURLY)
    await made(both, other, name="theirs", **HOURLY)
    seen: list[str] = []
    cursor: str | None = None
    while True:
        more = {"cursor": cursor} if cursor else {}
        page = await listed(both, workstream=mine, limit=2, **more)
        assert page["total"] == 5
        seen += [item["name"] for item in page["items"]]
        cursor = page["next_cursor"]
        if cursor is None:
            break
    assert sorted(seen) == names
    times = [item["created_at"] for item in (await listed(both))["items"]]
    assert times == sorted(times, reverse=True)
    assert len(times) == 6


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("limit=0", "limit"),
        ("limit=201", "limit"),
        ("cursor=nonsense", "cursor"),
        ("workstream=reeds", "workstream"),
        ("state=active", "state"),
    ],
)
@pytest.mark.fault("F69")
async def test_a_query_that_is_not_understood_is_refused(
    standing: RunningConsole, query: str, field: str
) -> None:
    answer = await standing.client.get(f"{PATH}?{query}")
    assert (answer.status_code, answer.json()["field"]) == (422, field)


@pytest.mark.req("K-91")
async def test_the_last_run_is_shown_in_lists_the_last_fifty_beside_one(
    both: RunningConsole,
) -> None:
    ws = await both.create()
    view, quiet = await made(both, ws, **HOURLY), await made(both, ws, name="quiet", **HOURLY)
    for n in range(51):
        add_run(both, view, 1_000_000_000.0 + n)
    how = {"state": "skipped", "detail": "one still ran", "node": "east"}
    add_run(both, view, 1_000_000_100.25, began_at=1_000_000_100.5, **how)
    last = {
        "due_at": "2001-09-09T01:48:20.250Z",
        "began_at": "2001-09-09T01:48:20.500Z",
        "state": "skipped",
        "detail": "one still ran",
        "node": "east",
    }
    by_id = {item["id"]: item["last_run"] for item in (await listed(both))["items"]}
    assert by_id == {view["id"]: last, quiet["id"]: None}
    one = await shown(both, view["id"])
    assert (one["last_run"], one["last_runs"][0], len(one["last_runs"])) == (last, last, 50)
    assert one["last_runs"][1]["due_at"] == "2001-09-09T01:47:30.000Z"


async def test_without_a_token_nothing_is_shown_or_done(console: RunningConsole) -> None:
    view = await made(console, WorkstreamId(await console.create()), **HOURLY)
    async with console.new_client() as anyone:
        answers = [
            await anyone.get(PATH),
            await anyone.get(f"{PATH}/{view['id']}"),
            await anyone.post(PATH, json={}),
            await anyone.post(f"{PATH}/{view['id']}/cancel"),
        ]
    assert [answer.status_code for answer in answers] == [401] * 4
    assert (await shown(console, view["id"]))["state"] == "active"
