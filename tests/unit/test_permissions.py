"""Rules and modes decide on a call, and the reason can be looked up."""

import pytest

from redshank_shared.domain.events import MODES, Decision, Effect, Mode
from redshank_shared.permissions.decision import Verdict, judge
from redshank_shared.permissions.matching import Subject
from redshank_shared.permissions.rules import BUILTIN, Rule, Scope, granted_rules
from redshank_shared.permissions.ruleset import RuleSet
from redshank_shared.permissions.tool_card import ToolCard, subject

PLAN_LISTED = {
    "read_file",
    "list_files",
    "glob_search",
    "grep_search",
    "web_fetch",
    "web_search",
    "list_mcp_resources",
    "list_mcp_resource_templates",
    "read_mcp_resource",
    "schedule_list",
    "get_goal",
    "exit_plan_mode",
}
EFFECTS: dict[str, Effect] = {
    "bash": "process",
    "write_file": "write",
    "edit_file": "write",
    "apply_patch": "write",
    "web_search": "network",
    "web_fetch": "network",
    "list_mcp_resources": "mcp",
    "list_mcp_resource_templates": "mcp",
    "read_mcp_resource": "mcp",
    "notify_operator": "deliver",
    "create_goal": "state",
    "exit_plan_mode": "human",
}


def verdict(
    tool: str, mode: Mode = "default", *rules: Rule, aliases: tuple[str, ...] = ()
) -> Verdict:
    """What is decided on a tool of the catalogue under these rules over the built-in tier."""
    effect: Effect = "mcp" if tool.startswith("mcp__") else EFFECTS.get(tool, "read")
    return judge(
        RuleSet((*rules, *BUILTIN)), mode, Subject((tool, *aliases), effect), tool in PLAN_LISTED
    )


def user(pattern: str, decision: Decision, scope: Scope = "user") -> Rule:
    return Rule(pattern, decision, scope)


@pytest.mark.req("K-35", "K-36", "K-37")
@pytest.mark.parametrize(
    ("tools", "row"),
    [
        (["bash"], "ask ask allow deny deny"),
        (["write_file", "edit_file", "apply_patch"], "ask allow allow deny deny"),
        (["mcp__linear__list", "mcp__github__delete"], "ask ask allow deny deny"),
        (
            ["list_mcp_resources", "list_mcp_resource_templates", "read_mcp_resource"],
            "ask ask allow ask deny",
        ),
        (
            ["read_file", "list_files", "glob_search", "grep_search", "web_fetch", "web_search"],
            "allow allow allow allow allow",
        ),
        (["schedule_list", "get_goal"], "allow allow allow allow allow"),
        (["exit_plan_mode"], "ask ask allow ask deny"),
        (["notify_operator", "create_goal"], "allow allow allow deny allow"),
    ],
)
def test_the_matrix_of_modes(tools: list[str], row: str) -> None:
    for tool in tools:
        assert " ".join(verdict(tool, mode).decision for mode in MODES) == row


@pytest.mark.req("K-35", "K-36")
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("tool", ["bash", "read_file", "write_file", "mcp__a__b"])
def test_no_mode_overrides_a_deny(mode: Mode, tool: str) -> None:
    said = verdict(tool, mode, user("*", "deny"))

    assert (said.decision, said.base_decision, said.mode_effect) == ("deny", "deny", "")


@pytest.mark.req("K-33", "K-34", "K-11", "O1")
@pytest.mark.parametrize(
    ("tool", "decision", "pattern"),
    [
        ("bash", "ask", "bash"),
        ("write_file", "ask", "write_file"),
        ("edit_file", "ask", "edit_file"),
        ("apply_patch", "ask", "apply_patch"),
        ("mcp__linear__list", "ask", "mcp__*"),
        ("list_mcp_resources", "ask", "list_mcp_resources"),
        ("list_mcp_resource_templates", "ask", "list_mcp_resource_templates"),
        ("read_mcp_resource", "ask", "read_mcp_resource"),
        ("exit_plan_mode", "ask", "exit_plan_mode"),
        ("read_file", "allow", "*"),
        ("nobody_knows_this", "allow", "*"),
    ],
)
def test_the_ten_defaults_are_reported_as_static_rules_of_the_session(
    tool: str, decision: Decision, pattern: str
) -> None:
    said = verdict(tool)

    assert len(BUILTIN) == 10
    assert (said.decision, said.pattern) == (decision, pattern)
    assert (said.scope, said.origin) == ("session", "static")


@pytest.mark.req("K-42", "O1")
@pytest.mark.parametrize(
    ("tool", "decision"), [("mcp__linear__list", "allow"), ("mcp__github__list", "deny")]
)
def test_no_mcp_except_linear(tool: str, decision: Decision) -> None:
    rules = [user("mcp__*", "deny"), user("mcp__linear__*", "allow", "project")]

    assert verdict(tool, "default", *rules).decision == decision


@pytest.mark.req("K-81")
@pytest.mark.parametrize(
    ("rule", "decision"),
    [
        (user("bash", "allow"), "ask"),
        (user("*", "allow"), "ask"),
        (user("@process", "allow"), "ask"),
        (Rule("bash", "allow", "session", "approval"), "ask"),
        (user("bash:network", "allow"), "allow"),
        (user("bash:network", "deny"), "deny"),
        (user("bash", "deny"), "deny"),
    ],
)
def test_what_allows_bash_does_not_allow_it_the_network(rule: Rule, decision: Decision) -> None:
    card = ToolCard("bash", "bash", (), "process", plan=False)

    said = judge(RuleSet((rule, *BUILTIN)), "default", subject(card, "network"), False)

    assert said.decision == decision


@pytest.mark.req("O1")
def test_a_rule_of_the_user_speaks_before_the_defaults() -> None:
    assert verdict("bash", "default", user("*", "allow")).decision == "allow"
    assert verdict("read_file", "default", user("read_*", "deny")).decision == "deny"


@pytest.mark.req("K-38")
def test_the_first_scope_with_any_match_decides_however_specific_the_others_are() -> None:
    rules = [
        user("mcp__linear__delete", "deny", "project"),
        user("mcp__*", "allow", "session"),
        user("mcp__linear__delete", "deny", "user"),
    ]

    said = verdict("mcp__linear__delete", "default", *rules)

    assert (said.decision, said.pattern, said.scope) == ("allow", "mcp__*", "session")


@pytest.mark.req("K-39", "O24")
def test_in_a_scope_the_more_specific_pattern_decides_whatever_the_order() -> None:
    subject = Subject(("mcp__linear__list",), "mcp")
    by_rank = ["mcp__linear__list", "mcp__linear__*", "mcp__*", "m*", "@mcp", "*"]
    rules = [user(pattern, "allow") for pattern in by_rank]

    for most_specific in range(len(rules)):
        left = rules[most_specific:]
        for order in (left, left[::-1]):
            assert RuleSet(order).match(subject) == rules[most_specific]


@pytest.mark.req("K-39")
def test_of_equal_patterns_the_earlier_decides() -> None:
    rules = [user("bash", "allow", "session"), user("bash", "deny", "session")]

    assert verdict("bash", "default", *rules).decision == "allow"
    assert verdict("bash", "default", *rules[::-1]).decision == "deny"


@pytest.mark.req("K-40")
def test_a_hooks_update_wins_over_a_static_rule_of_the_same_pattern() -> None:
    rules = [
        user("bash", "deny", "session"),
        Rule("bash", "allow", "session", "hook_update"),
    ]

    said = verdict("bash", "default", *rules)

    assert (said.decision, said.origin) == ("allow", "hook_update")


@pytest.mark.req("K-40")
def test_a_hooks_update_does_not_win_over_a_more_specific_rule() -> None:
    rules = [
        Rule("mcp__*", "allow", "session", "hook_update"),
        user("mcp__linear__*", "deny", "session"),
    ]

    assert verdict("mcp__linear__list", "default", *rules).decision == "deny"


@pytest.mark.req("O24")
@pytest.mark.parametrize(
    ("tool", "pattern", "matches"),
    [
        ("bash", "@process", True),
        ("bash", "@write", False),
        ("mcp__a__b", "@mcp", True),
        ("web_search", "@network", True),
        ("bash", "bas", False),
        ("bash", "bash_*", False),
        ("bash", "BASH", False),
        ("mcp__git_extra__x", "mcp__git__*", False),
        ("mcp__git__x", "mcp__git__*", True),
        ("bash", "", False),
    ],
)
def test_what_a_pattern_matches(tool: str, pattern: str, matches: bool) -> None:
    said = verdict(tool, "default", user(pattern, "deny"))

    assert (said.decision == "deny") is matches


@pytest.mark.parametrize("pattern", ["write_file", "write", "wri*", "write_*", "@write"])
def test_no_deny_is_dodged_through_another_name_of_the_tool(pattern: str) -> None:
    for names in (("write_file", "write"), ("write", "write_file")):
        subject = Subject(names, "write")
        said = judge(
            RuleSet((user(pattern, "deny"), *BUILTIN)), "bypassPermissions", subject, False
        )
        assert said.decision == "deny"


@pytest.mark.req("K-37")
@pytest.mark.fault("F7")
def test_plan_mode_denies_what_is_off_its_list_though_a_rule_allows_it() -> None:
    said = verdict("bash", "plan", user("*", "allow"))

    assert (said.decision, said.base_decision) == ("deny", "allow")
    assert said.mode_effect == "plan_mode_denied_non_whitelisted_tool"


@pytest.mark.req("K-37")
def test_an_ask_on_a_tool_of_the_plan_list_stays_ask() -> None:
    said = verdict("schedule_list", "plan", user("schedule_*", "ask", "session"))

    assert (said.decision, said.mode_effect) == ("ask", "")


@pytest.mark.req("K-45")
@pytest.mark.parametrize(
    ("tool", "mode", "decision", "effect"),
    [
        ("edit_file", "acceptEdits", "allow", "accept_edits_auto_allowed_edit_approval"),
        ("bash", "acceptEdits", "ask", ""),
        ("bash", "bypassPermissions", "allow", "bypass_permissions_auto_allowed_approval"),
        ("read_file", "bypassPermissions", "allow", ""),
        ("bash", "plan", "deny", "plan_mode_denied_non_whitelisted_tool"),
        ("read_file", "plan", "allow", ""),
        ("bash", "dontAsk", "deny", "dont_ask_denied_approval"),
        ("notify_operator", "dontAsk", "allow", ""),
        ("bash", "default", "ask", ""),
    ],
)
def test_the_effect_of_a_mode_is_named_only_where_it_changed_the_decision(
    tool: str, mode: Mode, decision: Decision, effect: str
) -> None:
    said = verdict(tool, mode)

    assert (said.decision, said.mode_effect, said.effective_mode) == (decision, effect, mode)
    assert bool(said.mode_effect) is (said.decision != said.base_decision)


def test_an_ask_that_somebody_wrote_down_is_still_an_edit_approval() -> None:
    said = verdict("write_file", "acceptEdits", user("write_file", "ask"))

    assert (said.decision, said.scope) == ("allow", "user")


@pytest.mark.req("O2", "O4", "K-37")
@pytest.mark.fault("F7")
@pytest.mark.parametrize(
    ("card", "decision"),
    [
        (ToolCard("mcp__github__list", "mcp__github__list", (), "mcp", plan=False), "deny"),
        (ToolCard("mcp__github__list", "mcp__github__list", (), "mcp", plan=True), "ask"),
        (ToolCard("emit_output", "emit_output", (), "deliver", plan=True), "allow"),
        (ToolCard("todo_write", "todo_write", (), "state", plan=True), "allow"),
        (ToolCard("notify_operator", "notify_operator", (), "deliver", plan=False), "deny"),
        (ToolCard("exec", "exec", (), "process", plan=False), "deny"),
    ],
)
def test_plan_mode_leaves_what_its_list_holds_at_the_base_decision(
    card: ToolCard, decision: Decision
) -> None:
    said = judge(RuleSet(BUILTIN), "plan", subject(card), card.plan)

    assert said.decision == decision
    assert bool(said.mode_effect) is (decision == "deny")


@pytest.mark.req("O25", "O15")
@pytest.mark.parametrize(
    ("locked", "rival"),
    [
        (user("mcp__*", "deny"), user("mcp__linear__x", "allow", "session")),
        (user("mcp__*", "deny"), user("mcp__linear__x", "allow", "project")),
        (user("mcp__*", "deny"), user("mcp__linear__x", "allow")),
        (user("@mcp", "deny", "project"), user("mcp__linear__x", "allow", "project")),
        (user("*", "deny", "project"), user("mcp__linear__x", "allow", "session")),
        (user("*", "deny"), Rule("mcp__linear__x", "allow", "session", "hook_update")),
        (user("*", "deny"), Rule("mcp__linear__x", "allow", "session", "approval")),
    ],
)
def test_a_locked_deny_beats_lower_scopes_with_the_narrower_rules_of_its_own(
    locked: Rule, rival: Rule
) -> None:
    unlocked = verdict("mcp__linear__x", "default", locked, rival)
    assert unlocked.decision == "allow"

    held = Rule(locked.pattern, "deny", locked.scope, locked=True)
    for rules in ((held, rival), (rival, held)):
        said = verdict("mcp__linear__x", "bypassPermissions", *rules)
        assert (said.decision, said.pattern, said.scope) == ("deny", held.pattern, held.scope)
        assert said.locked
        assert said.why == f"the locked {held.scope} rule {held.pattern} says deny"


@pytest.mark.req("O25")
def test_of_two_locked_denies_the_users_is_named() -> None:
    rules = [
        Rule("bash", "deny", "project", locked=True),
        Rule("*", "deny", "user", locked=True),
    ]

    assert verdict("bash", "default", *rules).scope == "user"


@pytest.mark.req("O25")
@pytest.mark.parametrize(
    "rule", [Rule("bash", "deny", "session", locked=True), Rule("*", "allow", "user", locked=True)]
)
def test_a_lock_counts_only_on_a_deny_of_project_or_user(rule: Rule) -> None:
    said = verdict("bash", "default", rule, Rule("bash", "ask", "session", "hook_update"))

    assert (said.decision, said.locked) == ("ask", False)


PROMPT = ToolCard("use_prompt", "use_prompt", ("prompt",), "mcp", plan=False)


@pytest.mark.req("O14")
@pytest.mark.parametrize(
    ("label", "decision", "pattern"),
    [
        ("mcp__a__greet", "allow", "use_prompt:mcp__a__greet"),
        ("mcp__a__other", "deny", "prompt:mcp__a__*"),
        ("mcp__b__greet", "ask", "use_prompt"),
        ("", "ask", "use_prompt"),
    ],
)
def test_a_label_narrows_a_rule_to_some_calls_of_the_tool(
    label: str, decision: Decision, pattern: str
) -> None:
    rules = [
        user("use_prompt", "ask"),
        user("use_prompt:mcp__a__greet", "allow"),
        user("prompt:mcp__a__*", "deny"),
    ]
    for order in (rules, rules[::-1]):
        said = judge(RuleSet(order), "default", subject(PROMPT, label), PROMPT.plan)
        assert (said.decision, said.pattern) == (decision, pattern)


@pytest.mark.req("K-39", "O14")
def test_of_equally_specific_rules_on_two_names_of_one_tool_the_deny_speaks() -> None:
    rules = [user("write", "allow"), user("write_file", "deny")]
    card = ToolCard("write", "write_file", (), "write", plan=False)
    for order in (rules, rules[::-1]):
        said = judge(RuleSet(order), "default", subject(card), card.plan)
        assert (said.decision, said.pattern) == ("deny", "write_file")
        assert said.why == ("the user rule write_file says deny (write is also called write_file)")


def test_what_a_person_allowed_for_the_workstream_is_that_tool_and_no_other() -> None:
    granted = granted_rules(("bash",))

    said = verdict("bash", "default", *granted)
    assert (said.decision, said.scope, said.origin) == ("allow", "session", "approval")
    assert verdict("write_file", "default", *granted).decision == "ask"
    assert verdict("bash", "plan", *granted).decision == "deny"


@pytest.mark.req("T-14", "O-14")
@pytest.mark.parametrize("uri", ["*", "mem://*", "mem://notes*"])
def test_a_call_whose_label_ends_with_a_star_is_allowed_to_the_letter(uri: str) -> None:
    card = ToolCard("read_mcp_resource", "read_mcp_resource", (), "mcp", plan=True)
    allowed = (*BUILTIN, *granted_rules((f"read_mcp_resource:{uri}",)))
    ruleset = RuleSet(allowed)
    assert judge(ruleset, "default", subject(card, uri), True).decision == "allow"
    for other in ("mem://notes/a", f"{uri}more", f"{uri}*", ""):
        assert judge(ruleset, "default", subject(card, other), True).decision == "ask"


def test_where_no_rule_matches_a_person_is_asked() -> None:
    said = judge(RuleSet(), "default", Subject(("bash",), "process"), False)

    assert (said.decision, said.pattern, said.origin) == ("ask", "", "static")
    assert said.why == "no rule matches, so a person is asked"


@pytest.mark.req("K-45")
@pytest.mark.parametrize(
    ("said", "why"),
    [
        (verdict("bash"), "the default rule bash says ask"),
        (
            verdict("bash", "dontAsk", user("@process", "ask", "project")),
            "the project rule @process says ask; mode dontAsk makes it deny",
        ),
        (
            verdict("bash", "default", *granted_rules(("bash",))),
            "bash was allowed for this workstream by a person",
        ),
        (
            verdict("bash", "default", Rule("bash", "allow", "user", "approval")),
            "bash was allowed for this user, for always, by a person",
        ),
        (
            verdict("bash", "default", Rule("bash", "allow", "project", "approval")),
            "bash was allowed for this project, for always, by a person",
        ),
    ],
)
def test_a_verdict_says_why(said: Verdict, why: str) -> None:
    assert said.why == why
