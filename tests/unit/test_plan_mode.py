"""Plan mode: nothing but looking and asking, by any name; entering, leaving by call."""

import pytest

from redshank_node.engine.tool_cards import card_of
from redshank_node.tools.catalog import BUILTIN
from redshank_node.tools.tool import Tool
from redshank_shared.domain.commands import AcceptPlan, ChangeMode, EnterPlanMode
from redshank_shared.domain.decide import decide
from redshank_shared.domain.errors import Conflict
from redshank_shared.domain.events import Effect, Mode, ModeChanged
from redshank_shared.domain.question_events import PlanAccepted
from redshank_shared.permissions.decision import judge
from redshank_shared.permissions.rules import Rule
from redshank_shared.permissions.ruleset import RuleSet
from redshank_shared.permissions.tool_card import subject, unregistered_card
from redshank_shared.profiles.catalogue import catalogue
from tests.unit.log_builders import AT, folded, then

# Looking something up on the web is on the list too (K-37).
HARMLESS: tuple[Effect, ...] = ("read", "human", "state", "network")
# Answering the person who asked is all that may be delivered (O-4).
ANSWERING = {"emit_output", "respond"}


def is_harmless(tool: Tool) -> bool:
    return tool.effect in HARMLESS or tool.name in ANSWERING


@pytest.mark.req("K-31")
@pytest.mark.fault("F-7")
@pytest.mark.parametrize("tool", BUILTIN, ids=lambda tool: tool.name)
def test_in_plan_mode_no_rule_and_no_name_lets_a_tool_act(tool: Tool) -> None:
    card = card_of(tool)
    for name in card.names:
        rules = (Rule(name, "allow", "session", "approval"), Rule("*", "allow", "user"))
        for label in ("", *tool.asks, "list"):
            said = judge(RuleSet(rules), "plan", subject(card, label), card.plan)
            assert (said.decision == "allow") == tool.plan
            assert said.decision != "allow" or is_harmless(tool)


@pytest.mark.fault("F-7")
def test_of_the_whole_catalogue_plan_mode_lists_nothing_that_changes_files_or_runs_processes() -> (
    None
):
    listed = {name: entry.effect for name, entry in catalogue().items() if entry.plan}
    assert not {"write", "process"} & set(listed.values())
    assert {name for name, effect in listed.items() if effect == "deliver"} <= ANSWERING


@pytest.mark.fault("F-7")
@pytest.mark.parametrize("name", ["mcp__acme__read_all", "mcp__acme__plan", "exec", "shell"])
def test_a_tool_from_elsewhere_does_not_run_in_plan_mode_however_it_is_called(name: str) -> None:
    card = unregistered_card(name)
    rules = RuleSet((Rule(name, "allow", "session"), Rule("*", "allow", "session")))
    assert judge(rules, "plan", subject(card), card.plan).decision == "deny"


@pytest.mark.fault("F-7")
def test_plan_mode_does_not_stop_reading_or_asking() -> None:
    listed = {tool.name for tool in BUILTIN if tool.plan}
    assert {"read_file", "list_files", "grep_search", "ask_user_question"} <= listed
    assert all(is_harmless(tool) for tool in BUILTIN if tool.plan)


@pytest.mark.req("K-31")
@pytest.mark.parametrize("before", ["default", "acceptEdits", "bypassPermissions", "dontAsk"])
def test_leaving_restores_the_mode_held_before_and_keeps_the_plan(before: Mode) -> None:
    state = then(folded(), ModeChanged(before, "ada"))
    state = then(state, *decide(state, EnterPlanMode("agent"), AT))
    assert state.mode == "plan"
    assert decide(state, EnterPlanMode("agent"), AT) == []
    facts = decide(state, AcceptPlan("c1", "1. look", "agent"), AT)
    assert facts[:2] == [PlanAccepted("c1", "1. look"), ModeChanged(before, "agent")]
    assert then(state, *facts).mode == before


@pytest.mark.req("K-31")
def test_there_is_nothing_to_leave_once_a_person_has_changed_the_mode() -> None:
    state = then(folded(), ModeChanged("plan", "agent"))
    state = then(state, *decide(state, ChangeMode("dontAsk", "ada"), AT))
    with pytest.raises(Conflict) as refused:
        decide(state, AcceptPlan("c1", "1. look", "agent"), AT)
    assert refused.value.code == "not_planning"
