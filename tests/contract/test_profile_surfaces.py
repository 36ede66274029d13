"""Each profile exposes exactly what its document lists, and says of it what the documents say."""

import pathlib
import tomllib
from typing import Any

import msgspec
import pytest

from redshank_node.engine.profiles_in_force import toolsets_of
from redshank_node.tools.catalog import BUILTIN as REGISTERED
from redshank_node.tools.tool import Tool, Workspace
from redshank_shared.permissions.tool_card import ToolCard
from redshank_shared.profiles.catalogue import catalogue
from redshank_shared.profiles.profile import Profile, known_profiles, load
from redshank_shared.settings.sections import SECTIONS, Capabilities, Model, Node, Settings

_TABLE: dict[str, Any] = tomllib.loads(
    (pathlib.Path(__file__).parent / "cases" / "surfaces.toml").read_text()
)
_CATALOGUE = [tuple(line.split()) for line in _TABLE["catalogue"]["tools"].strip().splitlines()]


def names(text: str) -> list[str]:
    """A list as a requirement writes it."""
    return text.split(", ")


# K-37, word for word, and what O4 adds.
PLAN_LIST_OF_KHEISH = names(
    "read_file, list_files, glob_search, grep_search, web_fetch, web_search, list_mcp_resources, "
    "list_mcp_resource_templates, read_mcp_resource, list_skills, read_channel_thread, "
    "ask_operator, ask_user_question, request_parent_clarification, spawn_agent, list_agents, "
    "list_agent_summaries, message_agent, wait_agent, get_agent, enter_plan_mode, exit_plan_mode, "
    "task_get, task_list, task_output, schedule_get, schedule_list, get_goal"
)
ADDED_TO_PLAN = ["emit_output", "todo_write"]

# K-82: those that are named as running alone, those named as running beside others.
ALONE = names(
    "emit_output, ask_operator, generate_image, ask_user_question, notify_operator, todo_write, "
    "enter_plan_mode, exit_plan_mode, edit_image, generate_audio"
)
BESIDE = names(
    "spawn_agent, wake_after, wake_at, schedule_create, schedule_list, schedule_get, "
    "schedule_pause, schedule_resume, schedule_cancel, schedule_trigger_now"
)


# Canonical names whose tools are not built yet: no profile exposes them. It may only shrink.
NOT_BUILT = set(
    names(
        "create_channel_stimulus, create_goal, download_attachments, get_agent, get_goal, "
        "invoke, list_agent_summaries, list_agents, list_mcp_resource_templates, "
        "list_mcp_resources, list_sessions, list_skills, memory, message_agent, "
        "notify_operator, prune_boundaries, query_sessions, react, read_history, "
        "read_mcp_resource, read_session, read_skill, recall, request_parent_clarification, "
        "session_info, spawn_agent, todo_write, update_goal, "
        "use_prompt, use_skill, wait_agent"
    )
)

# A node whose models can do everything, whose tools.toml turns everything on.
ABLE = Capabilities(image_generation=True, image_edit=True, audio_generation=True)
SETTINGS = Settings(
    **{name: kind() for name, kind in SECTIONS.items()},  # type: ignore[arg-type]
    models=(Model("demo", name="demo", capabilities=ABLE),),
    given=frozenset(),
)


def names_of(profile: Profile) -> list[str]:
    return [card.name for card in profile.tools]


def card_named(profile: Profile, name: str) -> ToolCard:
    return next(card for card in profile.tools if card.name == name)


@pytest.mark.req("K-9")
def test_kheish_exposes_its_fifty_two_names_with_the_three_of_mcp() -> None:
    listed = _TABLE["kheish"]["surface"]

    assert len(listed) == 52
    assert sorted(names_of(load("kheish"))) == sorted([*listed, *_TABLE["kheish"]["with_mcp"]])


def test_turnstone_exposes_the_names_that_its_document_lists() -> None:
    assert sorted(names_of(load("turnstone"))) == sorted(_TABLE["turnstone"]["surface"])


@pytest.mark.req("C-6")
def test_cireilclaw_exposes_its_twenty_one_names() -> None:
    listed = _TABLE["cireilclaw"]["surface"]

    assert len(listed) == 21
    assert sorted(names_of(load("cireilclaw"))) == sorted(listed)


def test_the_default_profile_exposes_every_tool_of_the_catalogue_under_its_own_name() -> None:
    listed = sorted(name for name, *_ in _CATALOGUE)

    assert sorted(names_of(load("default"))) == listed
    assert sorted(catalogue()) == listed
    assert all(card.name == card.canonical for card in load("default").tools)


@pytest.mark.parametrize(
    ("name", "default", "beside", "plan"), _CATALOGUE, ids=[name for name, *_ in _CATALOGUE]
)
def test_a_tool_has_the_default_and_the_flags_of_its_line_in_the_catalogue(
    name: str, default: str, beside: str, plan: str
) -> None:
    card = card_named(load("default"), name)

    said = "label" if card.asks else card.default or "allow"
    assert (said, card.parallel, card.plan) == (default, beside == "yes", plan == "yes")


@pytest.mark.req("K-37", "O4")
def test_the_plan_list_of_kheish_is_the_one_that_is_written_with_what_a_planner_needs() -> None:
    listed = [card.name for card in load("kheish").tools if card.plan]

    assert sorted(listed) == sorted(PLAN_LIST_OF_KHEISH + ADDED_TO_PLAN)


@pytest.mark.req("K-33", "K-34")
def test_the_rules_of_kheish_are_the_ten_of_boot_in_their_order() -> None:
    assert [(rule.pattern, rule.decision) for rule in load("kheish").rules] == [
        ("bash", "ask"),
        ("write_file", "ask"),
        ("edit_file", "ask"),
        ("apply_patch", "ask"),
        ("mcp__*", "ask"),
        ("list_mcp_resources", "ask"),
        ("list_mcp_resource_templates", "ask"),
        ("read_mcp_resource", "ask"),
        ("exit_plan_mode", "ask"),
        ("*", "allow"),
    ]


@pytest.mark.req("K-11", "K-33")
def test_the_defaults_of_kheish_say_what_its_rules_say() -> None:
    asked = {card.name for card in load("kheish").tools if card.default == "ask"}

    assert asked | {"mcp__*"} == {rule.pattern for rule in load("kheish").rules[:-1]}


@pytest.mark.req("O1")
@pytest.mark.parametrize("name", known_profiles())
def test_the_built_in_tier_ends_with_the_catch_all_and_is_below_every_scope(name: str) -> None:
    rules = load(name).rules

    assert (rules[-1].pattern, rules[-1].decision) == ("*", "allow")
    assert {rule.scope for rule in rules} == {"builtin"}
    assert len({rule.pattern for rule in rules}) == len(rules)


@pytest.mark.req("K-82")
def test_kheish_runs_alone_what_is_named_so_and_the_rest_that_is_named_beside() -> None:
    kheish = load("kheish")

    assert not [name for name in ALONE if card_named(kheish, name).parallel]
    assert [name for name in BESIDE if card_named(kheish, name).parallel] == BESIDE


def test_only_turnstone_runs_shells_beside_each_other() -> None:
    shells = {
        name: card.parallel
        for name in known_profiles()
        for card in load(name).tools
        if card.canonical in ("bash", "exec")
    }

    assert shells == {"default": False, "turnstone": True, "kheish": False, "cireilclaw": False}


@pytest.mark.fault("F7")
@pytest.mark.parametrize("name", known_profiles())
def test_no_profile_says_less_of_a_tool_than_is_true(name: str) -> None:
    """Effect and plan flag belong to the canonical tool, whatever it is called."""
    for card in load(name).tools:
        known = catalogue()[card.canonical]
        assert (card.effect, card.plan) == (known.effect, known.plan), card.name


@pytest.mark.parametrize("name", known_profiles())
def test_a_card_carries_every_name_that_any_profile_gives_its_tool(name: str) -> None:
    exposed: dict[str, set[str]] = {}
    for other in known_profiles():
        for card in load(other).tools:
            exposed.setdefault(card.canonical, set()).add(card.name)

    for card in load(name).tools:
        assert exposed[card.canonical] <= set(card.names), card.name


def test_the_ledger_names_exactly_what_is_not_built_yet() -> None:
    built = {tool.name for tool in REGISTERED}

    assert sorted(NOT_BUILT & built) == [], "built: take it out of the ledger"
    assert sorted(set(catalogue()) - built - NOT_BUILT) == []


@pytest.mark.req("K-9", "C-6", "K-8")
@pytest.mark.parametrize("name", known_profiles())
def test_a_node_shows_exactly_the_profiles_names_that_are_built(
    name: str, tmp_path: pathlib.Path
) -> None:
    profile = load(name)
    (tmp_path / "config").mkdir()
    everything = "".join(f"{card.name} = true\n" for card in load("cireilclaw").tools)
    (tmp_path / "config" / "tools.toml").write_text(everything)
    workspace = Workspace(tmp_path / "workspace")

    toolbox = toolsets_of(SETTINGS, REGISTERED, workspace).toolset(profile, "interactive").toolbox

    shown = sorted(described.name for described in toolbox.surface())
    assert shown == sorted(c.name for c in profile.tools if c.canonical not in NOT_BUILT)
    assert {tool.name for tool in toolbox.tools} <= {card.canonical for card in profile.tools}


@pytest.mark.req("K-8")
def test_without_a_model_for_it_no_media_tool_is_shown(tmp_path: pathlib.Path) -> None:
    plain = msgspec.structs.replace(SETTINGS, models=(Model("demo", name="demo"),))
    toolsets = toolsets_of(plain, REGISTERED, Workspace(tmp_path))

    shown = {tool.name for tool in toolsets.toolset(load("kheish"), "interactive").toolbox.tools}

    assert not shown & {"generate_image", "edit_image", "generate_audio"}
    assert "bash" in shown


def test_each_profile_has_a_digest_of_its_own_that_stays(tmp_path: pathlib.Path) -> None:
    def digests() -> list[str]:
        toolsets = toolsets_of(SETTINGS, REGISTERED, Workspace(tmp_path))
        return [
            toolsets.toolset(load(name), "interactive").toolbox.digest for name in known_profiles()
        ]

    assert len(set(digests())) == len(known_profiles())
    assert digests() == digests()


def descriptions(profile: str, settings: Settings, folder: pathlib.Path) -> dict[str, str]:
    """What a node with these settings tells models of the profile's tools."""
    toolsets = toolsets_of(settings, REGISTERED, Workspace(folder))
    surface = toolsets.toolset(load(profile), "interactive").toolbox.surface()
    return {described.name: described.description for described in surface}


@pytest.mark.req("T-04")
def test_turnstone_says_in_which_folder_its_tools_work(tmp_path: pathlib.Path) -> None:
    node = Node(workspace=str(tmp_path))
    told = descriptions("turnstone", msgspec.structs.replace(SETTINGS, node=node), tmp_path)

    assert told["bash"].endswith(
        f" It starts in {tmp_path}. Keep what you make in the workspace {tmp_path}."
    )
    assert told["edit_file"].endswith(f" A relative path starts at {tmp_path}.")
    named = {name for name, description in told.items() if str(tmp_path) in description}
    files = {"read_file", "write_file", "edit_file", "diff_file", "search"}
    assert named == {"bash", "watch"} | files


@pytest.mark.req("T-04")
def test_no_workspace_is_named_where_none_is_configured(tmp_path: pathlib.Path) -> None:
    told = descriptions("turnstone", SETTINGS, tmp_path)

    assert told["bash"].endswith(f" It starts in {tmp_path}.")


@pytest.mark.parametrize("name", ["default", "kheish", "cireilclaw"])
def test_the_other_profiles_name_no_folder_of_the_machine(
    name: str, tmp_path: pathlib.Path
) -> None:
    (tmp_path / "config").mkdir()
    everything = "".join(f"{card.name} = true\n" for card in load("cireilclaw").tools)
    (tmp_path / "config" / "tools.toml").write_text(everything)
    folder = tmp_path / "workspace"

    assert str(tmp_path) not in " ".join(descriptions(name, SETTINGS, folder).values())


@pytest.mark.parametrize("tool", REGISTERED, ids=lambda tool: tool.name)
def test_the_default_profile_tells_of_a_registered_tool_what_the_tool_tells(tool: Tool) -> None:
    card = card_named(load("default"), tool.name)

    assert (card.effect, card.plan, card.parallel, card.asks, card.labelled_by) == (
        tool.effect,
        tool.plan,
        tool.parallel,
        tool.asks,
        tool.labelled_by,
    )
    assert set(tool.aliases) <= set(card.aliases)
