"""Hooks settle an ask, add words to a deny, change rules of their session, nothing more."""

import pytest

from redshank_shared.domain.errors import Invalid, NotAllowed, RedshankError
from redshank_shared.domain.events import Decision, Mode
from redshank_shared.permissions.decision import Verdict, judge
from redshank_shared.permissions.hook_answers import (
    MOST_UPDATES,
    FailurePolicy,
    HookAnswer,
    checked_updates,
    combined,
    merged_updates,
)
from redshank_shared.permissions.matching import Subject
from redshank_shared.permissions.rules import BUILTIN, Rule, Scope
from redshank_shared.permissions.ruleset import RuleSet

APPROVES = HookAnswer("docs-only", "approve", reason="it is under docs/")
BLOCKS = HookAnswer("freeze", "block", reason="release freeze")
SILENT = HookAnswer("watcher")
FAILED_CLOSED = HookAnswer("scanner", failed=True, policy="closed", reason="no answer in 5 s")
FAILED_OPEN = HookAnswer("stats", failed=True, policy="open", reason="no answer in 5 s")


def asked(mode: Mode = "default", *rules: Rule) -> Verdict:
    """What rules and mode say of write_file."""
    ruleset = RuleSet((*rules, *BUILTIN))
    return judge(ruleset, mode, Subject(("write_file",), "write"), plan_listed=False)


@pytest.mark.req("O12", "K-41", "K-44", "K-78")
@pytest.mark.parametrize(
    ("answers", "decision", "hook"),
    [
        ([], "ask", ""),
        ([SILENT], "ask", ""),
        ([APPROVES], "allow", "docs-only"),
        ([SILENT, APPROVES], "allow", "docs-only"),
        ([BLOCKS], "deny", "freeze"),
        ([APPROVES, BLOCKS], "deny", "freeze"),
        ([BLOCKS, APPROVES], "deny", "freeze"),
        ([FAILED_CLOSED], "deny", "scanner"),
        ([APPROVES, FAILED_CLOSED], "deny", "scanner"),
        ([FAILED_OPEN], "ask", ""),
        ([SILENT, FAILED_OPEN], "ask", ""),
    ],
)
def test_any_block_wins_and_only_an_approval_allows(
    answers: list[HookAnswer], decision: Decision, hook: str
) -> None:
    said = combined(asked(), answers)

    assert (said.decision, said.hook, said.base_decision) == (decision, hook, "ask")
    assert (said.pattern, said.origin, said.mode_effect) == ("write_file", "static", "")


@pytest.mark.req("O12")
@pytest.mark.parametrize(("policy", "decision"), [("open", "ask"), ("closed", "deny")])
def test_a_hook_that_failed_never_approves_whatever_it_said(
    policy: FailurePolicy, decision: Decision
) -> None:
    answer = HookAnswer("half", "approve", failed=True, policy=policy)

    assert combined(asked(), [answer]).decision == decision


@pytest.mark.req("O12")
def test_a_hook_that_failed_open_counts_as_one_that_said_nothing() -> None:
    assert combined(asked(), [FAILED_OPEN, APPROVES]).decision == "allow"
    assert combined(asked(), [FAILED_OPEN, BLOCKS]).decision == "deny"


@pytest.mark.req("O13", "K-36")
@pytest.mark.parametrize("mode", ["default", "plan", "dontAsk"])
def test_a_deny_stays_a_deny_whatever_hooks_say(mode: Mode) -> None:
    denied = asked(mode, Rule("write_file", "deny", "user"))

    said = combined(denied, [APPROVES, BLOCKS, FAILED_CLOSED])

    assert (said.decision, said.base_decision, said.hook) == ("deny", "deny", "")
    assert said.why == (
        "the user rule write_file says deny; the hook docs-only adds: it is under docs/; "
        "the hook freeze adds: release freeze"
    )


@pytest.mark.req("O13")
@pytest.mark.parametrize("mode", ["plan", "dontAsk"])
def test_what_the_mode_denied_is_not_approved_by_a_hook(mode: Mode) -> None:
    assert combined(asked(mode), [APPROVES]).decision == "deny"


@pytest.mark.req("K-41")
def test_hooks_have_no_say_in_what_is_allowed() -> None:
    allowed = asked("acceptEdits")

    assert allowed.decision == "allow"
    assert combined(allowed, [BLOCKS, FAILED_CLOSED]) == allowed


@pytest.mark.req("B-6")
@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (APPROVES, "; the hook docs-only approves it: it is under docs/"),
        (BLOCKS, "; the hook freeze blocks it: release freeze"),
        (FAILED_CLOSED, "; the hook scanner failed, which counts as a block: no answer in 5 s"),
        (FAILED_OPEN, "; the hook stats failed, so a person decides: no answer in 5 s"),
    ],
)
def test_the_verdict_names_the_hook_with_its_reason(answer: HookAnswer, why: str) -> None:
    assert combined(asked(), [answer]).why == f"the default rule write_file says ask{why}"


def update(
    pattern: str, decision: Decision = "allow", scope: Scope = "session", locked: bool = False
) -> Rule:
    return Rule(pattern, decision, scope, locked=locked)


@pytest.mark.req("K-43", "K-40")
def test_updates_of_the_session_come_out_as_a_hooks_rules() -> None:
    assert checked_updates([update("bash"), update("mcp__*", "deny")]) == (
        Rule("bash", "allow", "session", "hook_update"),
        Rule("mcp__*", "deny", "session", "hook_update"),
    )


@pytest.mark.req("K-43")
@pytest.mark.parametrize(
    ("bad", "field", "error"),
    [
        (update("write_file", scope="user"), "rule_updates[1].scope", NotAllowed),
        (update("write_file", scope="project"), "rule_updates[1].scope", NotAllowed),
        (update("write_file", scope="builtin"), "rule_updates[1].scope", NotAllowed),
        (update("write_file", "deny", locked=True), "rule_updates[1].locked", NotAllowed),
        (update("*"), "rule_updates[1].pattern", NotAllowed),
        (update("wri*e"), "rule_updates[1].pattern", Invalid),
    ],
)
def test_one_update_that_a_hook_may_not_make_refuses_the_whole_batch(
    bad: Rule, field: str, error: type[RedshankError]
) -> None:
    with pytest.raises(error) as refused:
        checked_updates([update("bash"), bad])

    assert refused.value.field == field


@pytest.mark.req("O13")
def test_a_hook_on_a_denied_call_changes_no_rule() -> None:
    with pytest.raises(NotAllowed):
        checked_updates([update("bash", "ask")], denied=True)
    assert checked_updates([], denied=True) == ()


def test_a_flood_of_updates_is_refused() -> None:
    with pytest.raises(Invalid):
        checked_updates([update(f"tool{number}") for number in range(MOST_UPDATES + 1)])


@pytest.mark.req("K-43")
def test_an_update_of_the_same_pattern_replaces_the_earlier_one() -> None:
    first = checked_updates([update("bash"), update("mcp__*", "deny")])
    second = checked_updates([update("bash", "deny"), update("exec", "ask")])

    merged = merged_updates(first, second)

    assert [(rule.pattern, rule.decision) for rule in merged] == [
        ("bash", "deny"),
        ("mcp__*", "deny"),
        ("exec", "ask"),
    ]
