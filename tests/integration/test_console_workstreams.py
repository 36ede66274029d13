"""Workstreams over HTTP: created, listed, spoken to, steered, forked."""

import asyncio
import json
from typing import Any

import pytest

from redshank_shared.domain.events import (
    MessageAnswered,
    Mode,
    TurnFailed,
    TurnStarted,
)
from redshank_shared.domain.ids import WorkstreamId
from tests.integration.console_world import (
    DEADLINE_SECONDS,
    NodeSide,
    RunningConsole,
)

pytest_plugins = ("tests.integration.console_fixtures",)

NOWHERE = WorkstreamId("ws_0000000000000000000000")


async def test_a_new_workstream_is_shown_as_its_creator_asked(both: RunningConsole) -> None:
    ws = await both.create(name="reeds", mode="plan", labels=["marsh"], node="east")
    view = await both.view(ws)
    assert {
        "id": ws,
        "name": "reeds",
        "title": "",
        "state": "idle",
        "waiting_for": [],
        "node": "",
        "profile": "default",
        "persona": "",
        "mode": "plan",
        "model": "demo",
        "owner": "admin",
        "labels": ["marsh"],
        "parent": "",
        "usage": {"input_tokens": 0, "output_tokens": 0, "calls": 0},
        "pending_approvals": [],
        "pending_questions": [],
        "last_seq": 2,
        "detail": "",
    }.items() <= view.items()
    assert (await both.client.get(f"/v1/sessions/{ws}")).json() == view
    assert [event["kind"] for event in await both.events(ws)] == ["workstream.created", "state"]


@pytest.mark.fault("F25")
async def test_a_message_that_was_answered_is_in_the_log(both: RunningConsole) -> None:
    ws = await both.create()
    answer = await both.client.post(
        f"/v1/workstreams/{ws}/messages", json={"text": "Grüße 🐦\n", "when": "next"}
    )
    assert answer.status_code == 202
    seq = answer.json()["seq"]
    event = (await both.events(ws))[seq - 1]
    assert (event["seq"], event["kind"], event["text"], event["source"], event["author"]) == (
        seq,
        "message.user",
        "Grüße 🐦\n",
        "user",
        "admin",
    )
    assert (await both.view(ws))["state"] == "running"


async def test_a_closed_workstream_takes_no_message_and_keeps_its_log(both: RunningConsole) -> None:
    ws = await both.create()
    assert (await both.client.post(f"/v1/workstreams/{ws}/close")).json()["state"] == "closed"
    before = await both.events(ws)
    answer = await both.client.post(f"/v1/workstreams/{ws}/messages", json={"text": "hello"})
    assert (answer.status_code, answer.json()["code"]) == (409, "workstream_closed")
    assert "fork it or create another" in answer.json()["detail"]
    assert await both.events(ws) == before


@pytest.mark.req("K52")
async def test_twenty_posts_with_one_key_are_one_message(both: RunningConsole) -> None:
    ws = await both.create()
    headers = {"Idempotency-Key": "once"}
    path = f"/v1/workstreams/{ws}/messages"
    answers = await asyncio.gather(
        *(both.client.post(path, json={"text": "hi"}, headers=headers) for _ in range(20))
    )
    assert {(answer.status_code, answer.text) for answer in answers} == {(202, answers[0].text)}
    kinds = [event["kind"] for event in await both.events(ws)]
    assert kinds.count("message.user") == 1
    again = await both.client.post(
        f"/v1/sessions/{ws}/messages", json={"text": "hi"}, headers=headers
    )
    assert again.text == answers[0].text


@pytest.mark.req("K52")
async def test_a_key_with_another_body_is_a_conflict(both: RunningConsole) -> None:
    ws = await both.create()
    path, headers = f"/v1/workstreams/{ws}/messages", {"Idempotency-Key": "once"}
    await both.client.post(path, json={"text": "hi"}, headers=headers)
    other = await both.client.post(path, json={"text": "ho"}, headers=headers)
    assert (other.status_code, other.json()["code"]) == (409, "idempotency_key_reused")
    assert other.json()["field"] == "Idempotency-Key"


async def test_twenty_creations_with_one_key_are_one_workstream(both: RunningConsole) -> None:
    headers = {"Idempotency-Key": "one"}
    answers = await asyncio.gather(
        *(
            both.client.post("/v1/workstreams", json={"name": "a"}, headers=headers)
            for _ in range(20)
        )
    )
    assert len({answer.text for answer in answers}) == 1
    assert {answer.status_code for answer in answers} == {201}
    assert (await both.client.get("/v1/workstreams")).json()["total"] == 1


@pytest.mark.parametrize(
    ("path", "status", "code"),
    [(NOWHERE, 404, "workstream_not_found"), ("ws_1", 422, "malformed_id")],
)
async def test_an_id_that_is_unknown_or_malformed_is_told_apart(
    console: RunningConsole, path: str, status: int, code: str
) -> None:
    at = f"/v1/workstreams/{path}"
    answers = [
        await console.client.get(at),
        await console.client.get(f"{at}/events"),
        await console.client.get(f"{at}/events", headers={"Accept": "text/event-stream"}),
        await console.client.get(f"{at}/history"),
        await console.client.get(f"{at}/export"),
        await console.client.get(f"{at}/permission-audits"),
        await console.client.post(f"{at}/messages", json={"text": "hi"}),
        await console.client.post(f"{at}/cancel"),
        await console.client.post(f"{at}/mode", json={"mode": "plan"}),
        await console.client.post(f"{at}/fork", json={"after": 1}),
    ]
    for answer in answers:
        assert answer.headers["content-type"] == "application/problem+json"
        assert (answer.status_code, answer.json()["code"], answer.json()["field"]) == (
            status,
            code,
            "id",
        )


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"model": "gpt-0"}, "model"),
        ({"profile": "nobody"}, "profile"),
        ({"persona": "nobody"}, "persona"),
        ({"mode": "yolo"}, "mode"),
        ({"budget": {"tokens": 1}}, "budget"),
        ({"message": " "}, "text"),
        ({"name": "x" * 201}, "name"),
        ({"name": "a\0b"}, "name"),
        ({"labels": ["ok", "a\0b"]}, "labels[1]"),
        ({"parent": "ws_1"}, "parent"),
        ({"nam": "a"}, "nam"),
    ],
)
async def test_a_creation_that_cannot_be_is_refused_by_the_name_of_its_field(
    standing: RunningConsole, body: dict[str, Any], field: str
) -> None:
    before = (await standing.client.get("/v1/workstreams")).json()["total"]
    answer = await standing.client.post("/v1/workstreams", json=body)
    assert (answer.status_code, answer.json()["field"]) == (422, field)
    assert (await standing.client.get("/v1/workstreams")).json()["total"] == before


@pytest.mark.fault("F69")
async def test_lists_narrow_page_and_refuse_what_they_do_not_know(both: RunningConsole) -> None:
    names = [f"nest {number}" for number in range(5)]
    for name in names:
        await both.create(name=name, labels=["even" if int(name[-1]) % 2 == 0 else "odd"])
    await both.create(name="100% reed_")
    seen: list[str] = []
    cursor: str | None = None
    while cursor is not None or not seen:
        params = {"q": "NEST", "limit": "2", **({"cursor": cursor} if cursor else {})}
        page = (await both.client.get("/v1/workstreams", params=params)).json()
        assert page["total"] == 5
        seen.extend(item["name"] for item in page["items"])
        cursor = page["next_cursor"]
    assert sorted(seen) == names
    for params, total in [
        ({"label": "even"}, 3),
        ({"state": "idle"}, 6),
        ({"owner": "admin"}, 6),
        ({"owner": "' OR 1=1 --"}, 0),
        ({"q": "%"}, 1),
        ({"node": "nobody"}, 0),
        ({"waiting_for": "approval"}, 0),
    ]:
        assert (await both.client.get("/v1/workstreams", params=params)).json()["total"] == total
    for params in (
        {"sort": "name; DROP TABLE events"},
        {"state": "asleep"},
        {"waiting_for": "godot"},
        {"limit": "0"},
        {"limit": "100000000000000000000"},
        {"cursor": "!"},
    ):
        answer = await both.client.get("/v1/workstreams", params=params)
        assert (answer.status_code, answer.json()["field"]) == (422, next(iter(params)))


async def test_work_that_no_node_takes_waits_for_the_queue(both: RunningConsole) -> None:
    ws = await both.create(message="hi")
    assert (await both.view(ws))["state"] == "running"
    async with asyncio.timeout(DEADLINE_SECONDS):
        while (await both.view(ws))["state"] == "running":
            await asyncio.sleep(0.05)
    view = await both.view(ws)
    assert view["state"] == "waiting"
    assert [(wait["kind"], wait["detail"]) for wait in view["waiting_for"]] == [
        ("queue", "no node is up")
    ]


async def test_the_mode_changes_only_when_it_is_another(both: RunningConsole) -> None:
    ws = await both.create()
    modes: list[Mode] = ["acceptEdits", "acceptEdits", "plan"]
    for mode in modes:
        answer = await both.client.post(f"/v1/workstreams/{ws}/mode", json={"mode": mode})
        assert (answer.status_code, answer.json()["mode"]) == (200, mode)
    kinds = [event["kind"] for event in await both.events(ws)]
    assert kinds.count("mode.changed") == 2


async def test_a_failed_turn_is_taken_up_again_by_a_retry(both: RunningConsole) -> None:
    ws = await both.create(message="hi")
    refused = await both.client.post(f"/v1/workstreams/{ws}/retry")
    assert (refused.status_code, refused.json()["code"]) == (409, "not_failed")
    node = NodeSide(both, ws)
    node.claim()
    failed = TurnFailed("model_unreachable", "start the model, then retry")
    await node.tell(TurnStarted("east", 1), failed, release=True)
    view = await both.view(ws)
    assert (view["state"], view["detail"]) == ("failed", "start the model, then retry")
    assert (await both.client.post(f"/v1/workstreams/{ws}/retry")).json()["state"] == "running"


async def test_a_workstream_names_the_node_that_holds_it(both: RunningConsole) -> None:
    ws = await both.create(message="hi")
    NodeSide(both, ws, node_id="east.1").claim()
    assert (await both.view(ws))["node"] == "east.1"
    page = (await both.client.get("/v1/workstreams", params={"node": "east.1"})).json()
    assert [item["id"] for item in page["items"]] == [ws]


async def test_the_transcript_and_the_export_say_what_the_log_says(both: RunningConsole) -> None:
    ws = await both.create(message="hi")
    node = NodeSide(both, ws)
    node.claim()
    await node.answer("hello")
    history = (await both.client.get(f"/v1/workstreams/{ws}/history")).json()
    assert [(item["role"], item["text"]) for item in history["items"]] == [
        ("user", "hi"),
        ("assistant", "hello"),
    ]
    export = await both.client.get(f"/v1/workstreams/{ws}/export")
    lines = [json.loads(line) for line in export.text.splitlines()]
    assert lines == await both.events(ws)
    assert [line["seq"] for line in lines] == list(range(1, len(lines) + 1))


async def test_a_page_of_events_holds_what_comes_after_the_cursor(both: RunningConsole) -> None:
    ws = await both.create()
    for number in range(6):
        await both.client.post(f"/v1/workstreams/{ws}/messages", json={"text": f"m{number}"})
    whole = await both.events(ws)
    path = f"/v1/workstreams/{ws}/events"
    seen: list[dict[str, Any]] = []
    params: dict[str, Any] = {"limit": 3}
    while True:
        page = (await both.client.get(path, params=params)).json()
        assert page["total"] == len(whole)
        seen.extend(page["items"])
        if page["next_cursor"] is None:
            break
        params["cursor"] = page["next_cursor"]
    assert seen == whole
    clamped = (await both.client.get(path, params={"limit": 10**12})).json()
    assert clamped["items"] == whole


@pytest.mark.req("B-4")
async def test_a_fork_shares_the_log_and_rests_with_open_calls_cancelled(
    both: RunningConsole,
) -> None:
    ws = await both.create(name="reeds", message="run it")
    await NodeSide(both, ws).ask_to_run("echo hi")
    log = await both.events(ws)
    answer = await both.client.post(f"/v1/workstreams/{ws}/fork", json={"after": len(log)})
    assert answer.status_code == 201
    view = answer.json()
    assert (view["state"], view["pending_approvals"], view["owner"]) == ("idle", [], "admin")
    fork = await both.events(WorkstreamId(view["id"]))
    assert [event["kind"] for event in fork[: len(log)]] == [event["kind"] for event in log]
    assert (fork[0]["forked_from"], fork[0]["forked_at"]) == (ws, len(log))
    tail = [
        (event["kind"], event.get("outcome") or event.get("behavior")) for event in fork[len(log) :]
    ]
    assert tail == [
        ("approval.resolved", "cancelled"),
        ("call.finished", "cancelled"),
        ("turn.cancelled", None),
        ("state", None),
    ]
    assert len((await both.view(ws))["pending_approvals"]) == 1


async def test_a_fork_of_a_closed_workstream_is_open(both: RunningConsole) -> None:
    ws = await both.create(message="hi")
    node = NodeSide(both, ws)
    node.claim()
    await node.tell(MessageAnswered(read=node.state.version, text="hello"), release=True)
    closed = (await both.client.post(f"/v1/workstreams/{ws}/close")).json()
    fork = await both.client.post(f"/v1/workstreams/{ws}/fork", json={"after": closed["last_seq"]})
    assert fork.json()["state"] == "idle"
    posted = await both.client.post(
        f"/v1/workstreams/{fork.json()['id']}/messages", json={"text": "again"}
    )
    assert posted.status_code == 202


@pytest.mark.parametrize("after", [0, -1, 3, 10**30])
async def test_a_fork_from_a_number_that_is_not_in_the_log_is_refused(
    standing: RunningConsole, after: int
) -> None:
    ws = await standing.create()
    before = (await standing.client.get("/v1/workstreams")).json()["total"]
    answer = await standing.client.post(f"/v1/workstreams/{ws}/fork", json={"after": after})
    assert (answer.status_code, answer.json()["field"]) == (422, "after")
    assert (await standing.client.get("/v1/workstreams")).json()["total"] == before


async def test_no_question_waits_as_long_as_no_agent_can_ask(console: RunningConsole) -> None:
    ws = await console.create()
    body = {"answers": [{"question_id": "qu_1", "text": "yes"}]}
    answer = await console.client.post(f"/v1/workstreams/{ws}/questions", json=body)
    assert (answer.status_code, answer.json()["code"]) == (404, "question_not_waiting")
