"""Scopes only narrow: what an agent sees or uses, what its child may have of it."""

from typing import get_args

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from redshank_shared.domain.delegation import (
    AgentType,
    Boundary,
    Delegation,
    child_mode,
    delegated,
    offered,
    permitted_child_mode,
)
from redshank_shared.domain.errors import Invalid, NotAllowed
from redshank_shared.domain.events import MODES, Decision, Mode
from redshank_shared.domain.scopes import (
    CapabilityScope,
    CredentialScope,
    check_entries,
    connector_credential_usable,
    connector_usable,
    delegated_credentials,
    intersect,
    narrowed,
    route_usable,
    server_usable,
    server_visible,
    skill_visible,
    tool_visible,
)
from redshank_shared.permissions.decision import judge
from redshank_shared.permissions.rules import BUILTIN
from redshank_shared.permissions.ruleset import RuleSet
from redshank_shared.permissions.tool_card import ToolCard, subject, unregistered_card
from tests.effort import examples


def some(*names: str) -> frozenset[str]:
    return frozenset(names)


def mcp_visible(scope: CapabilityScope, tool: str) -> bool:
    return tool_visible(scope, (tool,), "mcp", tool.split("__")[1])


HELPERS = ("list_mcp_resources", "list_mcp_resource_templates", "read_mcp_resource")


@pytest.mark.req("K-73", "O5", "O27")
@pytest.mark.parametrize(
    ("allow", "deny", "visible"),
    [
        (None, (), True),
        ((), (), False),
        (("*",), (), True),
        (("review",), (), True),
        (("other",), (), False),
        (("*", "other"), (), True),
        (None, ("review",), False),
        (("review",), ("review",), False),
        (("*",), ("review",), False),
        (("review",), ("*",), False),
        (("rev*",), (), False),
        (None, ("rev*",), True),
        (("Review",), (), False),
    ],
)
def test_no_list_is_no_limit_an_empty_one_allows_nothing_a_deny_counts_last(
    allow: tuple[str, ...] | None, deny: tuple[str, ...], visible: bool
) -> None:
    scope = CapabilityScope(
        skill_allow=None if allow is None else some(*allow), skill_deny=some(*deny)
    )

    assert skill_visible(scope, "review") is visible


@pytest.mark.req("K-73", "K-5", "K-68")
@pytest.mark.parametrize(
    ("scope", "tool", "visible"),
    [
        (CapabilityScope(), "mcp__github__y", True),
        (CapabilityScope(mcp_server_allow=some("github")), "mcp__github__y", True),
        (CapabilityScope(mcp_server_allow=some("github")), "mcp__linear__x", False),
        (
            CapabilityScope(mcp_server_allow=some("github"), mcp_tool_allow=some("mcp__github__z")),
            "mcp__github__y",
            False,
        ),
        (
            CapabilityScope(mcp_server_allow=some("linear"), mcp_tool_allow=some("mcp__github__y")),
            "mcp__github__y",
            False,
        ),
        (CapabilityScope(mcp_tool_allow=some("mcp__github__y")), "mcp__github__y", True),
        (CapabilityScope(mcp_tool_deny=some("mcp__github__y")), "mcp__github__y", False),
        (CapabilityScope(mcp_server_deny=some("github")), "mcp__github__y", False),
    ],
)
def test_an_mcp_tool_needs_its_server_with_itself_allowed(
    scope: CapabilityScope, tool: str, visible: bool
) -> None:
    assert mcp_visible(scope, tool) is visible


@pytest.mark.req("K-73")
@pytest.mark.parametrize("helper", HELPERS)
def test_the_resource_helpers_look_at_the_tool_lists_only(helper: str) -> None:
    no_server = CapabilityScope(mcp_server_allow=some())
    one_tool = CapabilityScope(mcp_tool_allow=some("mcp__github__y"))

    assert tool_visible(no_server, (helper,), "mcp")
    assert not tool_visible(one_tool, (helper,), "mcp")
    assert not tool_visible(CapabilityScope(mcp_tool_deny=some(helper)), (helper,), "mcp")
    assert tool_visible(CapabilityScope(mcp_tool_allow=some(helper)), (helper,), "mcp")


@pytest.mark.req("K-73")
def test_a_deny_of_a_helper_holds_for_its_other_name() -> None:
    scope = CapabilityScope(mcp_tool_deny=some("read_mcp_resource"))

    assert not tool_visible(scope, ("read_resource", "read_mcp_resource"), "mcp")


def test_a_capability_scope_hides_no_tool_but_those_of_mcp() -> None:
    nothing = CapabilityScope(some(), some(), some(), some("*"), some(), some("*"))

    assert tool_visible(nothing, ("bash",), "process")
    assert not tool_visible(nothing, ("mcp__a__b",), "mcp", "a")


@pytest.mark.req("K-74", "K-77", "O5")
@pytest.mark.parametrize(
    ("one", "other", "both"),
    [
        (None, None, None),
        (None, some("github"), some("github")),
        (some("*"), some("github"), some("github")),
        (some("*"), None, some("*")),
        (some("*", "linear"), some("github"), some("github")),
        (some("github", "linear"), some("github", "jira"), some("github")),
        (some("github"), some("linear"), some()),
        (some(), some("github"), some()),
        (some(), some("*"), some()),
        (some(), None, some()),
    ],
)
def test_allow_lists_intersect_whichever_comes_first(
    one: frozenset[str] | None, other: frozenset[str] | None, both: frozenset[str] | None
) -> None:
    first, second = CapabilityScope(mcp_server_allow=one), CapabilityScope(mcp_server_allow=other)

    assert intersect(first, second).mcp_server_allow == both
    assert intersect(second, first).mcp_server_allow == both


@pytest.mark.req("O5")
def test_allow_lists_that_do_not_meet_leave_nothing_and_not_everything() -> None:
    persona = CapabilityScope(mcp_server_allow=some("github"))
    session = CapabilityScope(mcp_server_allow=some("linear"))
    effective = intersect(persona, session)

    assert not mcp_visible(effective, "mcp__github__y")
    assert not mcp_visible(effective, "mcp__linear__y")


NAMES = st.sampled_from(("a", "b", "c", "*"))
LISTS = st.frozensets(NAMES, max_size=3)
CAPABILITIES = st.builds(
    CapabilityScope, *(st.none() | LISTS if number % 2 == 0 else LISTS for number in range(6))
)


@pytest.mark.req("K-74", "K-77")
@settings(max_examples=examples(150), deadline=None)
@given(CAPABILITIES, CAPABILITIES, st.sampled_from(("a", "b", "c", "d")))
def test_an_intersection_permits_exactly_what_both_permit(
    one: CapabilityScope, other: CapabilityScope, name: str
) -> None:
    both = intersect(one, other)

    assert skill_visible(both, name) == (skill_visible(one, name) and skill_visible(other, name))
    assert server_visible(both, name) == (server_visible(one, name) and server_visible(other, name))
    assert tool_visible(both, (name,), "mcp") == (
        tool_visible(one, (name,), "mcp") and tool_visible(other, (name,), "mcp")
    )


@pytest.mark.req("K-74")
@pytest.mark.fault("F71")
@pytest.mark.parametrize(
    ("allowed", "asked", "outside"),
    [
        (some("github"), some("github", "linear"), "linear"),
        (some("github"), some("*"), "*"),
        (some(), some("github"), "github"),
    ],
)
def test_an_entry_outside_the_parents_list_refuses_the_spawn(
    allowed: frozenset[str], asked: frozenset[str], outside: str
) -> None:
    with pytest.raises(NotAllowed) as refused:
        narrowed(
            CapabilityScope(mcp_server_allow=allowed),
            CapabilityScope(mcp_server_allow=asked),
            "capability_scope",
        )

    assert refused.value.field == "capability_scope.mcp_server_allow"
    assert f"asks for {outside}, but the parent has" in refused.value.detail


@pytest.mark.req("K-74", "K-27")
def test_a_child_that_names_less_gets_that_and_keeps_the_parents_denies() -> None:
    parent = CapabilityScope(mcp_server_allow=some("github", "linear"), skill_deny=some("deploy"))

    child = narrowed(
        parent, CapabilityScope(mcp_server_allow=some("github"), skill_deny=some("x")), "scope"
    )

    assert child.mcp_server_allow == some("github")
    assert child.skill_deny == some("deploy", "x")
    assert narrowed(parent, CapabilityScope(), "scope") == parent


@pytest.mark.req("K-74")
@pytest.mark.parametrize("allowed", [None, some("*")])
def test_a_parent_without_limit_lets_a_child_name_anything(allowed: frozenset[str] | None) -> None:
    parent = CapabilityScope(skill_allow=allowed)

    assert narrowed(parent, CapabilityScope(skill_allow=some("review")), "s").skill_allow == some(
        "review"
    )


@pytest.mark.req("K-75")
def test_a_child_with_no_credential_scope_keeps_routes_and_loses_what_needs_credentials() -> None:
    parent = CredentialScope(route_allow=some("openai"), mcp_server_deny=some("jira"))

    child = delegated_credentials(parent, None)

    assert route_usable(child, "openai")
    assert not route_usable(child, "anthropic")
    assert not connector_usable(child, "slack")
    assert not connector_credential_usable(child, "slack", "TOKEN")
    assert not server_usable(child, "github", credentialed=True)
    assert server_usable(child, "docs", credentialed=False)
    assert not server_usable(child, "jira", credentialed=False)


@pytest.mark.req("K-76", "O22")
@pytest.mark.parametrize(
    ("requested", "slack_token", "slack_key", "mail_key"),
    [
        (CredentialScope(), False, False, False),
        (CredentialScope(connector_allow=some("slack")), False, False, False),
        (CredentialScope(connector_credential_allow=some("slack:TOKEN")), True, False, False),
        (CredentialScope(connector_credential_allow=some("*")), True, True, True),
        (
            CredentialScope(
                connector_allow=some("mail"), connector_credential_allow=some("slack:TOKEN")
            ),
            False,
            False,
            False,
        ),
        (
            CredentialScope(
                connector_credential_allow=some("*"), connector_credential_deny=some("slack:KEY")
            ),
            True,
            False,
            True,
        ),
    ],
)
def test_a_child_has_the_connector_credentials_that_its_scope_names(
    requested: CredentialScope, slack_token: bool, slack_key: bool, mail_key: bool
) -> None:
    child = delegated_credentials(CredentialScope(), requested)

    assert connector_credential_usable(child, "slack", "TOKEN") is slack_token
    assert connector_credential_usable(child, "slack", "KEY") is slack_key
    assert connector_credential_usable(child, "mail", "KEY") is mail_key


@pytest.mark.req("O22")
def test_an_explicit_scope_without_connector_lists_leaves_no_connector() -> None:
    child = delegated_credentials(CredentialScope(), CredentialScope(route_allow=some("openai")))

    assert route_usable(child, "openai")
    assert not route_usable(child, "anthropic")
    assert not connector_usable(child, "slack")


@pytest.mark.req("K-74", "K-27")
@pytest.mark.fault("F71")
def test_a_grandchild_does_not_regain_what_the_child_lost() -> None:
    child = delegated_credentials(CredentialScope(), None)

    again = delegated_credentials(child, CredentialScope(mcp_server_allow=some("github")))
    assert not server_usable(again, "github", credentialed=True)
    with pytest.raises(NotAllowed) as refused:
        delegated_credentials(child, CredentialScope(connector_credential_allow=some("a:B")))
    assert refused.value.field == "credential_scope.connector_credential_allow"


@pytest.mark.req("K-73", "O27")
@pytest.mark.parametrize(
    ("scope", "field"),
    [
        (CapabilityScope(mcp_server_allow=some("git*")), "mcp_server_allow"),
        (CapabilityScope(skill_deny=some("")), "skill_deny"),
        (CapabilityScope(mcp_tool_deny=some("mcp__*")), "mcp_tool_deny"),
        (CredentialScope(connector_credential_allow=some("slack")), "connector_credential_allow"),
        (CredentialScope(connector_credential_deny=some(":KEY")), "connector_credential_deny"),
    ],
)
def test_an_entry_is_a_whole_name_or_a_star(
    scope: CapabilityScope | CredentialScope, field: str
) -> None:
    with pytest.raises(Invalid) as refused:
        check_entries(scope, "scope")

    assert refused.value.field == f"scope.{field}"


def test_well_formed_scopes_are_taken_and_come_back_from_json() -> None:
    scopes = (
        CapabilityScope(skill_allow=some(), mcp_server_allow=some("*")),
        CredentialScope(connector_credential_allow=some("slack:TOKEN", "*")),
    )
    for scope in scopes:
        check_entries(scope, "scope")
        assert msgspec.json.decode(msgspec.json.encode(scope), type=type(scope)) == scope


# K-26: the parent's mode, then the modes that its child may have.
PERMITTED = {
    "bypassPermissions": "bypassPermissions acceptEdits default plan dontAsk",
    "acceptEdits": "acceptEdits default dontAsk plan",
    "default": "default dontAsk plan",
    "dontAsk": "dontAsk plan",
    "plan": "plan",
}


@pytest.mark.req("K-26")
@pytest.mark.fault("F6", "F71")
@pytest.mark.parametrize("parent", MODES)
@pytest.mark.parametrize("child", MODES)
def test_a_childs_mode_is_never_wider_than_its_parents(parent: Mode, child: Mode) -> None:
    permitted = child in PERMITTED[parent].split()

    assert permitted_child_mode(parent, child) is permitted
    if permitted:
        assert child_mode(parent, child) == child
        return
    with pytest.raises(NotAllowed) as refused:
        child_mode(parent, child)
    assert refused.value.field == "mode"
    assert f"mode {parent} may not have mode {child}" in refused.value.detail


@pytest.mark.req("K-26", "O3")
@pytest.mark.parametrize("parent", MODES)
def test_an_omitted_mode_is_the_parents_or_plan_for_a_planner(parent: Mode) -> None:
    for agent_type in get_args(AgentType):
        expected = "plan" if agent_type == "plan" else parent
        assert child_mode(parent, None, agent_type) == expected


@pytest.mark.req("O3")
def test_a_planner_may_have_an_explicit_mode_within_its_parents() -> None:
    assert child_mode("default", "dontAsk", "plan") == "dontAsk"
    with pytest.raises(NotAllowed):
        child_mode("default", "bypassPermissions", "plan")


EXAMPLE = Delegation(
    agent_type="plan",
    blocked_tools=some("write_file", "edit_file", "apply_patch", "bash"),
    capability_scope=CapabilityScope(mcp_server_allow=some("github")),
    credential_scope=CredentialScope(mcp_server_allow=some("github"), route_allow=some("openai")),
)


@pytest.mark.req("K-85", "K-27", "O2", "O3")
@pytest.mark.parametrize("parent_mode", MODES)
def test_the_delegation_example_is_decided_as_its_text_says(parent_mode: Mode) -> None:
    child = delegated(Boundary(mode=parent_mode), EXAMPLE)

    assert child.mode == "plan"
    for tool in ("write_file", "edit_file", "apply_patch"):
        assert not offered(child, tool, (tool,), "write")
    assert not offered(child, "bash", ("bash",), "process")
    assert offered(child, "read_file", ("read_file",), "read")
    for tool, visible in (("mcp__github__list_prs", True), ("mcp__linear__x", False)):
        assert offered(child, tool, (tool,), "mcp", tool.split("__")[1]) is visible
    assert offered(child, "read_mcp_resource", ("read_mcp_resource",), "mcp")
    assert [r for r in ("openai", "anthropic") if route_usable(child.credentials, r)] == ["openai"]
    assert server_usable(child.credentials, "github", credentialed=True)
    assert not server_usable(child.credentials, "linear", credentialed=True)
    assert not connector_usable(child.credentials, "slack")
    assert not connector_credential_usable(child.credentials, "slack", "TOKEN")
    with pytest.raises(NotAllowed):
        delegated(child, Delegation(mode="bypassPermissions"))


@pytest.mark.req("K-85", "O2", "K-35")
@pytest.mark.fault("F7")
@pytest.mark.parametrize(
    ("card", "decision"),
    [
        (unregistered_card("mcp__github__list_prs"), "deny"),
        (msgspec.structs.replace(unregistered_card("mcp__github__list_prs"), plan=True), "ask"),
        (ToolCard("read_mcp_resource", "read_mcp_resource", (), "mcp", plan=True), "ask"),
        (ToolCard("read_file", "read_file", (), "read", plan=True), "allow"),
    ],
)
def test_what_the_child_of_the_example_sees_is_decided_in_plan_mode(
    card: ToolCard, decision: Decision
) -> None:
    child = delegated(Boundary(), EXAMPLE)

    assert offered(child, card.canonical, card.names, card.effect, card.server)
    assert judge(RuleSet(BUILTIN), child.mode, subject(card), card.plan).decision == decision


@pytest.mark.req("K-85", "K-26")
@pytest.mark.parametrize("parent_mode", [mode for mode in MODES if mode != "bypassPermissions"])
def test_the_child_of_the_example_cannot_ask_for_bypass(parent_mode: Mode) -> None:
    asks = msgspec.structs.replace(EXAMPLE, mode="bypassPermissions")

    with pytest.raises(NotAllowed) as refused:
        delegated(Boundary(mode=parent_mode), asks)
    assert refused.value.field == "mode"


@pytest.mark.req("K-27")
@pytest.mark.req("K-73", "K-77")
def test_a_star_among_tools_is_every_tool() -> None:
    blocked = delegated(Boundary(), Delegation(blocked_tools=some("*")))
    assert not offered(blocked, "bash", ("bash",), "process")
    assert not offered(
        delegated(blocked, Delegation(allowed_tools=some("bash"))), "bash", ("bash",), "process"
    )
    whole = delegated(Boundary(), Delegation(allowed_tools=some("*")))
    assert offered(whole, "bash", ("bash",), "process")
    reader = delegated(whole, Delegation(allowed_tools=some("read_file")))
    assert not offered(reader, "bash", ("bash",), "process")
    below = delegated(reader, Delegation(allowed_tools=some("*")))
    assert not offered(below, "bash", ("bash",), "process")
    assert offered(below, "read_file", ("read_file",), "read")
    assert not offered(
        delegated(whole, Delegation(allowed_tools=frozenset())), "bash", ("bash",), "process"
    )


@pytest.mark.fault("F6")
def test_blocked_tools_stay_blocked_down_the_line_under_every_name() -> None:
    child = delegated(Boundary(), Delegation(blocked_tools=some("write_file")))
    grandchild = delegated(child, Delegation(allowed_tools=some("write_file", "read_file")))
    below = delegated(grandchild, Delegation(allowed_tools=some("bash", "read_file")))

    assert not offered(child, "write_file", ("write", "write_file"), "write")
    assert not offered(grandchild, "write_file", ("write",), "write")
    assert offered(grandchild, "read_file", ("read_file",), "read")
    assert not offered(below, "bash", ("bash",), "process")
    assert offered(below, "read_file", ("read_file",), "read")
