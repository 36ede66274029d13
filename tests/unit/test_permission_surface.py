"""Which tool a name means, which tools a matrix lists, whose rules are whose."""

from pathlib import Path

import pytest

from redshank_console.services.cluster_surface import LiveTools
from redshank_console.services.policy_in_force import (
    known_names,
    ruleset_over,
    surface_of,
    tool_named,
)
from redshank_node.engine.tool_cards import card_of
from redshank_node.tools.catalog import BUILTIN
from redshank_shared.domain.events import WorkstreamCreated
from redshank_shared.domain.ids import WorkstreamId
from redshank_shared.domain.rule_events import SessionRule
from redshank_shared.domain.workstream import Workstream
from redshank_shared.permissions.rules import Rule
from redshank_shared.permissions.session_rules import session_rules
from redshank_shared.permissions.tool_card import ToolCard, subject
from redshank_shared.profiles.own import own_profile
from redshank_shared.profiles.profile import known_profiles, load, own_asks

SEARCH = ToolCard("mcp__linear__search", "mcp__linear__search", (), "mcp", False, server="linear")
LIVE = LiveTools((*(card_of(tool) for tool in BUILTIN), SEARCH))
NOBODY = LiveTools()


@pytest.mark.req("K-40")
def test_hook_updates_stand_before_what_people_granted() -> None:
    state = Workstream(
        id=WorkstreamId("ws_1"),
        created=WorkstreamCreated(name="reed", owner="ines"),
        granted=("bash",),
        hook_rules=(SessionRule("edit_file", "deny"),),
    )
    assert session_rules(state) == (
        Rule("edit_file", "deny", "session", "hook_update"),
        Rule("bash", "allow", "session", "approval"),
    )


@pytest.mark.req("K-48")
def test_a_profile_lists_its_own_tools_and_those_of_servers() -> None:
    kheish = load("kheish")
    assert surface_of(kheish, LIVE) == (*kheish.tools, SEARCH)
    assert surface_of(kheish, NOBODY) == kheish.tools
    default = load("default")
    listed = [card.canonical for card in surface_of(default, LIVE)]
    assert len(listed) == len(set(listed))
    assert {card.canonical for card in LIVE.cards} <= set(listed)


@pytest.mark.fault("F7")
@pytest.mark.parametrize("profile", known_profiles())
def test_a_node_and_every_profile_know_a_tool_by_the_same_names(profile: str) -> None:
    """Or a rule would reach a call in the dry run and miss it in the pipeline."""
    live = {card.canonical: card for card in LIVE.cards}
    for card in load(profile).tools:
        if card.canonical in live:
            node = live[card.canonical]
            assert set(card.names) == set(node.names) | {card.name}, card.canonical
            assert (card.effect, card.plan) == (node.effect, node.plan), card.canonical


def test_a_name_means_the_tool_that_a_call_would_reach() -> None:
    assert tool_named("edit", load("default"), LIVE).canonical == "edit_file"
    assert tool_named("apply_patch", load("default"), LIVE).canonical == "apply_patch"
    assert tool_named(SEARCH.name, load("kheish"), LIVE) == SEARCH
    unknown = tool_named("mcp__github__list_prs", load("kheish"), NOBODY)
    assert (unknown.effect, unknown.server) == ("mcp", "github")
    assert not LIVE.has(unknown)
    assert {"edit", "edit_file", "apply_patch", SEARCH.name} <= known_names(LIVE)


@pytest.mark.req("T-28")
def test_labels_that_ask_do_so_in_every_profile() -> None:
    watch = LIVE.named("watch")
    assert watch is not None
    for profile in known_profiles():
        ruleset = ruleset_over((), load(profile), LIVE)
        rule = ruleset.match(subject(watch, "create"))
        assert rule is not None
        assert rule.decision == "ask"


@pytest.mark.req("T-28", "O-14")
@pytest.mark.parametrize(
    "said", ['watch = { default = "deny" }', 'spy = { canonical = "watch", default = "deny" }']
)
def test_a_tool_that_a_profile_denies_is_not_asked_about_by_its_labels(
    tmp_path: Path, said: str
) -> None:
    file = tmp_path / "own.toml"
    file.write_text(f'title = "Own"\n\n[tools]\n{said}\n')
    profile = own_profile("own", str(file), {})
    (card,) = profile.tools

    rule = ruleset_over((), profile, LIVE).match(subject(card, "create"))

    assert rule is not None
    assert rule.decision == "deny"
    assert own_asks(LIVE.cards, load("default")) != own_asks(LIVE.cards, profile)
