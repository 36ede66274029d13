"""The matrix of five modes is the one that K-35 writes down, for every tool of Kheish's surface."""

from collections.abc import Iterator

import pytest

from redshank_shared.domain.events import MODES, Decision, Mode
from redshank_shared.permissions.matrix import Row, matrix
from redshank_shared.permissions.rules import Rule
from redshank_shared.permissions.ruleset import RuleSet
from redshank_shared.permissions.tool_card import unregistered_card
from redshank_shared.profiles.profile import load

Decisions = tuple[Decision, Decision, Decision, Decision, Decision]

# The requirement's columns: default, acceptEdits, bypassPermissions, plan, dontAsk.
COLUMNS: tuple[Mode, ...] = ("default", "acceptEdits", "bypassPermissions", "plan", "dontAsk")
DENIED: Decisions = ("deny", "deny", "deny", "deny", "deny")
SHELL: Decisions = ("ask", "ask", "allow", "deny", "deny")
EDIT: Decisions = ("ask", "allow", "allow", "deny", "deny")
REMOTE: Decisions = ("ask", "ask", "allow", "deny", "deny")
RESOURCE: Decisions = ("ask", "ask", "allow", "ask", "deny")
INSPECTION: Decisions = ("allow", "allow", "allow", "allow", "allow")
LEAVING_PLAN: Decisions = ("ask", "ask", "allow", "ask", "deny")
OTHER: Decisions = ("allow", "allow", "allow", "deny", "allow")
OTHER_LISTED: Decisions = ("allow", "allow", "allow", "allow", "allow")

# K-35's rows in its order; the last two are its "others": off the plan list, on it (K-37, O4).
ROWS: dict[str, tuple[Decisions, str]] = {
    "bash": (SHELL, "bash"),
    "edits": (EDIT, "write_file edit_file apply_patch"),
    "mcp": (REMOTE, "mcp__linear__search mcp__github__list_prs mcp__a__b"),
    "resource helpers": (
        RESOURCE,
        "list_mcp_resources list_mcp_resource_templates read_mcp_resource",
    ),
    "read, search, list, schedule and goal inspection": (
        INSPECTION,
        "read_file list_files glob_search grep_search web_fetch web_search list_skills "
        "read_channel_thread list_agents list_agent_summaries get_agent task_get task_list "
        "task_output schedule_get schedule_list get_goal",
    ),
    "exit_plan_mode": (LEAVING_PLAN, "exit_plan_mode"),
    "others": (
        OTHER,
        "create_channel_stimulus create_goal update_goal edit_image generate_audio generate_image "
        "notify_operator schedule_cancel schedule_create schedule_pause schedule_resume "
        "schedule_trigger_now set_channel_reaction store_asset task_create task_delete task_stop "
        "task_update use_skill wake_after wake_at",
    ),
    "others on the plan list": (
        OTHER_LISTED,
        "ask_operator ask_user_question request_parent_clarification spawn_agent message_agent "
        "wait_agent enter_plan_mode emit_output todo_write",
    ),
}


def expected() -> Iterator[tuple[str, Decisions]]:
    for decisions, tools in ROWS.values():
        for tool in tools.split():
            yield tool, decisions


EXPECTED = list(expected())
REMOTES = [tool for tool, _ in EXPECTED if tool.startswith("mcp__")]


def rows_under(*rules: Rule) -> dict[str, Row]:
    kheish = load("kheish")
    cards = (*kheish.tools, *map(unregistered_card, REMOTES))
    ruleset = RuleSet((*rules, *kheish.rules))
    return {row.tool: row for row in matrix(ruleset, cards, MODES)}


def decisions_of(row: Row) -> tuple[Decision, ...]:
    by_mode = {cell.mode: cell.decision for cell in row.cells}
    return tuple(by_mode[mode] for mode in COLUMNS)


@pytest.mark.req("K-35", "K-48")
def test_the_table_speaks_of_every_tool_of_the_surface_once() -> None:
    assert set(MODES) == set(COLUMNS)
    assert sorted(tool for tool, _ in EXPECTED) == sorted(rows_under())


@pytest.mark.req("K-35", "K-36", "K-37", "O4")
@pytest.mark.fault("F7")
@pytest.mark.parametrize(("tool", "decisions"), EXPECTED, ids=[tool for tool, _ in EXPECTED])
def test_a_tool_is_decided_in_each_mode_as_its_row_says(tool: str, decisions: Decisions) -> None:
    assert decisions_of(rows_under()[tool]) == decisions


@pytest.mark.req("K-35", "K-36")
@pytest.mark.parametrize("scope", ["session", "project", "user"])
@pytest.mark.parametrize("tool", [tool for tool, _ in EXPECTED])
def test_an_explicit_deny_is_a_deny_in_every_mode(tool: str, scope: str) -> None:
    denying = {
        "session": Rule(tool, "deny", "session"),
        "project": Rule(tool, "deny", "project"),
        "user": Rule(tool, "deny", "user"),
    }[scope]

    row = rows_under(denying)[tool]

    assert decisions_of(row) == DENIED
    assert {(cell.mode_effect, cell.pattern, cell.scope) for cell in row.cells} == {
        ("", tool, scope)
    }


@pytest.mark.req("K-45")
@pytest.mark.parametrize(("tool", "decisions"), EXPECTED, ids=[tool for tool, _ in EXPECTED])
def test_a_mode_is_named_where_it_changed_the_decision_and_nowhere_else(
    tool: str, decisions: Decisions
) -> None:
    named = {
        "acceptEdits": "accept_edits_auto_allowed_edit_approval",
        "bypassPermissions": "bypass_permissions_auto_allowed_approval",
        "plan": "plan_mode_denied_non_whitelisted_tool",
        "dontAsk": "dont_ask_denied_approval",
    }
    base = decisions[0]
    effects = {cell.mode: cell.mode_effect for cell in rows_under()[tool].cells}

    assert effects == {
        mode: "" if decision == base else named[mode]
        for mode, decision in zip(COLUMNS, decisions, strict=True)
    }


@pytest.mark.req("K-33", "K-34", "O1")
@pytest.mark.parametrize(("tool", "decisions"), EXPECTED, ids=[tool for tool, _ in EXPECTED])
def test_a_row_names_the_default_rule_that_spoke(tool: str, decisions: Decisions) -> None:
    asked = "mcp__*" if tool.startswith("mcp__") else tool
    pattern = asked if decisions[0] == "ask" else "*"

    said = {(cell.pattern, cell.scope, cell.origin) for cell in rows_under()[tool].cells}

    assert said == {(pattern, "session", "static")}
