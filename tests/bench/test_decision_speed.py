"""What a decision costs: one call under a thousand rules, the matrix of a large surface."""

import statistics
import sys
from time import perf_counter

import pytest

from redshank_shared.domain.events import MODES, Effect
from redshank_shared.permissions.decision import judge
from redshank_shared.permissions.matrix import matrix
from redshank_shared.permissions.rules import BUILTIN, DECISIONS, LOCKABLE, Rule
from redshank_shared.permissions.ruleset import RuleSet
from redshank_shared.permissions.tool_card import ToolCard, subject
from tests.bench.figures import figure

DECISION_MICROSECONDS = 50
MATRIX_MILLISECONDS = 100
ROUNDS = 7
CALLS = 500


def thousand_rules() -> RuleSet:
    """Names and prefixes of many lengths in three scopes; few of them match any one tool."""
    scopes = ("session", *LOCKABLE)
    rules = []
    for number in range(990):
        name = f"mcp__server{number % 60}__{'tool' * (number % 7)}{number}"
        cut = name[: 8 + number % len(name)] + "*"
        rules.append(Rule(name if number % 2 else cut, DECISIONS[number % 3], scopes[number % 3]))
    return RuleSet((*rules, *BUILTIN))


def cards(count: int) -> list[ToolCard]:
    effects: tuple[Effect, ...] = ("mcp", "read", "write", "process")
    made = []
    for number in range(count):
        name = f"mcp__server{number % 70}__{'tool' * (number % 7)}{number}"
        made.append(ToolCard(name, name, (f"alias{number}",), effects[number % 4], number % 2 == 0))
    return made


@pytest.mark.req("B-5")
def test_a_decision_under_a_thousand_rules() -> None:
    """The median round of a mean over many tools, so that one busy moment does not count."""
    rules, subjects = thousand_rules(), [subject(card) for card in cards(CALLS)]
    assert len(rules.rules) == 1000
    rounds = []
    for _ in range(ROUNDS):
        begin = perf_counter()
        for each in subjects:
            judge(rules, "acceptEdits", each, False)
        rounds.append((perf_counter() - begin) / CALLS * 1e6)
    microseconds = statistics.median(rounds)
    sys.stdout.write(f"\na decision with 1,000 rules: {microseconds:.1f} µs\n")
    figure("a decision", microseconds, DECISION_MICROSECONDS, "µs")


@pytest.mark.req("B-5", "K-48")
def test_a_matrix_of_five_hundred_tools_in_five_modes() -> None:
    rules, surface = thousand_rules(), cards(500)
    rounds = []
    for _ in range(ROUNDS):
        begin = perf_counter()
        rows = matrix(rules, surface, MODES)
        rounds.append((perf_counter() - begin) * 1e3)
    assert sum(len(row.cells) for row in rows) == 2500
    milliseconds = statistics.median(rounds)
    sys.stdout.write(f"\na matrix of 500 tools in 5 modes: {milliseconds:.1f} ms\n")
    figure("a matrix", milliseconds, MATRIX_MILLISECONDS, "ms")
