"""Questions, lasting permissions, runs over HTTP: one answer counts, nobody is misled."""

import asyncio
import json
from typing import Any

import msgspec
import pytest
from sqlalchemy import text

from redshank_console.services.principal import Principal
from redshank_console.services.waiting_views import may_answer
from redshank_shared.domain.access import SCOPES_OF
from redshank_shared.domain.events import AskedCall, MessageAnswered
from redshank_shared.stores.admin_audits import AdminAudits
from redshank_shared.stores.permission_rules import PermissionRules, RuleRow
from redshank_shared.stores.policy_revisions import PolicyRevisions
from tests.integration.asked_questions import asked
from tests.integration.console_world import (
    NodeSide,
    RunningConsole,
    decided,
    fresh_id,
    requested,
)

pytest_plugins = ("tests.integration.console_fixtures",)


def answers(request_id: str, option: str = "o1") -> dict[str, Any]:
    return {
        "answers": [
            {"question_id": f"{request_id}.tea", "option_ids": [option]},
            {"question_id": f"{request_id}.when", "option_ids": ["o1", "o2"], "text": "at noon"},
        ]
    }


def allowing(request_id: str, scope: str = "always") -> dict[str, Any]:
    return {"resolutions": [{"request_id": request_id, "behavior": "allow", "scope": scope}]}


async def stored_rules(world: RunningConsole) -> list[RuleRow]:
    _, rows = await world.database.run(PermissionRules(world.database).all)
    return list(rows)


@pytest.mark.req("K-18", "K-54")
async def test_what_is_asked_is_shown_everywhere(both: RunningConsole) -> None:
    ws, request_id = await asked(both)
    view = await both.view(ws)
    assert (view["state"], [wait["kind"] for wait in view["waiting_for"]]) == (
        "waiting",
        ["question"],
    )
    (question,) = view["pending_questions"]
    assert question["question_id"] == f"{request_id}.tea"
    assert (question["text"], question["audience"]) == ("Which tea?", "user")
    assert question["expires_at"] == "2100-01-01T00:00:00.000Z"
    assert [each["multi_select"] for each in question["questions"]] == [False, True]
    assert question["questions"][0]["options"] == [
        {"option_id": "o1", "label": "green", "description": ""},
        {"option_id": "o2", "label": "black", "description": "strong"},
    ]
    whose = {"workstream_id": ws, "workstream_name": "tea", "owner": "admin", "may_answer": True}
    for path in ("/v1/questions", f"/v1/sessions/{ws}/questions"):
        page = (await both.client.get(path)).json()
        assert (page["items"], page["total"]) == ([{**question, **whose}], 1)
    listed = (await both.client.get("/v1/workstreams", params={"waiting_for": "question"})).json()
    assert listed["items"][0]["pending_questions"] == [question]
    overview = (await both.client.get("/v1/cluster/overview")).json()
    assert overview["needs_you"] == 1
    run = (await both.client.get(f"/v1/runs/{ws}")).json()
    assert (run["state"], run["pending_questions"]) == ("waiting_for_user_question", [question])


@pytest.mark.req("B-22")
@pytest.mark.fault("F-50")
async def test_of_twenty_answers_at_once_one_counts_and_the_others_learn_whose(
    both: RunningConsole,
) -> None:
    ws, request_id = await asked(both)
    path = f"/v1/workstreams/{ws}/questions"
    given = await asyncio.gather(
        *(
            both.client.post(path, json=answers(request_id, f"o{1 + number % 2}"))
            for number in range(20)
        )
    )
    assert sorted(answer.status_code for answer in given) == [200] + [409] * 19
    (fact,) = [e for e in await both.events(ws) if e["kind"] == "question.answered"]
    refusals = {answer.json()["detail"] for answer in given if answer.status_code == 409}
    assert refusals == {f"Answered by admin at {fact['at']}. Nothing is left to answer"}
    (result,) = [e for e in await both.events(ws) if e["kind"] == "call.finished"]
    assert result["outcome"] == "ok"
    assert (await both.client.get("/v1/questions")).json()["total"] == 0


async def test_an_answer_sent_again_with_its_key_is_answered_the_same(
    both: RunningConsole,
) -> None:
    ws, request_id = await asked(both)
    path, body = f"/v1/sessions/{ws}/questions", {**answers(request_id), "idempotency_key": "mine"}
    first = await both.client.post(path, json=body)
    assert first.status_code == 200
    assert (await both.client.post(path, json=body)).text == first.text
    other = {**answers(request_id, "o2"), "idempotency_key": "mine"}
    assert (await both.client.post(path, json=other)).json()["code"] == "idempotency_key_reused"


async def test_a_wrong_answer_names_itself_and_changes_nothing(console: RunningConsole) -> None:
    ws, request_id = await asked(console)
    before = await console.events(ws)
    path, good = f"/v1/workstreams/{ws}/questions", answers(request_id)["answers"]
    for body, status, code, field in (
        (good[:1], 422, "answer_missing", "answers"),
        ([{**good[0], "option_ids": ["o9"]}, good[1]], 422, "unknown_option", None),
        ([good[0], good[0]], 422, "duplicate_answer", "answers[1].question_id"),
        ([{"question_id": "qst_1.tea", "text": "x"}], 404, "question_not_waiting", None),
    ):
        answer = await console.client.post(path, json={"answers": body})
        assert (answer.status_code, answer.json()["code"]) == (status, code)
        assert field is None or answer.json()["field"] == field
    assert (await console.client.post(path, json={"answers": []})).status_code == 422
    assert await console.events(ws) == before


@pytest.mark.req("K-54")
async def test_a_question_is_cancelled_through_its_run_and_the_agent_goes_on(
    both: RunningConsole,
) -> None:
    ws, request_id = await asked(both)
    cancel = f"/v1/runs/{ws}/questions/{request_id}/cancel"
    done = await both.client.post(cancel)
    assert (done.status_code, done.json()["state"]) == (202, "running")
    late = await both.client.post(f"/v1/runs/{ws}/questions", json=answers(request_id))
    assert (late.status_code, late.json()["code"]) == (409, "question_resolved")
    assert late.json()["detail"].startswith("Cancelled by admin at ")


@pytest.mark.fault("F-39")
async def test_closing_ends_what_is_asked_and_a_later_answer_learns_it(
    console: RunningConsole,
) -> None:
    ws, request_id = await asked(console)
    closed = (await console.client.post(f"/v1/workstreams/{ws}/close")).json()
    assert (closed["state"], closed["pending_questions"]) == ("closed", [])
    late = await console.client.post(f"/v1/workstreams/{ws}/questions", json=answers(request_id))
    assert (late.status_code, late.json()["code"]) == (409, "question_resolved")


@pytest.mark.req("K-52")
async def test_an_approval_is_answered_through_its_run(both: RunningConsole) -> None:
    for path in ("/v1/sessions/{}/approval-runs", "/v1/runs/{}/approvals"):
        ws = await both.create(message="run it")
        (request_id,) = await NodeSide(both, ws).ask_to_run("echo hi")
        run = (await both.client.get(f"/v1/runs/{ws}")).json()
        assert (run["state"], len(run["pending_approvals"])) == ("waiting_for_approval", 1)
        answer = await both.client.post(path.format(ws), json=allowing(request_id, "once"))
        assert (answer.status_code, answer.json()["state"]) == (202, "running")
        assert (answer.json()["id"], answer.json()["session_id"]) == (ws, ws)


@pytest.mark.req("T-14", "B-21")
async def test_allowed_for_always_becomes_one_visible_rule_of_the_owner(
    both: RunningConsole,
) -> None:
    for _ in range(2):
        ws = await both.create(name="reeds", message="run it")
        (request_id,) = await NodeSide(both, ws).ask_to_run("echo hi")
        path = f"/v1/workstreams/{ws}/approvals"
        body, key = allowing(request_id), {"Idempotency-Key": "mine"}
        first = await both.client.post(path, json=body, headers=key)
        assert first.status_code == 200
        assert (await both.client.post(path, json=body, headers=key)).text == first.text
    (rule,) = await stored_rules(both)
    assert (rule.scope, rule.subject, rule.pattern) == ("user", "admin", "bash")
    assert (rule.decision, rule.origin, rule.created_by) == ("allow", "approval", "admin")
    assert "reeds" in rule.note
    late = await both.client.post(path, json=allowing(request_id, "once"))
    assert late.json()["detail"].startswith("Allowed for always by admin at ")


def renamed(world: RunningConsole, table: str, to: str) -> None:
    with world.database.begin() as connection:
        connection.execute(text(f"ALTER TABLE {table} RENAME TO {to}"))


@pytest.mark.req("T-14", "K-53")
@pytest.mark.fault("F-49")
async def test_an_always_whose_rule_or_record_cannot_be_kept_is_no_answer_at_all(
    both: RunningConsole,
) -> None:
    ws = await both.create(message="run it")
    (request_id,) = await NodeSide(both, ws).ask_to_run("echo hi")
    path, body = f"/v1/workstreams/{ws}/approvals", allowing(request_id)
    for table in ("permission_rules", "admin_audits"):
        renamed(both, table, "away")
        failed = await both.client.post(path, json=body)
        renamed(both, "away", table)
        assert failed.status_code >= 500
        (pending,) = (await both.view(ws))["pending_approvals"]
        assert pending["request_id"] == request_id
        assert await stored_rules(both) == []
        assert PolicyRevisions(both.database).all() == {}
    answered = await both.client.post(path, json=body)
    assert (answered.status_code, answered.json()["pending_approvals"]) == (200, [])
    (rule,) = await stored_rules(both)
    acts = AdminAudits(both.database).page(act="rule.added").items
    assert [(act.who, act.target) for act in acts] == [("admin", rule.rule_id)]
    assert PolicyRevisions(both.database).all() == {"rules": 1}


@pytest.mark.req("B-21")
async def test_an_always_sent_again_with_its_key_brings_no_revoked_rule_back(
    console: RunningConsole,
) -> None:
    ws = await console.create(message="run it")
    (request_id,) = await NodeSide(console, ws).ask_to_run("echo hi")
    path, key = f"/v1/runs/{ws}/approvals", {"Idempotency-Key": "mine"}
    first = await console.client.post(path, json=allowing(request_id), headers=key)
    assert first.status_code == 202
    (rule,) = await stored_rules(console)
    gone = await console.client.delete(f"/v1/permissions/rules/{rule.rule_id}")
    assert gone.status_code == 200
    again = await console.client.post(path, json=allowing(request_id), headers=key)
    assert (again.status_code, again.text) == (202, first.text)
    assert await stored_rules(console) == []


@pytest.mark.req("T-14")
async def test_of_several_answers_each_always_keeps_its_rule_where_one_asked_before(
    both: RunningConsole,
) -> None:
    asking = {"scope": "user", "pattern": "bash", "decision": "ask"}
    kept = (await both.client.post("/v1/permissions/rules", json=asking)).json()
    ws = await both.create(message="run it")
    request_ids = await NodeSide(both, ws).ask_to_run("echo hi", "echo ho")
    body = {"resolutions": [allowing(each)["resolutions"][0] for each in request_ids]}
    answered = await both.client.post(f"/v1/workstreams/{ws}/approvals", json=body)
    assert answered.status_code == 200
    (rule,) = await stored_rules(both)
    assert (rule.rule_id, rule.decision, rule.origin) == (kept["id"], "allow", "approval")
    acts = AdminAudits(both.database).page().items
    assert [act.act for act in acts if act.act.startswith("rule.")] == [
        "rule.replaced",
        "rule.added",
    ]


async def asks_to_read(world: RunningConsole, uri: str) -> tuple[str, str]:
    """A workstream whose agent asks to read this resource; the request's id."""
    ws = await world.create(message="read it")
    node = NodeSide(world, ws)
    node.claim()
    call = AskedCall(fresh_id("cl"), "read_mcp_resource", json.dumps({"command": uri}))
    asked_for = requested(call)
    pattern = f"read_mcp_resource:{uri}"
    await node.tell(
        MessageAnswered(read=node.state.version, calls=(call,), finish="tool_calls"),
        decided(call),
        msgspec.structs.replace(asked_for, tool="read_mcp_resource", pattern=pattern),
        release=True,
    )
    return ws, asked_for.request_id


@pytest.mark.req("T-14", "K-53")
async def test_an_always_that_no_rule_can_hold_to_the_letter_is_refused_before_it_counts(
    console: RunningConsole,
) -> None:
    for uri in ("mem://notes/*", "mem://my notes", "mem://" + "n" * 200):
        ws, request_id = await asks_to_read(console, uri)
        path = f"/v1/workstreams/{ws}/approvals"
        refused = await console.client.post(path, json=allowing(request_id))
        assert (refused.status_code, refused.json()["code"]) == (422, "no_rule_for_this")
        assert refused.json()["field"] == "resolutions[0].scope"
        assert refused.json()["detail"].endswith("allow it once, or for this workstream")
        answered = await console.client.post(path, json=allowing(request_id, "workstream"))
        assert answered.status_code == 200
    assert await stored_rules(console) == []


@pytest.mark.req("T-14", "B-4")
async def test_what_was_allowed_for_a_workstream_is_not_allowed_in_its_forks(
    both: RunningConsole,
) -> None:
    ws = await both.create(message="run it")
    for _ in range(2):
        (request_id,) = await NodeSide(both, ws).ask_to_run("echo hi")
        path = f"/v1/workstreams/{ws}/approvals"
        view = (await both.client.post(path, json=allowing(request_id, "workstream"))).json()
        await both.client.post(f"/v1/workstreams/{ws}/cancel")
        await both.client.post(f"/v1/workstreams/{ws}/messages", json={"text": "go on"})
    last = (await both.view(ws))["last_seq"]
    assert (await checked(both, ws))["decision"] == "allow"
    forked = await both.client.post(f"/v1/workstreams/{ws}/fork", json={"after": last})
    assert forked.status_code == 201, view
    assert (await checked(both, forked.json()["id"]))["decision"] == "ask"
    assert (await checked(both, ws))["decision"] == "allow"


async def checked(world: RunningConsole, ws: str) -> dict[str, Any]:
    body = {"tool": "bash", "workstream": ws}
    answer = await world.client.post("/v1/permissions/check", json=body)
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


async def test_what_is_refused_leaves_no_rule(console: RunningConsole) -> None:
    ws = await console.create(message="run it")
    (request_id,) = await NodeSide(console, ws).ask_to_run("echo hi")
    body = allowing(request_id)
    body["resolutions"].append({"request_id": fresh_id("apr"), "behavior": "deny"})
    path = f"/v1/workstreams/{ws}/approvals"
    assert (await console.client.post(path, json=body)).status_code == 404
    assert await stored_rules(console) == []


@pytest.mark.req("B-21")
@pytest.mark.parametrize(
    ("name", "role", "reach"),
    [
        ("ines", "viewer", []),
        ("ines", "operator", ["once", "workstream", "always"]),
        ("bob", "operator", ["once", "workstream"]),
        ("bob", "admin", ["once", "workstream", "always"]),
    ],
)
def test_how_far_a_word_reaches_depends_on_role_and_owner(
    name: str, role: str, reach: list[str]
) -> None:
    assert may_answer(Principal(name, role, SCOPES_OF[role]), "ines") == reach


@pytest.mark.req("B-21")
async def test_only_the_owner_or_an_admin_makes_a_rule_for_always(console: RunningConsole) -> None:
    user = {"name": "bob", "role": "operator"}
    assert (await console.client.post("/v1/users", json=user)).status_code == 201
    made = await console.client.post("/v1/tokens", json={"name": "bob", "label": "test"})
    assert made.status_code == 201, made.text
    ws = await console.create(message="run it")
    (request_id,) = await NodeSide(console, ws).ask_to_run("echo hi")
    path = f"/v1/workstreams/{ws}/approvals"
    async with console.new_client({"Authorization": f"Bearer {made.json()['token']}"}) as bob:
        (item,) = (await bob.get("/v1/approvals")).json()["items"]
        assert item["may_answer"] == ["once", "workstream"]
        refused = await bob.post(path, json=allowing(request_id))
        assert (refused.status_code, refused.json()["code"]) == (403, "not_yours")
        assert (await bob.post(path, json=allowing(request_id, "workstream"))).status_code == 200
    assert await stored_rules(console) == []


async def test_a_fork_of_what_is_asked_rests_and_asks_nobody(both: RunningConsole) -> None:
    ws, request_id = await asked(both)
    last = (await both.view(ws))["last_seq"]
    forked = await both.client.post(f"/v1/workstreams/{ws}/fork", json={"after": last})
    assert (forked.status_code, forked.json()["state"]) == (201, "idle")
    assert forked.json()["pending_questions"] == []
    (item,) = (await both.client.get("/v1/questions")).json()["items"]
    assert (item["workstream_id"], item["request_id"]) == (ws, request_id)
    other = f"/v1/workstreams/{forked.json()['id']}/questions"
    assert (await both.client.post(other, json=answers(request_id))).status_code == 404
