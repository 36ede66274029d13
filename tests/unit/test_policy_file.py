"""A policy file is read whole or refused with the field to mend; its expectations are run."""

import tomllib
from typing import Any

import pytest

from redshank_shared.domain.errors import Invalid
from redshank_shared.permissions.policy_file import (
    Expectation,
    Outcome,
    Policy,
    PolicyRule,
    read_policy,
    run_expectations,
)
from redshank_shared.permissions.rules import BUILTIN, Rule
from redshank_shared.permissions.ruleset import RuleSet
from redshank_shared.permissions.tool_card import ToolCard, unregistered_card

FILE = """
[[rule]]
scope = "user"
pattern = "mcp__*"
decision = "deny"
note = "no MCP"

[[rule]]
scope = "project"
pattern = "mcp__linear__*"
decision = "allow"

[[rule]]
scope = "user"
pattern = "exec"
decision = "deny"
locked = true

[[expect]]
tool = "mcp__linear__list"
decision = "allow"
pattern = "mcp__linear__*"
scope = "project"

[[expect]]
tool = "mcp__github__list"
mode = "bypassPermissions"
decision = "deny"

[[expect]]
tool = "watch"
profile = "turnstone"
label = "create"
decision = "ask"

[[expect]]
tool = "nowhere"
decision = "unavailable"
"""


def rules_of(policy: Policy) -> RuleSet:
    return RuleSet((*(each.rule for each in policy.rules), *BUILTIN))


def card_of(profile: str, tool: str) -> ToolCard | None:
    """Every tool but one is there."""
    return None if tool == "nowhere" else unregistered_card(tool)


def run(policy: Policy) -> tuple[Outcome, ...]:
    asking = Rule("watch:create", "ask", "builtin")
    by_profile = {"": rules_of(policy), "turnstone": rules_of(policy).adding((asking,))}
    return run_expectations(lambda profile: by_profile[profile], policy.expectations, card_of)


@pytest.mark.req("B-5")
def test_a_policy_is_read_in_its_order() -> None:
    policy = read_policy(tomllib.loads(FILE))

    assert policy.rules == (
        PolicyRule(Rule("mcp__*", "deny", "user"), "no MCP"),
        PolicyRule(Rule("mcp__linear__*", "allow", "project")),
        PolicyRule(Rule("exec", "deny", "user", locked=True)),
    )
    assert policy.expectations[1] == Expectation("mcp__github__list", "deny", "bypassPermissions")
    assert policy.expectations[2].profile == "turnstone"


@pytest.mark.req("B-5", "K-42")
def test_expectations_that_hold_pass() -> None:
    outcomes = run(read_policy(tomllib.loads(FILE)))

    assert [each.wrong for each in outcomes] == ["", "", "", ""]
    assert all(each.passed for each in outcomes)
    assert outcomes[3].verdict is None


@pytest.mark.req("B-5")
def test_an_expectation_that_does_not_hold_says_what_was_decided_with_the_reason() -> None:
    policy = read_policy(
        {
            "rule": [{"scope": "user", "pattern": "b*", "decision": "deny"}],
            "expect": [
                {"tool": "bash", "decision": "allow", "pattern": "bash"},
                {"tool": "bash", "decision": "deny", "scope": "session"},
                {"tool": "bash", "decision": "unavailable"},
                {"tool": "nowhere", "decision": "ask"},
            ],
        }
    )

    assert [outcome.wrong for outcome in run(policy)] == [
        "decision is deny, expected allow; pattern is b*, expected bash: "
        "the user rule b* says deny",
        "scope is user, expected session: the user rule b* says deny",
        "decision is deny, expected unavailable: the user rule b* says deny",
        "expected ask, but there is no such tool",
    ]


def test_an_empty_file_is_a_policy_without_rules() -> None:
    assert read_policy({}) == Policy()


GOOD_RULE = {"scope": "user", "pattern": "bash", "decision": "deny"}
GOOD_EXPECTATION = {"tool": "bash", "decision": "deny"}


@pytest.mark.parametrize(
    ("change", "field", "mend"),
    [
        ({"scope": "session"}, "rule[1].scope", "it takes project, user"),
        ({"scope": None}, "rule[1].scope", "lacks scope: add it"),
        ({"decision": "maybe"}, "rule[1].decision", "it takes allow, ask, deny"),
        ({"decision": True}, "rule[1].decision", "must be text"),
        ({"pattern": "ba*h"}, "rule[1].pattern", "may only stand last"),
        ({"pattern": "@proces"}, "rule[1].pattern", "did you mean @process?"),
        ({"pattern": ""}, "rule[1].pattern", "write a tool's name"),
        ({"pattern": 3}, "rule[1].pattern", "must be text"),
        ({"locked": "yes"}, "rule[1].locked", "true or false"),
        ({"locked": True, "decision": "allow"}, "rule[1].locked", "only a deny"),
        ({"note": 1}, "rule[1].note", "must be text"),
        ({"patern": "x"}, "rule[1].patern", "did you mean pattern?"),
    ],
)
def test_a_bad_field_of_a_rule_is_named_with_the_mend(
    change: dict[str, Any], field: str, mend: str
) -> None:
    bad = {key: value for key, value in {**GOOD_RULE, **change}.items() if value is not None}

    with pytest.raises(Invalid) as refused:
        read_policy({"rule": [GOOD_RULE, bad]})

    assert refused.value.field == field
    assert mend in refused.value.detail


@pytest.mark.parametrize(
    ("change", "field", "mend"),
    [
        ({"tool": None}, "expect[0].tool", "lacks tool: add it"),
        ({"tool": " "}, "expect[0].tool", "name the tool"),
        ({"decision": "no"}, "expect[0].decision", "allow, ask, deny, unavailable"),
        ({"mode": "yolo"}, "expect[0].mode", "bypassPermissions"),
        ({"scope": "builtin"}, "expect[0].scope", "session, project, user"),
        ({"modus": "plan"}, "expect[0].modus", "did you mean mode?"),
    ],
)
def test_a_bad_field_of_an_expectation_is_named_with_the_mend(
    change: dict[str, Any], field: str, mend: str
) -> None:
    bad = {k: value for k, value in {**GOOD_EXPECTATION, **change}.items() if value is not None}

    with pytest.raises(Invalid) as refused:
        read_policy({"expect": [bad]})

    assert refused.value.field == field
    assert mend in refused.value.detail


@pytest.mark.parametrize(
    ("decoded", "field"),
    [
        ({"rules": []}, "rules"),
        ({"rule": {"scope": "user"}}, "rule"),
        ({"rule": ["bash"]}, "rule[0]"),
        ({"expect": "bash"}, "expect"),
    ],
)
def test_a_file_of_another_shape_is_refused(decoded: dict[str, Any], field: str) -> None:
    with pytest.raises(Invalid) as refused:
        read_policy(decoded)

    assert refused.value.field == field
