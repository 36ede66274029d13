"""What may stand in a rule, and what its author is told where it may not."""

import pytest

from redshank_shared.domain.errors import Invalid
from redshank_shared.domain.events import Decision
from redshank_shared.permissions.rules import (
    EFFECTS,
    LONGEST_PATTERN,
    Rule,
    Scope,
    asks_once_more,
    check_names,
    check_pattern,
    check_rule,
)


@pytest.mark.req("K-39", "O14", "O24")
@pytest.mark.parametrize(
    "pattern",
    [
        "bash",
        "*",
        "mcp__*",
        "mcp__linear__delete-issue",
        "use_prompt:mcp__a__b",
        "use_prompt:mcp__a__*",
        "watch:*",
        "a" * LONGEST_PATTERN,
        *(f"@{effect}" for effect in EFFECTS),
    ],
)
def test_a_well_formed_pattern_is_taken(pattern: str) -> None:
    check_pattern(pattern)


@pytest.mark.parametrize(
    ("pattern", "mend"),
    [
        ("", "write a tool's name"),
        ("   ", "write a tool's name"),
        ("ba*h", "may only stand last"),
        ("**", "may only stand last"),
        ("*:label", "may only stand last"),
        ("@proces", "did you mean @process?"),
        ("@", "@read, @write"),
        ("@Process", "@process"),
        ("@process:x", "@process"),
        ("bash ", "never a command's words"),
        ("ba\tsh", "never a command's words"),
        ("bash\x00", "never a command's words"),
        ("ba\u202esh", "never a command's words"),
        ("bash:", "use_prompt:name"),
        (":label", "use_prompt:name"),
        ("a" * (LONGEST_PATTERN + 1), "at most 200"),
    ],
)
def test_a_malformed_pattern_is_refused_with_the_mend(pattern: str, mend: str) -> None:
    with pytest.raises(Invalid) as refused:
        check_pattern(pattern)

    assert refused.value.field == "pattern"
    assert mend in refused.value.detail


@pytest.mark.fault("F5")
@pytest.mark.parametrize(
    "pattern",
    [
        "bash:git status",
        "bash:rm",
        "bash:network*",
        "exec:network",
        "exec:rm*",
        "bash(git *)",
        "bash(rm)",
        "bash git*",
    ],
)
def test_there_are_no_rules_on_the_words_of_a_command(pattern: str) -> None:
    with pytest.raises(Invalid):
        check_pattern(pattern)


def test_a_rule_may_name_the_calls_of_bash_that_ask_for_the_network() -> None:
    check_pattern("bash:network")


@pytest.mark.req("O15", "O25")
@pytest.mark.parametrize(
    ("decision", "scope", "counts"),
    [
        ("deny", "user", True),
        ("deny", "project", True),
        ("deny", "session", False),
        ("allow", "user", False),
        ("ask", "project", False),
    ],
)
def test_only_a_deny_of_project_or_user_can_be_locked(
    decision: Decision, scope: Scope, counts: bool
) -> None:
    rule = Rule("bash", decision, scope, locked=True)

    assert rule.locks is counts
    if counts:
        check_rule(rule)
        return
    with pytest.raises(Invalid) as refused:
        check_rule(rule, "rule[2]")
    assert refused.value.field == "rule[2].locked"


KNOWN = ("bash", "read_file", "write_file", "use_prompt", "mcp__linear__list")


def test_an_unknown_tool_in_a_rule_is_answered_with_the_nearest_name() -> None:
    unknown = check_names("write_fiel", KNOWN)

    assert unknown is not None
    assert unknown.nearest == "write_file"
    assert unknown.said == (
        "no tool is called write_fiel, so this rule matches nothing; did you mean write_file?"
    )


def test_an_unknown_tool_is_refused_where_the_caller_is_strict() -> None:
    with pytest.raises(Invalid) as refused:
        check_names("bahs", KNOWN, strict=True, field="rule[0].pattern")

    assert refused.value.field == "rule[0].pattern"
    assert "did you mean bash?" in refused.value.detail


def test_a_tool_is_looked_for_without_its_label() -> None:
    assert check_names("use_prompt:mcp__a__b", KNOWN) is None
    unknown = check_names("use_prom:mcp__a__*", KNOWN)
    assert unknown is not None
    assert unknown.nearest == "use_prompt"


@pytest.mark.parametrize("pattern", ["mcp__nobody__*", "@process", "*", "bash"])
def test_what_names_no_single_tool_or_a_known_one_gives_no_warning(pattern: str) -> None:
    assert check_names(pattern, KNOWN, strict=True) is None


def test_where_nothing_is_near_no_name_is_guessed() -> None:
    unknown = check_names("zzzzzzzz", KNOWN)

    assert unknown is not None
    assert unknown.nearest == ""
    assert "did you mean" not in unknown.said


@pytest.mark.req("O28")
@pytest.mark.parametrize(
    ("rule", "asked"),
    [
        (Rule("*", "allow", "user"), True),
        (Rule("*", "allow", "project"), True),
        (Rule("*", "deny", "user"), False),
        (Rule("*", "allow", "session"), False),
        (Rule("bash", "allow", "user"), False),
    ],
)
def test_an_allow_of_everything_is_asked_about_once_more(rule: Rule, asked: bool) -> None:
    assert asks_once_more(rule) is asked
