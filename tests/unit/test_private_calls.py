"""A call that leads into a private network is put before a person, whatever allows its tool."""

import pytest

from redshank_shared.domain.events import Decision, Mode
from redshank_shared.permissions.decision import Verdict, judge
from redshank_shared.permissions.rules import Rule, Scope
from redshank_shared.permissions.ruleset import RuleSet
from redshank_shared.permissions.tool_card import ToolCard, subject

FETCH = ToolCard("web_fetch", "web_fetch", (), "network", plan=True)
ALLOW_ALL = Rule("*", "allow", "builtin")


def verdict(label: str, *rules: Rule, mode: Mode = "default") -> Verdict:
    return judge(RuleSet((*rules, ALLOW_ALL)), mode, subject(FETCH, label), FETCH.plan)


def rule(pattern: str, decision: Decision = "allow", scope: Scope = "user") -> Rule:
    return Rule(pattern, decision, scope)


@pytest.mark.req("T-30")
@pytest.mark.parametrize("pattern", ["*", "@network", "web_*", "web_fetch"])
def test_an_allow_of_the_tool_is_not_enough(pattern: str) -> None:
    said = verdict("private:nas.example", rule(pattern))

    assert said.decision == "ask"
    assert "private network" in said.why
    assert verdict("", rule(pattern)).decision == "allow"


@pytest.mark.req("T-30")
@pytest.mark.parametrize("pattern", ["web_fetch:private:nas.example", "web_fetch:private*"])
def test_a_rule_that_names_it_is_enough(pattern: str) -> None:
    assert verdict("private:nas.example", rule(pattern)).decision == "allow"


@pytest.mark.req("T-30")
def test_a_rule_for_another_host_is_not_enough() -> None:
    assert verdict("private:nas.example", rule("web_fetch:private:a.example")).decision == "ask"


@pytest.mark.req("T-30")
@pytest.mark.parametrize("pattern", ["web_fetch", "@network", "*", "web_fetch:private*"])
def test_a_deny_holds(pattern: str) -> None:
    assert verdict("private:nas.example", rule(pattern, "deny")).decision == "deny"


@pytest.mark.req("T-30")
@pytest.mark.parametrize("allowed", ["*", "web_fetch"])
@pytest.mark.parametrize(
    ("pattern", "decision"),
    [
        ("web_fetch:private:nas.example", "allow"),
        ("web_fetch:private*", "deny"),
        ("web_fetch", "deny"),
        ("web_fetch", "ask"),
        ("web_fetch:private:b.example", "allow"),
    ],
)
def test_an_allow_that_names_no_host_leaves_the_word_to_the_scopes_below_it(
    allowed: str, pattern: str, decision: Decision
) -> None:
    below = rule(pattern, decision)
    said = verdict("private:nas.example", rule(allowed, scope="session"), below)
    assert said.decision == ("ask" if pattern.endswith("b.example") else decision)
    assert verdict("", rule(allowed, scope="session"), below).decision == "allow"


@pytest.mark.req("T-30")
def test_a_mode_that_asks_nobody_denies_it() -> None:
    assert verdict("private:nas.example", rule("web_fetch"), mode="dontAsk").decision == "deny"
