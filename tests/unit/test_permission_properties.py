"""What holds of every rule set: shown on random ones, against a slow obvious oracle."""

import random
from collections.abc import Iterable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from redshank_shared.domain.events import MODES, Decision, Effect
from redshank_shared.permissions.decision import judge
from redshank_shared.permissions.matching import Subject
from redshank_shared.permissions.modes import under_mode
from redshank_shared.permissions.rules import DECISIONS, EFFECTS, SCOPES, Origin, Rule, Scope
from redshank_shared.permissions.ruleset import RuleSet
from tests.effort import examples

# Few, short names that share beginnings, so that most rule sets hold rivals for one call.
NAMES = ("a", "ab", "abc", "abd", "b", "ba")
LABELS = ("", "x", "xy")
SUBJECT_EFFECTS: tuple[Effect, ...] = ("process", "write", "mcp")
PATTERNS = (
    *NAMES,
    *(f"{name}*" for name in NAMES),
    *(f"{name}:{label}" for name in NAMES for label in ("x", "x*", "xy", "*")),
    *(f"@{effect}" for effect in SUBJECT_EFFECTS),
    "*",
)
SEED = 20261130
RULE_SETS = 100_000


def oracle(rules: Iterable[Rule], subject: Subject) -> Rule | None:
    """The rule that decides, as the requirements say it, by looking at every rule."""
    fitting = [(place, rule) for place, rule in enumerate(rules) if fits(rule, subject)]
    for scope in ("user", "project"):
        locked = [
            (place, rule)
            for place, rule in fitting
            if rule.locked and rule.decision == "deny" and rule.scope == scope
        ]
        if locked:
            return most_specific(locked)
    for scope in ("session", "project", "user", "builtin"):
        held = [(place, rule) for place, rule in fitting if rule.scope == scope]
        if held:
            return most_specific(held)
    return None


def fits(rule: Rule, subject: Subject) -> bool:
    pattern = rule.pattern
    if pattern == "*":
        return True
    if pattern[0] == "@":
        return pattern[1:] == subject.effect
    for name in subject.names:
        if ":" in pattern and ":" not in name:
            continue
        # A person's word is for one call, to the letter.
        is_prefix = pattern[-1] == "*" and rule.origin != "approval"
        if name == pattern or (is_prefix and name.startswith(pattern[:-1])):
            return True
    return False


def most_specific(fitting: list[tuple[int, Rule]]) -> Rule:
    best = max(specificity(rule.pattern) for _, rule in fitting)
    rivals = [(place, rule) for place, rule in fitting if specificity(rule.pattern) == best]
    speaks: dict[str, tuple[int, Rule]] = {}
    for place, rule in rivals:
        before = speaks.get(rule.pattern)
        if before is None or (rule.origin == "hook_update" and before[1].origin != "hook_update"):
            speaks[rule.pattern] = (place, rule)
    denies = [each for each in speaks.values() if each[1].decision == "deny"]
    heard = denies or list(speaks.values())
    return min(heard, key=lambda each: (each[1].origin != "hook_update", each[0]))[1]


def specificity(pattern: str) -> tuple[int, int]:
    if pattern == "*":
        return 0, 0
    if pattern[0] == "@":
        return 1, 0
    labelled = 2 if ":" in pattern else 0
    return (2 + labelled, len(pattern)) if pattern[-1] == "*" else (3 + labelled, 0)


def a_rule(chance: random.Random) -> Rule:
    origins: tuple[Origin, ...] = ("static", "static", "hook_update", "approval")
    return Rule(
        chance.choice(PATTERNS),
        chance.choice(DECISIONS),
        chance.choice(SCOPES),
        chance.choice(origins),
        chance.random() < 0.15,
    )


def a_subject(chance: random.Random) -> Subject:
    names = tuple(chance.sample(NAMES, chance.randint(1, 3)))
    return with_label(names, chance.choice(LABELS), chance.choice(SUBJECT_EFFECTS))


def with_label(names: tuple[str, ...], label: str, effect: Effect) -> Subject:
    labelled = tuple(f"{name}:{label}" for name in names) if label else ()
    return Subject((*names, *labelled), effect)


@pytest.mark.req("K-38", "K-39", "K-40", "O1", "O14", "O15", "O24", "O25")
def test_the_most_specific_rule_of_the_first_scope_decides_in_a_hundred_thousand_rule_sets() -> (
    None
):
    chance = random.Random(SEED)
    decided = 0
    for _ in range(RULE_SETS):
        rules = [a_rule(chance) for _ in range(chance.randint(0, 9))]
        subject = a_subject(chance)
        expected = oracle(rules, subject)
        assert RuleSet(rules).match(subject) is expected, (rules, subject)
        decided += expected is not None
    assert decided > RULE_SETS / 2


RULES = st.builds(
    Rule,
    st.sampled_from(PATTERNS),
    st.sampled_from(DECISIONS),
    st.sampled_from(SCOPES),
    st.just("static"),
    st.booleans(),
)
RULE_LISTS = st.lists(RULES, max_size=12, unique_by=lambda rule: (rule.scope, rule.pattern))
SUBJECTS = st.builds(
    with_label,
    st.lists(st.sampled_from(NAMES), min_size=1, max_size=4, unique=True).map(tuple),
    st.sampled_from(LABELS),
    st.sampled_from(SUBJECT_EFFECTS),
)


@pytest.mark.req("K-36", "O15")
@pytest.mark.fault("F5", "F7")
@settings(max_examples=examples(200), deadline=None)
@given(RULE_LISTS, SUBJECTS, st.randoms(use_true_random=False), st.booleans())
def test_no_rule_order_alias_or_mode_lets_a_denied_call_run(
    rules: list[Rule], subject: Subject, chance: random.Random, listed: bool
) -> None:
    if judge(RuleSet(rules), "default", subject, listed).decision != "deny":
        return
    orders = [rules[::-1], *(chance.sample(rules, len(rules)) for _ in range(3))]
    callings = [subject.names[::-1], tuple(chance.sample(subject.names, len(subject.names)))]
    for order in orders:
        for names in callings:
            for mode in MODES:
                said = judge(RuleSet(order), mode, Subject(names, subject.effect), listed)
                assert (said.decision, said.mode_effect) == ("deny", "")


@pytest.mark.req("O25", "O15")
@settings(max_examples=examples(100), deadline=None)
@given(RULE_LISTS, SUBJECTS, st.sampled_from(("project", "user")))
def test_no_other_rule_lifts_a_locked_deny(
    rules: list[Rule], subject: Subject, scope: Scope
) -> None:
    for pattern in ("*", f"@{subject.effect}", subject.names[-1]):
        lock = Rule(pattern, "deny", scope, locked=True)
        for order in ((lock, *rules), (*rules, lock)):
            decided = RuleSet(order).match(subject)
            assert decided is not None
            assert decided.decision == "deny"
            assert decided.locks


@settings(max_examples=examples(100), deadline=None)
@given(RULE_LISTS, st.lists(RULES, max_size=6), SUBJECTS)
def test_rules_added_later_decide_as_if_they_had_been_there(
    rules: list[Rule], more: list[Rule], subject: Subject
) -> None:
    grown, whole = RuleSet(rules).adding(more), RuleSet((*rules, *more))

    assert grown.rules == whole.rules
    assert grown.match(subject) is whole.match(subject)


@pytest.mark.req("K-35", "K-36", "K-37", "K-45")
@pytest.mark.parametrize("effect", EFFECTS)
@pytest.mark.parametrize("base", DECISIONS)
def test_a_mode_is_named_exactly_where_it_changed_the_decision(
    base: Decision, effect: Effect
) -> None:
    for listed in (False, True):
        for mode in MODES:
            decision, named = under_mode(mode, base, effect, listed)
            assert bool(named) is (decision != base)
            if base == "deny":
                assert decision == "deny"
            if decision == "allow" and base == "ask":
                edit = mode == "acceptEdits" and effect == "write"
                assert edit or mode == "bypassPermissions"
            if mode == "plan" and not listed:
                assert decision == "deny"
            if mode == "dontAsk":
                assert decision != "ask"
