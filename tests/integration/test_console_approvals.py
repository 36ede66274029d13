"""Approvals over HTTP: one answer counts, all or none, nobody is misled."""

import asyncio
import json
from typing import Any

import pytest

from redshank_shared.domain.digests import input_digest
from redshank_shared.domain.ids import WorkstreamId
from tests.integration.console_world import NodeSide, RunningConsole, fresh_id

pytest_plugins = ("tests.integration.console_fixtures",)


async def waiting(world: RunningConsole, *commands: str) -> tuple[WorkstreamId, list[str]]:
    """A workstream in which these commands wait for a person; their request ids."""
    ws = await world.create(message="run them")
    return ws, await NodeSide(world, ws).ask_to_run(*commands)


def answering(*request_ids: str, behavior: str = "allow", **more: Any) -> dict[str, Any]:
    return {
        "resolutions": [
            {"request_id": request_id, "behavior": behavior, **more} for request_id in request_ids
        ]
    }


async def kinds(world: RunningConsole, ws: WorkstreamId) -> list[str]:
    return [event["kind"] for event in await world.events(ws)]


async def test_what_waits_is_shown_with_its_preview(both: RunningConsole) -> None:
    ws, (request_id,) = await waiting(both, "echo hi")
    view = await both.view(ws)
    assert (view["state"], view["waiting_for"][0]["kind"]) == ("waiting", "approval")
    (approval,) = view["pending_approvals"]
    assert approval["request_id"] == request_id
    assert approval["tool"] == "bash"
    assert approval["input"] == {"command": "echo hi"}
    assert approval["preview"]["body"] == "echo hi"
    listed = (await both.client.get("/v1/workstreams", params={"waiting_for": "approval"})).json()
    assert listed["items"][0]["pending_approvals"] == [approval]
    inbox = (await both.client.get("/v1/approvals")).json()
    whose = {"workstream_id": ws, "workstream_name": view["name"], "owner": "admin"}
    may_answer = ["once", "workstream", "always"]
    assert inbox["items"] == [{**approval, **whose, "may_answer": may_answer}]
    overview = (await both.client.get("/v1/cluster/overview")).json()
    assert overview["needs_you"] == 1


@pytest.mark.fault("F3")
@pytest.mark.fault("F50")
async def test_of_twenty_answers_at_once_one_counts_and_the_others_learn_whose(
    both: RunningConsole,
) -> None:
    ws, (request_id,) = await waiting(both, "echo hi")
    path = f"/v1/workstreams/{ws}/approvals"
    answers = await asyncio.gather(
        *(
            both.client.post(
                path, json=answering(request_id, behavior="allow" if n % 2 else "deny")
            )
            for n in range(20)
        )
    )
    assert sorted(answer.status_code for answer in answers) == [200] + [409] * 19
    (resolved,) = [e for e in await both.events(ws) if e["kind"] == "approval.resolved"]
    said = "Allowed" if resolved["behavior"] == "allow" else "Denied"
    for answer in answers:
        if answer.status_code == 409:
            problem = answer.json()
            assert problem["code"] == "approval_resolved"
            assert problem["field"] == "resolutions[0].request_id"
            assert problem["detail"] == (
                f"{said} by admin at {resolved['at']}. Nothing is left to decide"
            )


async def test_an_answer_sent_again_with_its_key_is_answered_the_same(
    both: RunningConsole,
) -> None:
    ws, (request_id,) = await waiting(both, "echo hi")
    path, headers = f"/v1/workstreams/{ws}/approvals", {"Idempotency-Key": "mine"}
    first = await both.client.post(path, json=answering(request_id), headers=headers)
    second = await both.client.post(path, json=answering(request_id), headers=headers)
    assert (first.status_code, second.status_code, second.text) == (200, 200, first.text)
    in_body = {**answering(request_id), "idempotency_key": "mine"}
    assert (await both.client.post(path, json=in_body)).text == first.text
    denial = {**answering(request_id, behavior="deny"), "idempotency_key": "mine"}
    other = await both.client.post(path, json=denial)
    assert (other.status_code, other.json()["code"]) == (409, "idempotency_key_reused")


@pytest.mark.req("K53")
async def test_a_batch_with_one_wrong_answer_changes_nothing(both: RunningConsole) -> None:
    ws, (first, second) = await waiting(both, "echo 1", "echo 2")
    before = await both.events(ws)
    path = f"/v1/workstreams/{ws}/approvals"
    for body, status, field in [
        (answering(first, fresh_id("apr")), 404, "resolutions[1].request_id"),
        (answering(first, "apr_1"), 422, "resolutions[1].request_id"),
        (answering(first, second, first), 422, "resolutions[2].request_id"),
        (answering(first, scope="for ever"), 422, "resolutions[0].scope"),
        (answering(first, behavior="maybe"), 422, "resolutions[0].behavior"),
        (answering(first, reason="no\0"), 422, "resolutions[0].reason"),
        (answering(), 422, "resolutions"),
        ({}, 422, "resolutions"),
    ]:
        answer = await both.client.post(path, json=body)
        assert (answer.status_code, answer.json()["field"]) == (status, field)
    assert await both.events(ws) == before
    assert (await both.client.post(path, json=answering(first, second))).status_code == 200


async def test_a_request_of_another_workstream_is_unknown_here(both: RunningConsole) -> None:
    _, (request_id,) = await waiting(both, "echo hi")
    other = await both.create()
    path = f"/v1/workstreams/{other}/approvals"
    for _ in range(2):
        answer = await both.client.post(path, json=answering(request_id))
        assert (answer.status_code, answer.json()["code"]) == (404, "approval_not_waiting")


@pytest.mark.req("O-11")
@pytest.mark.fault("F4")
async def test_an_edited_input_is_kept_as_the_person_wrote_it(both: RunningConsole) -> None:
    ws, (request_id,) = await waiting(both, "rm -rf /")
    body = answering(request_id, updated_input={"command": "ls"}, justification="safer")
    answer = await both.client.post(f"/v1/workstreams/{ws}/approvals", json=body)
    assert answer.status_code == 200
    (resolved,) = [e for e in await both.events(ws) if e["kind"] == "approval.resolved"]
    assert resolved["updated_arguments"] == '{"command":"ls"}'
    assert resolved["original_digest"] == "sha256:0"
    assert resolved["input_digest"] == input_digest("bash", '{"command":"ls"}')
    assert (resolved["by"], resolved["justification"]) == ("admin", "safer")


@pytest.mark.fault("F43")
async def test_an_edited_input_that_json_cannot_carry_is_refused(both: RunningConsole) -> None:
    ws, (request_id,) = await waiting(both, "ls")
    raw = json.dumps(answering(request_id, updated_input={"command": "\ud800"}))
    answer = await both.client.post(
        f"/v1/workstreams/{ws}/approvals",
        content=raw,
        headers={"Content-Type": "application/json"},
    )
    assert (answer.status_code, answer.json()["code"]) == (422, "bad_character")
    assert "approval.resolved" not in await kinds(both, ws)


@pytest.mark.fault("F39")
async def test_closing_cancels_what_waits_and_a_later_answer_learns_it(
    both: RunningConsole,
) -> None:
    ws, (request_id,) = await waiting(both, "echo hi")
    closed = await both.client.post(f"/v1/workstreams/{ws}/close")
    assert (closed.status_code, closed.json()["state"]) == (200, "closed")
    assert closed.json()["pending_approvals"] == []
    late = await both.client.post(f"/v1/workstreams/{ws}/approvals", json=answering(request_id))
    assert (late.status_code, late.json()["code"]) == (409, "approval_resolved")
    assert late.json()["detail"].startswith("Cancelled by admin at ")
    assert (await both.client.get("/v1/approvals")).json()["total"] == 0


@pytest.mark.req("K46")
async def test_audits_list_every_decision_in_order(both: RunningConsole) -> None:
    ws, _ = await waiting(both, "echo 1", "echo 2", "echo 3")
    path = f"/v1/workstreams/{ws}/permission-audits"
    decided = [event for event in await both.events(ws) if event["kind"] == "call.decided"]
    seen: list[dict[str, Any]] = []
    params: dict[str, Any] = {"limit": 2}
    while True:
        page = (await both.client.get(path, params=params)).json()
        assert page["total"] == 3
        seen.extend(page["items"])
        if page["next_cursor"] is None:
            break
        params["cursor"] = page["next_cursor"]
    assert [audit["seq"] for audit in seen] == [event["seq"] for event in decided]
    assert {(audit["decision"], audit["pattern"], audit["why"]) for audit in seen} == {
        ("ask", "*", "a process may do anything")
    }


@pytest.mark.req("K-45")
async def test_what_was_decided_is_listed_with_who_decided_the_last_first(
    both: RunningConsole,
) -> None:
    ws, (first, second, third) = await waiting(both, "echo 1", "echo 2", "echo 3")
    path = f"/v1/workstreams/{ws}/approvals"
    for body in (
        answering(second, scope="workstream"),
        answering(first, behavior="deny", reason="not now"),
    ):
        assert (await both.client.post(path, json=body)).status_code == 200

    page = (await both.client.get("/v1/approvals/decided?limit=1")).json()
    rest = (
        await both.client.get(f"/v1/approvals/decided?limit=1&cursor={page['next_cursor']}")
    ).json()

    (denied,), (allowed,) = page["items"], rest["items"]
    assert (page["total"], rest["next_cursor"]) == (2, None)
    assert denied["request_id"] == first
    assert (denied["state"], denied["resolved_by"], denied["reason"]) == (
        "denied",
        "admin",
        "not now",
    )
    assert (denied["tool"], denied["title"], denied["workstream_id"]) == ("bash", "run echo 1", ws)
    assert allowed["request_id"] == second
    assert (allowed["state"], allowed["scope"]) == ("allowed", "workstream")
    waits = (await both.client.get("/v1/approvals")).json()
    assert [item["request_id"] for item in waits["items"]] == [third]
