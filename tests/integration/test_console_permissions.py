"""Permissions over HTTP: rules kept, dry runs without effect, policies tried, audits explained."""

import asyncio
from typing import Any

import httpx
import msgspec
import pytest
from sqlalchemy import update

from redshank_node.engine.tool_cards import card_of, encoded_cards
from redshank_node.tools.catalog import BUILTIN
from redshank_shared.domain.events import MODES
from redshank_shared.permissions.tool_card import ToolCard
from redshank_shared.profiles.profile import load
from redshank_shared.stores.admin_audits import AdminAudits
from redshank_shared.stores.audits import Audits
from redshank_shared.stores.mcp_tools import McpTools, SeenTool
from redshank_shared.stores.policy_revisions import PolicyRevisions
from redshank_shared.stores.services import ServiceRow, Services
from redshank_shared.stores.tables import workstreams
from tests.integration.console_world import NodeSide, RunningConsole
from tests.store_fixtures import AT

pytest_plugins = ("tests.integration.console_fixtures",)

RULES = "/v1/permissions/rules"
SEARCH = ToolCard(
    "mcp__linear__search", "mcp__linear__search", (), "mcp", plan=False, server="linear"
)


def with_node(world: RunningConsole, *more: ToolCard) -> None:
    """A live node with the built-in tools, and some more."""
    surface = encoded_cards(BUILTIN)
    if more:
        cards = [*(card_of(tool) for tool in BUILTIN), *more]
        surface = msgspec.json.encode(cards).decode()
    node = ServiceRow("marsh-1.x", "node", "", "1", AT, "{}", surface=surface)
    Services(world.database).register(node)


async def post(world: RunningConsole, path: str, status: int = 200, **body: Any) -> dict[str, Any]:
    answer = await world.client.post(path, json=body)
    assert answer.status_code == status, answer.text
    return dict(answer.json())


async def add(world: RunningConsole, pattern: str, decision: str, **more: Any) -> dict[str, Any]:
    body = {"scope": "user", "pattern": pattern, "decision": decision, **more}
    return await post(world, RULES, 201, **body)


async def check(world: RunningConsole, tool: str, **more: Any) -> dict[str, Any]:
    return await post(world, "/v1/permissions/check", tool=tool, **more)


def problem(answer: httpx.Response) -> tuple[int, str, str | None]:
    assert answer.headers["content-type"] == "application/problem+json"
    said = answer.json()
    return answer.status_code, said["code"], said.get("field")


async def test_a_rule_is_kept_listed_and_taken_away_each_time_audited(
    both: RunningConsole,
) -> None:
    rule = await add(both, "bash", "deny", note="not on this machine", locked=True)
    assert {
        "scope": "user",
        "subject": "admin",
        "pattern": "bash",
        "decision": "deny",
        "locked": True,
        "origin": "static",
        "note": "not on this machine",
        "created_by": "admin",
    }.items() <= rule.items()
    project = await add(both, "mcp__linear__*", "allow", scope="project")
    assert project["subject"] == "default"
    listed = (await both.client.get(RULES)).json()
    assert listed == {"items": [rule, project], "next_cursor": None, "total": 2}
    only = (await both.client.get(RULES, params={"scope": "project"})).json()
    assert [each["id"] for each in only["items"]] == [project["id"]]
    gone = await both.client.delete(f"{RULES}/{rule['id']}")
    assert (gone.status_code, gone.json()) == (200, rule)
    gone = await both.client.delete(RULES, params={"id": project["id"]})
    assert gone.status_code == 200
    assert problem(await both.client.delete(f"{RULES}/{rule['id']}")) == (
        404,
        "rule_not_found",
        "id",
    )
    acts = AdminAudits(both.database).page().items
    assert sorted((act.who, act.act, act.target) for act in acts if "rule" in act.act) == sorted(
        ("admin", act, target)
        for act in ("rule.added", "rule.removed")
        for target in (rule["id"], project["id"])
    )
    assert "locked user rule of admin: bash deny" in [act.detail for act in acts]


async def test_the_same_pattern_replaces_and_a_repeated_write_is_answered_the_same(
    both: RunningConsole,
) -> None:
    rule = await add(both, "bash", "deny")
    body = {"scope": "user", "pattern": "bash", "decision": "allow"}
    key = {"Idempotency-Key": "again"}
    first = await both.client.post(RULES, json=body, headers=key)
    assert first.status_code == 201
    assert (first.json()["id"], first.json()["decision"]) == (rule["id"], "allow")
    revision = PolicyRevisions(both.database).all()
    again = await both.client.post(RULES, json=body, headers=key)
    assert (again.status_code, again.json()) == (201, first.json())
    assert PolicyRevisions(both.database).all() == revision
    other = await both.client.post(RULES, json={**body, "pattern": "edit_file"}, headers=key)
    assert problem(other) == (409, "idempotency_key_reused", "Idempotency-Key")
    for _ in range(2):
        gone = await both.client.delete(f"{RULES}/{rule['id']}", headers=key)
        assert (gone.status_code, gone.json()["pattern"]) == (200, "bash")


async def test_a_rule_may_speak_of_every_user_there_is_or_was(both: RunningConsole) -> None:
    user = {"name": "ines", "role": "operator"}
    assert (await both.client.post("/v1/users", json=user)).status_code == 201
    ws = await both.create(message="hi")
    for subject in ("ines", "local", "*", "admin"):
        rule = await add(both, "bash", "deny", subject=subject)
        assert rule["subject"] == subject
    with both.database.begin() as connection:
        connection.execute(update(workstreams).values(owner="gone"))
    assert (await add(both, "bash", "deny", subject="gone"))["subject"] == "gone"
    assert (await check(both, "bash", workstream=ws))["decision"] == "deny"


@pytest.mark.req("K-39")
async def test_of_one_pattern_for_everybody_and_for_somebody_a_deny_counts_else_the_narrower(
    console: RunningConsole,
) -> None:
    for for_all, own, decision in (
        ("allow", "deny", "deny"),
        ("deny", "allow", "deny"),
        ("ask", "allow", "allow"),
        ("allow", "ask", "ask"),
    ):
        for first, last in ((("*", for_all), ("admin", own)), (("admin", own), ("*", for_all))):
            rules = [
                await add(console, "bash", said, subject=subject) for subject, said in (first, last)
            ]
            assert (await check(console, "bash"))["decision"] == decision, (first, last)
            for rule in rules:
                await console.client.delete(f"{RULES}/{rule['id']}")


async def test_twenty_equal_writes_with_one_key_make_one_change(both: RunningConsole) -> None:
    body = {"scope": "user", "pattern": "bash", "decision": "allow"}
    answers = await asyncio.gather(
        *(
            both.client.post(RULES, json=body, headers={"Idempotency-Key": "once"})
            for _ in range(20)
        )
    )
    assert {(answer.status_code, answer.text) for answer in answers} == {(201, answers[0].text)}
    assert PolicyRevisions(both.database).all() == {"rules": 1}
    path = f"{RULES}/{answers[0].json()['id']}"
    removals = await asyncio.gather(
        *(both.client.delete(path, headers={"Idempotency-Key": "gone"}) for _ in range(20))
    )
    assert {(answer.status_code, answer.text) for answer in removals} == {(200, answers[0].text)}
    acts = (await both.client.get("/v1/audit", params={"act": "rule.removed"})).json()
    assert acts["total"] == 1


@pytest.mark.fault("F5")
@pytest.mark.parametrize(
    ("body", "field", "says"),
    [
        ({"pattern": "bahs"}, "pattern", "did you mean bash?"),
        ({"pattern": "a*b"}, "pattern", "may only stand last"),
        ({"pattern": ""}, "pattern", "empty"),
        ({"pattern": "bash(git *)"}, "pattern", "blank"),
        ({"pattern": "@proces"}, "pattern", "did you mean @process?"),
        ({"pattern": "x" * 201}, "pattern", ""),
        ({"pattern": "bash", "decision": "maybe"}, "decision", "must be"),
        ({"pattern": "bash", "scope": "session"}, "scope", "must be"),
        ({"pattern": "bash", "decision": "allow", "locked": True}, "locked", "leave locked out"),
        ({"pattern": "bash", "until": "noon"}, "until", "leave it out"),
        ({"pattern": "bash", "note": "a\0b"}, "note", "NUL"),
        ({"pattern": "bash", "subject": "inse"}, "subject", "no user inse"),
        ({"pattern": "bash", "scope": "project", "subject": "moor"}, "subject", "no project moor"),
    ],
)
async def test_a_rule_that_cannot_be_is_refused_by_its_field(
    standing: RunningConsole, body: dict[str, Any], field: str, says: str
) -> None:
    with_node(standing)
    answer = await standing.client.post(RULES, json={"scope": "user", "decision": "deny", **body})
    assert (answer.status_code, answer.json()["field"]) == (422, field)
    assert says in answer.json()["detail"]
    assert PolicyRevisions(standing.database).all() == {}


@pytest.mark.req("O-28")
@pytest.mark.parametrize("scope", ["user", "project"])
async def test_an_allow_of_everything_shows_what_it_changes_and_asks_once_more(
    both: RunningConsole, scope: str
) -> None:
    with_node(both, SEARCH)
    body = {"scope": scope, "pattern": "*", "decision": "allow"}
    answer = await both.client.post(RULES, json=body)
    assert problem(answer) == (409, "confirm_needed", "confirm")
    assert "bash in default: ask becomes allow" in answer.json()["detail"]
    changed = {(each["tool"], each["mode"]): each for each in answer.json()["changes"]}
    assert all(each["wider"] for each in changed.values())
    for tool in ("bash", "write_file", "mcp__linear__search"):
        cell = changed[tool, "default"]
        assert (cell["before"]["decision"], cell["after"]["decision"]) == ("ask", "allow")
        assert cell["after"]["scope"] == scope
    # Plan mode denies what is off its list whatever a rule says; bypass allowed it before (K-36).
    assert {mode for tool, mode in changed if tool == "bash"} == {
        "default",
        "acceptEdits",
        "dontAsk",
    }
    assert not {tool for tool, _ in changed} & {"read_file", "list_files"}
    assert PolicyRevisions(both.database).all() == {}
    await post(both, RULES, 201, **body, confirm=True)
    assert (await check(both, "bash"))["decision"] == "allow"


@pytest.mark.req("K-47")
@pytest.mark.req("K-41")
async def test_a_check_says_everything_that_a_decision_would(both: RunningConsole) -> None:
    with_node(both)
    assert await check(both, "bash") == {
        "tool": "bash",
        "decision": "ask",
        "base_decision": "ask",
        "effective_mode": "default",
        "mode_effect": None,
        "pattern": "bash",
        "scope": "session",
        "origin": "static",
        "why": "the default rule bash says ask",
        "hooks_evaluated": False,
        "registered": True,
    }
    said = await check(both, "bash", mode="dontAsk", input={"command": "ls"})
    assert (said["decision"], said["base_decision"]) == ("deny", "ask")
    assert said["mode_effect"] == "dont_ask_denied_approval"
    assert (await check(both, "todo_write"))["registered"] is False
    assert (await check(both, "nothing_like_it"))["pattern"] == "*"


@pytest.mark.req("K-42")
async def test_no_mcp_except_linear(both: RunningConsole) -> None:
    await add(both, "mcp__*", "deny")
    await add(both, "mcp__linear__*", "allow", scope="project")
    assert (await check(both, "mcp__linear__search"))["decision"] == "allow"
    for tool in ("mcp__github__list_prs", "mcp__linearish"):
        said = await check(both, tool, mode="bypassPermissions")
        assert (said["decision"], said["scope"], said["registered"]) == ("deny", "user", False)


@pytest.mark.req("O-14")
@pytest.mark.req("T-28")
async def test_a_label_is_taken_from_the_input_or_named_behind_a_colon(
    console: RunningConsole,
) -> None:
    with_node(console)
    assert (await check(console, "watch", input={"action": "create"}))["decision"] == "ask"
    assert (await check(console, "watch", input={"action": "list"}))["decision"] == "allow"
    assert (await check(console, "watch:create"))["pattern"] == "watch:create"
    await add(console, "watch:cancel", "deny")
    assert (await check(console, "watch", input={"action": "cancel"}))["decision"] == "deny"
    assert (await check(console, "watch", input={"action": "list"}))["decision"] == "allow"


@pytest.mark.req("T-28", "K-47")
async def test_a_label_that_an_input_implies_is_what_a_check_goes_by(
    console: RunningConsole,
) -> None:
    with_node(console)
    for target, decision in (
        ("https://example.org", "ask"),
        (" HTTP://example.org", "ask"),
        ("notes.md", "allow"),
        ("url", "allow"),
    ):
        said = await check(console, "open_preview", input={"target": target})
        assert said["decision"] == decision, target
    await add(console, "read_mcp_resource:mem://a", "deny")
    read = {"server": "load", "uri": "mem://a"}
    assert (await check(console, "read_mcp_resource", input=read))["decision"] == "deny"


@pytest.mark.req("K-68", "K-47")
async def test_a_server_that_a_credential_scope_leaves_out_is_denied_where_the_engine_would_allow(
    console: RunningConsole,
) -> None:
    with_node(console, SEARCH)
    ws = await console.create(credential_scope={"mcp_server_allow": ["github"]})
    assert (await check(console, SEARCH.name, workstream=ws))["decision"] == "ask"
    said = await check(console, SEARCH.name, workstream=ws, mode="bypassPermissions")
    assert (said["decision"], said["origin"], said["mode_effect"]) == ("deny", "boundary", None)
    assert "credential scope" in said["why"]
    assert "MCP server linear" in said["why"]
    whole = await post(console, "/v1/permissions/matrix", workstream=ws)
    (row,) = [row for row in whole["rows"] if row["tool"] == SEARCH.name]
    assert [(cell["effective_mode"], cell["decision"]) for cell in row["cells"]] == [
        ("default", "ask"),
        ("acceptEdits", "ask"),
        ("bypassPermissions", "deny"),
        ("plan", "deny"),
        ("dontAsk", "deny"),
    ]


@pytest.mark.req("K-47", "K-48")
@pytest.mark.fault("F-64")
async def test_a_tool_that_its_server_changed_is_asked_about_in_a_dry_run_too(
    console: RunningConsole,
) -> None:
    with_node(console, SEARCH)
    await add(console, SEARCH.name, "allow")
    tools = McpTools(console.database)
    tools.saw(SeenTool("linear", "search", "sha256:1", "Searches.", "{}"), AT)
    assert (await check(console, SEARCH.name))["decision"] == "allow"
    tools.saw(SeenTool("linear", "search", "sha256:2", "Sends.", "{}"), AT)
    said = await check(console, SEARCH.name)
    assert (said["decision"], said["base_decision"]) == ("ask", "ask")
    assert "its server says something else of it" in said["why"]
    whole = await post(console, "/v1/permissions/matrix")
    (row,) = [row for row in whole["rows"] if row["tool"] == SEARCH.name]
    decisions = {cell["effective_mode"]: cell["decision"] for cell in row["cells"]}
    assert decisions == {
        "default": "ask",
        "acceptEdits": "ask",
        "bypassPermissions": "ask",
        "plan": "deny",
        "dontAsk": "deny",
    }


@pytest.mark.req("K-47")
async def test_a_check_for_a_workstream_goes_by_its_owner_mode_and_grants(
    both: RunningConsole,
) -> None:
    ws = await both.create(message="run it", mode="plan")
    said = await check(both, "bash", workstream=ws)
    assert (said["decision"], said["effective_mode"]) == ("deny", "plan")
    assert (await check(both, "bash", workstream=ws, mode="default"))["decision"] == "ask"
    (request_id,) = await NodeSide(both, ws).ask_to_run("echo hi")
    grant = {"request_id": request_id, "behavior": "allow", "scope": "workstream"}
    await post(both, f"/v1/workstreams/{ws}/approvals", resolutions=[grant])
    said = await check(both, "bash", workstream=ws, mode="default")
    assert (said["decision"], said["scope"], said["origin"]) == ("allow", "session", "approval")
    assert (await check(both, "bash"))["decision"] == "ask"


@pytest.mark.req("T-14")
async def test_what_was_allowed_for_a_workstream_asks_again_once_it_is_revoked(
    both: RunningConsole,
) -> None:
    ws = await both.create(message="run it")
    (request_id,) = await NodeSide(both, ws).ask_to_run("echo hi")
    grant = {"request_id": request_id, "behavior": "allow", "scope": "workstream"}
    await post(both, f"/v1/workstreams/{ws}/approvals", resolutions=[grant])
    assert (await check(both, "bash", workstream=ws))["decision"] == "allow"
    path = f"/v1/workstreams/{ws}/revoke-grant"
    unknown = await both.client.post(path, json={"pattern": "write_file"})
    assert problem(unknown) == (404, "grant_not_found", "pattern")
    assert "bash" in unknown.json()["detail"]
    await post(both, path, pattern="bash")
    assert (await check(both, "bash", workstream=ws))["decision"] == "ask"
    assert problem(await both.client.post(path, json={"pattern": "bash"}))[0] == 404
    events = (await both.client.get(f"/v1/workstreams/{ws}/events")).json()["items"]
    (said,) = [event for event in events if event["kind"] == "grant.revoked"]
    assert (said["pattern"], said["by"]) == ("bash", "admin")


@pytest.mark.req("K-5")
@pytest.mark.req("O-16")
async def test_what_a_workstream_cannot_see_is_said_to_be_unavailable(
    console: RunningConsole,
) -> None:
    with_node(console, SEARCH)
    scope = {"mcp_server_allow": ["github"]}
    ws = await console.create(mode="bypassPermissions", capability_scope=scope)
    said = await check(console, SEARCH.name, workstream=ws)
    assert (said["decision"], said["origin"]) == ("deny", "boundary")
    assert said["why"].startswith("unavailable")
    assert (await check(console, SEARCH.name, mode="bypassPermissions"))["decision"] == "allow"
    whole = await post(console, "/v1/permissions/matrix", workstream=ws)
    tools = {row["tool"] for row in whole["rows"]}
    assert SEARCH.name not in tools
    assert "bash" in tools


@pytest.mark.req("K-47")
async def test_a_dry_run_changes_nothing(both: RunningConsole) -> None:
    with_node(both)
    ws = await both.create(message="hello")
    before, acts = await both.view(ws), AdminAudits(both.database).page().total
    await check(both, "bash", workstream=ws)
    await post(both, "/v1/permissions/matrix", workstream=ws)
    await post(both, "/v1/permissions/test", policy="")
    await post(both, "/v1/permissions/diff", after="")
    assert await both.view(ws) == before
    assert Audits(both.database).of_workstream(ws).total == 0
    assert AdminAudits(both.database).page().total == acts
    assert PolicyRevisions(both.database).all() == {}


async def test_who_names_what_is_not_there_learns_so(console: RunningConsole) -> None:
    nowhere = "ws_" + "0" * 22
    for path, body in [
        ("/v1/permissions/check", {"tool": "bash", "workstream": nowhere}),
        ("/v1/runtime/permissions/check", {"tool_name": "bash", "session_id": nowhere}),
        ("/v1/permissions/matrix", {"workstream": nowhere}),
    ]:
        answer = await console.client.post(path, json=body)
        assert answer.status_code == 404, answer.text
    for body, field in [
        ({"tool": "bash", "workstream": "x"}, "workstream"),
        ({"tool": "bash", "profile": "keish"}, "profile"),
        ({"tool": "bash", "mode": "yolo"}, "mode"),
        ({"tool": "bash", "input": "ls"}, "input"),
        ({}, "tool"),
    ]:
        answer = await console.client.post("/v1/permissions/check", json=body)
        assert (answer.status_code, answer.json()["field"]) == (422, field)


@pytest.mark.req("K-47")
async def test_the_names_of_the_runtime_api_answer_too(console: RunningConsole) -> None:
    with_node(console)
    ws = await console.create()
    said = await post(
        console,
        "/v1/runtime/permissions/check",
        tool_name="bash",
        tool_call_id="call_1",
        session_id=ws,
        input={},
        mode_override="bypassPermissions",
    )
    assert {
        "tool_name": "bash",
        "tool_call_id": "call_1",
        "decision": "allow",
        "mode_effect": "bypass_permissions_auto_allowed_approval",
        "hooks_evaluated": False,
        "hook_policy": "not_executed_in_dry_run",
    }.items() <= said.items()
    whole = await post(console, "/v1/runtime/permissions/matrix")
    assert (whole["hooks_evaluated"], whole["hook_policy"]) == (False, "not_executed_in_dry_run")
    assert {"bash", "read_file", "wake_after"} <= {row["tool"] for row in whole["rows"]}


@pytest.mark.req("K-48")
async def test_the_matrix_covers_the_live_surface_with_dynamic_tools(both: RunningConsole) -> None:
    with_node(both, SEARCH)
    whole = await post(both, "/v1/permissions/matrix")
    assert whole["modes"] == list(MODES)
    rows = {(row["tool"], row["label"]): row for row in whole["rows"]}
    assert {tool for tool, _ in rows} == {tool.name for tool in BUILTIN} | {SEARCH.name}
    linear = rows[SEARCH.name, ""]
    assert (linear["server"], linear["registered"]) == ("linear", True)
    assert [cell["decision"] for cell in linear["cells"]] == ["ask", "ask", "allow", "deny", "deny"]
    assert all(cell["why"] for row in whole["rows"] for cell in row["cells"])
    assert rows["watch", "create"]["cells"][0]["decision"] == "ask"
    surface = (await both.client.get("/v1/tool-surface")).json()
    assert {tool["name"] for tool in surface["tools"]} == {tool for tool, _ in rows}
    # A node's tool and a cell of it agree with the check.
    said = await check(both, "write_file", mode="acceptEdits")
    cell = rows["write_file", ""]["cells"][1]
    assert {key: said[key] for key in cell} == cell


@pytest.mark.req("K-48")
async def test_a_profiles_matrix_has_its_tools_and_those_of_servers(
    console: RunningConsole,
) -> None:
    with_node(console, SEARCH)
    whole = await post(console, "/v1/permissions/matrix", profile="kheish", mode="plan")
    assert (whole["profile"], whole["modes"]) == ("kheish", ["plan"])
    tools = [row["tool"] for row in whole["rows"]]
    assert tools == [*(card.name for card in load("kheish").tools), SEARCH.name]
    registered = {row["tool"]: row["registered"] for row in whole["rows"]}
    assert registered["bash"]
    assert not registered["todo_write"]


async def test_a_matrix_may_suppose_other_rules(console: RunningConsole) -> None:
    with_node(console)
    await add(console, "bash", "deny")
    rules = [{"scope": "session", "pattern": "@process", "decision": "allow"}]
    supposed = await post(console, "/v1/permissions/matrix", mode="default", rules=rules)
    (bash,) = [row for row in supposed["rows"] if row["tool"] == "bash"]
    assert bash["cells"][0]["pattern"] == "@process"
    rules = [{"scope": "user", "pattern": "bash", "decision": "ask", "locked": True}]
    answer = await console.client.post("/v1/permissions/matrix", json={"rules": rules})
    assert problem(answer) == (422, "invalid", "rules[0].locked")


POLICY = """
[[rule]]
scope = "user"
pattern = "mcp__*"
decision = "deny"

[[rule]]
scope = "project"
pattern = "mcp__linear__*"
decision = "allow"

[[expect]]
tool = "mcp__linear__search"
decision = "allow"

[[expect]]
tool = "mcp__github__list_prs"
mode = "bypassPermissions"
decision = "deny"
pattern = "mcp__*"
scope = "user"

[[expect]]
tool = "bash"
profile = "kheish"
decision = "allow"
"""


@pytest.mark.req("B-5")
async def test_a_policy_is_tried_against_what_is_expected_of_it(console: RunningConsole) -> None:
    said = await post(console, "/v1/permissions/test", policy=POLICY)
    assert (said["passed"], said["failed"], said["hooks_evaluated"]) == (2, 1, False)
    wrong = said["results"][2]
    assert (wrong["tool"], wrong["profile"], wrong["passed"]) == ("bash", "kheish", False)
    assert (wrong["expected"]["decision"], wrong["got"]["decision"]) == ("allow", "ask")
    as_object = {
        "rule": [{"scope": "user", "pattern": "bahs", "decision": "deny"}],
        "expect": [{"tool": "bash", "decision": "ask"}, {"tool": "bahs", "decision": "deny"}],
    }
    said = await post(console, "/v1/permissions/test", policy=as_object)
    assert [result["passed"] for result in said["results"]] == [True, False]
    assert said["results"][1]["got"] is None
    assert "did you mean bash?" in said["warnings"][0]
    text = msgspec.json.encode(as_object).decode()
    assert await post(console, "/v1/permissions/test", policy=text) == said


@pytest.mark.parametrize(
    ("policy", "field"),
    [
        ("[[rule]", "policy"),
        ("{", "policy"),
        ('[[rule]]\nscope = "user"\npattern = "a*b"\ndecision = "deny"', "rule[0].pattern"),
        ('[[rule]]\nscope = "session"\npattern = "a"\ndecision = "deny"', "rule[0].scope"),
        ('[[expect]]\ntool = "bash"', "expect[0].decision"),
        ({"expect": [{"tool": "bash", "decision": "ask", "profile": "keish"}]}, "profile"),
        (7, "policy"),
        ('{"expect": [{"tool": "\\ud800", "decision": "deny"}]}', "policy"),
    ],
)
async def test_a_policy_that_cannot_be_read_names_the_place(
    standing: RunningConsole, policy: Any, field: str
) -> None:
    answer = await standing.client.post("/v1/permissions/test", json={"policy": policy})
    assert answer.status_code == 422, answer.text
    assert answer.json()["field"].startswith(field)


@pytest.mark.req("B-5")
async def test_two_policies_are_compared_cell_by_cell(console: RunningConsole) -> None:
    deny = '[[rule]]\nscope = "user"\npattern = "bash"\ndecision = "deny"'
    said = await post(console, "/v1/permissions/diff", after=deny, profile="kheish")
    changes = {(change["tool"], change["mode"]): change for change in said["changes"]}
    # plan and dontAsk denied it before.
    assert set(changes) == {
        ("bash", "default"),
        ("bash", "acceptEdits"),
        ("bash", "bypassPermissions"),
    }
    assert (said["wider"], said["narrower"]) == (0, 3)
    assert said["cells"] == 5 * len(load("kheish").tools)
    assert changes["bash", "default"]["before"]["decision"] == "ask"
    await add(console, "bash", "deny")
    same = await post(console, "/v1/permissions/diff", after=deny, profile="kheish")
    assert same["changes"] == []
    back = await post(console, "/v1/permissions/diff", after="", profile="kheish")
    assert (back["wider"], back["narrower"]) == (3, 0)


@pytest.mark.req("K-45")
@pytest.mark.req("K-49")
@pytest.mark.req("B-6")
async def test_an_audit_names_rule_mode_and_person(both: RunningConsole) -> None:
    ws = await both.create(message="run them")
    node = NodeSide(both, ws)
    first, second = await node.ask_to_run("echo 1", "echo 2")
    answer = {
        "request_id": first,
        "behavior": "deny",
        "reason": "use make",
        "justification": "policy 7",
    }
    await post(both, f"/v1/workstreams/{ws}/approvals", resolutions=[answer])
    for prefix in ("/v1/workstreams", "/v1/sessions"):
        audits = (await both.client.get(f"{prefix}/{ws}/permission-audits")).json()["items"]
        one, two = audits
        assert {
            "decision": "ask",
            "base_decision": "ask",
            "effective_mode": "default",
            "tool_name": "bash",
            "tool_call_id": one["call_id"],
            "approval_request_id": first,
            "resolution": "deny",
            "resolved_by": "admin",
            "resolution_scope": "once",
            "reason": "use make",
            "justification": "policy 7",
            "input_digest": "sha256:0",
        }.items() <= one.items()
        assert one["resolved_at"] >= one["at"]
        assert (two["approval_request_id"], two["resolved_by"]) == (second, None)
    found = await both.client.get("/v1/permissions/decisions", params={"call": one["call_id"]})
    assert found.json() == {
        "items": [{**one, "workstream": ws}],
        "next_cursor": None,
        "total": 1,
    }
    beginning = {"call": one["call_id"][:8], "limit": 1}
    page = (await both.client.get("/v1/permissions/decisions", params=beginning)).json()
    rest = {**beginning, "cursor": page["next_cursor"]}
    assert page["total"] == 2
    page = (await both.client.get("/v1/permissions/decisions", params=rest)).json()
    assert [each["call_id"] for each in page["items"]] == [two["call_id"]]
    nobody = await both.client.get("/v1/permissions/decisions", params={"call": "call_%%%%"})
    assert nobody.json()["total"] == 0


async def test_a_person_who_edited_is_named_with_the_decision_that_followed(
    console: RunningConsole,
) -> None:
    ws = await console.create(message="run it")
    node = NodeSide(console, ws)
    (request_id,) = await node.ask_to_run("rm x")
    edited = {"request_id": request_id, "behavior": "allow", "updated_input": {"command": "ls"}}
    await post(console, f"/v1/workstreams/{ws}/approvals", resolutions=[edited])
    node.claim()
    (call,) = node.state.calls.values()
    assert call.decided is not None
    await node.tell(msgspec.structs.replace(call.decided, input_digest="sha256:1"), release=True)
    audits = (await console.client.get(f"/v1/sessions/{ws}/permission-audits")).json()["items"]
    assert [audit["input_digest"] for audit in audits] == ["sha256:0", "sha256:1"]
    assert [audit["approval_request_id"] for audit in audits] == [request_id] * 2
    assert [audit["resolved_by"] for audit in audits] == ["admin"] * 2


@pytest.mark.req("B-21")
async def test_an_always_becomes_a_user_rule_that_can_be_seen_and_revoked(
    both: RunningConsole,
) -> None:
    ids = []
    for _ in range(2):
        ws = await both.create(message="run it")
        (request_id,) = await NodeSide(both, ws).ask_to_run("echo hi")
        always = {"request_id": request_id, "behavior": "allow", "scope": "always"}
        await post(both, f"/v1/workstreams/{ws}/approvals", resolutions=[always])
        (rule,) = (await both.client.get(RULES, params={"origin": "approval"})).json()["items"]
        ids.append(rule["id"])
    assert ids[0] == ids[1]
    assert (rule["scope"], rule["subject"], rule["pattern"]) == ("user", "admin", "bash")
    assert (rule["decision"], rule["created_by"]) == ("allow", "admin")
    said = await check(both, "bash")
    assert (said["decision"], said["scope"], said["origin"]) == ("allow", "user", "approval")
    assert (await both.client.delete(f"{RULES}/{rule['id']}")).status_code == 200
    assert (await check(both, "bash"))["decision"] == "ask"
    denied = await add(both, "bash", "deny")
    ws = await both.create(message="run it")
    (request_id,) = await NodeSide(both, ws).ask_to_run("echo hi")
    always = {"request_id": request_id, "behavior": "allow", "scope": "always"}
    await post(both, f"/v1/workstreams/{ws}/approvals", resolutions=[always])
    assert (await both.client.get(RULES)).json()["items"] == [denied]


async def test_only_an_admin_changes_rules(console: RunningConsole) -> None:
    stranger = console.new_client({"Authorization": "Bearer nobody-knows-this-token"})
    answer = await stranger.post(
        RULES, json={"scope": "user", "pattern": "bash", "decision": "deny"}
    )
    assert answer.status_code == 401
    assert (await stranger.get(RULES)).status_code == 401
    await stranger.aclose()
    assert PolicyRevisions(console.database).all() == {}
