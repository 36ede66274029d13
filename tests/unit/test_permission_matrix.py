"""The matrix shows beforehand what the engine decides, with the reason, or what a rule changes."""

import pytest

from redshank_shared.domain.events import MODES
from redshank_shared.permissions.decision import judge
from redshank_shared.permissions.matrix import difference, effect_of_rule, matrix
from redshank_shared.permissions.rules import BUILTIN, Rule
from redshank_shared.permissions.ruleset import RuleSet
from redshank_shared.permissions.tool_card import (
    ToolCard,
    default_rules,
    subject,
    unregistered_card,
)

READ = ToolCard("read", "read_file", (), "read", plan=True)
BASH = ToolCard("bash", "bash", (), "process", plan=False)
WATCH = ToolCard("watch", "watch", (), "process", plan=False, default="allow", asks=("create",))
LINEAR = ToolCard("mcp__linear__x", "mcp__linear__x", (), "mcp", plan=False, server="linear")
CARDS = (READ, BASH, WATCH, LINEAR)
RULES = RuleSet((*default_rules(CARDS), *BUILTIN))


@pytest.mark.req("K-48", "B-5")
def test_every_cell_is_what_the_engine_decides_on_that_call() -> None:
    rows = matrix(RULES, CARDS, MODES)

    assert [(row.tool, row.label) for row in rows] == [
        ("read", ""),
        ("bash", ""),
        ("watch", ""),
        ("watch", "create"),
        ("mcp__linear__x", ""),
    ]
    cards = {card.name: card for card in CARDS}
    for row in rows:
        called = cards[row.tool]
        assert [cell.mode for cell in row.cells] == list(MODES)
        for cell in row.cells:
            said = judge(RULES, cell.mode, subject(called, row.label), called.plan)
            assert (cell.decision, cell.base_decision, cell.mode_effect, cell.pattern) == (
                said.decision,
                said.base_decision,
                said.mode_effect,
                said.pattern,
            )
            assert (cell.scope, cell.origin, cell.why) == (said.scope, said.origin, said.why)


@pytest.mark.req("O14")
def test_a_label_that_asks_has_a_row_of_its_own() -> None:
    rows = {(row.tool, row.label): row.cells[0] for row in matrix(RULES, CARDS, ["default"])}

    assert (rows["watch", ""].decision, rows["watch", ""].pattern) == ("allow", "watch")
    assert (rows["watch", "create"].decision, rows["watch", "create"].pattern) == (
        "ask",
        "watch:create",
    )


@pytest.mark.req("B-5")
def test_a_rule_set_differs_from_itself_in_nothing() -> None:
    rows = matrix(RULES, CARDS, MODES)

    assert difference(rows, rows) == ()


@pytest.mark.req("B-5")
def test_the_difference_names_each_cell_that_is_not_the_same() -> None:
    before = matrix(RULES, CARDS, ("default", "plan"))
    after = matrix(RULES.adding([Rule("bash", "allow", "user")]), CARDS, ("default", "plan"))

    changes = difference(before, after)

    assert [(change.tool, change.mode, change.decides_otherwise) for change in changes] == [
        ("bash", "default", True),
        ("bash", "plan", False),
    ]
    assert changes[0].before is not None
    assert changes[0].after is not None
    assert (changes[0].before.decision, changes[0].after.decision) == ("ask", "allow")
    assert (changes[0].before.pattern, changes[0].after.scope) == ("bash", "user")


@pytest.mark.req("B-5")
def test_a_tool_on_one_side_only_is_a_difference() -> None:
    before, after = matrix(RULES, [READ], ["default"]), matrix(RULES, [BASH], ["default"])

    changes = difference(before, after)

    assert [(change.tool, change.before is None, change.after is None) for change in changes] == [
        ("bash", True, False),
        ("read", False, True),
    ]
    assert all(change.decides_otherwise for change in changes)


@pytest.mark.req("O28")
def test_an_allow_of_everything_shows_which_asks_it_takes_away() -> None:
    changes = effect_of_rule(RULES, Rule("*", "allow", "user"), CARDS, ["default", "dontAsk"])

    assert [(change.tool, change.label, change.mode) for change in changes] == [
        ("bash", "", "default"),
        ("bash", "", "dontAsk"),
        ("watch", "create", "default"),
        ("watch", "create", "dontAsk"),
        ("mcp__linear__x", "", "default"),
        ("mcp__linear__x", "", "dontAsk"),
    ]
    assert {change.after.decision for change in changes if change.after} == {"allow"}


@pytest.mark.req("O28")
def test_a_new_rule_stands_in_for_the_one_of_its_scope_with_its_pattern() -> None:
    held = RULES.adding([Rule("bash", "deny", "user")])

    changes = effect_of_rule(held, Rule("bash", "allow", "user"), CARDS, ["default"])

    assert [(change.tool, change.mode) for change in changes] == [("bash", "default")]
    assert effect_of_rule(held, Rule("bash", "deny", "user"), CARDS, MODES) == ()


@pytest.mark.req("K-48")
def test_a_name_that_no_node_has_registered_is_decided_all_the_same() -> None:
    remote, other = unregistered_card("mcp__linear__x"), unregistered_card("rocket_launcher")

    assert (remote.effect, remote.server, remote.plan) == ("mcp", "linear", False)
    assert judge(RULES, "default", subject(remote), remote.plan).pattern == "mcp__*"
    assert judge(RULES, "default", subject(other), other.plan).pattern == "*"
    assert judge(RULES, "plan", subject(other), other.plan).decision == "deny"
