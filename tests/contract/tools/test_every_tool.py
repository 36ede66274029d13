"""Every tool of the catalog is whole: nothing is missing that surface, decision or run need."""

import inspect
import pathlib
import re
from collections.abc import Iterator, Mapping
from typing import Any, get_args

import msgspec
import pytest

from redshank_node.engine.toolsets import capabilities
from redshank_node.tools.builtin import bash
from redshank_node.tools.catalog import BUILTIN
from redshank_node.tools.support.exposure import exposed
from redshank_node.tools.support.shown_names import paths_of
from redshank_node.tools.support.tool_sets import (
    builtin_names,
    primary_keys,
    task_agent_tools,
    task_auto_approved,
)
from redshank_node.tools.tool import (
    Availability,
    BadArguments,
    SandboxLevel,
    SessionKind,
    Tool,
    Workspace,
)
from redshank_node.tools.toolbox import Toolbox
from redshank_shared.domain.messages import ToolDescription
from redshank_shared.domain.terms import Effect
from redshank_shared.profiles.catalogue import catalogue
from redshank_shared.profiles.profile import known_profiles, load
from redshank_shared.settings.sections import Capabilities, Model

NAME = re.compile(r"[a-z][a-z0-9_]{0,63}")
SCHEMA_KEYS = {"type", "properties", "required", "additionalProperties", "description", "oneOf"}
KINDS = {"object", "array", "string", "integer", "number", "boolean"}
# The column `sub` of the catalogue where it says n: top level only.
TOP_LEVEL_ONLY = {
    "open_preview", "tool_search", "ask_user_question", "ask_operator", "respond", "no_response",
    "generate_image", "edit_image", "generate_audio", "invoke", "watch", "get_goal", "create_goal",
    "update_goal", "enter_plan_mode", "exit_plan_mode", "memory", "recall", "list_sessions",
    "query_sessions", "read_session", "session_info", "create_channel_stimulus", "prune_boundaries",
}  # fmt: skip
NOWHERE = Workspace(pathlib.Path("/nowhere/at/all"))


def missing_pieces(tool: Tool) -> list[str]:
    """What a reader, a rule, the engine would miss of the tool."""
    properties = tool.parameters.get("properties", {})
    checks = {
        "name": NAME.fullmatch(tool.name) is not None,
        "description": len(tool.description) > 20 and tool.description.strip() == tool.description,
        "parameters": not list(faults_of(tool.parameters, "parameters")),
        "effect": tool.effect in get_args(Effect),
        "timeout_seconds": 0 < tool.timeout_seconds < float("inf"),
        "sandbox": tool.sandbox in get_args(SandboxLevel),
        "primary_key": tool.primary_key in properties,
        "availability": tool.availability in get_args(Availability),
        "kind_variants": set(tool.kind_variants) <= set(get_args(SessionKind)),
        "cwd_note": not tool.cwd_note or "{working_dir}" in tool.cwd_note,
        "workspace_note": not tool.workspace_note or "{workspace_dir}" in tool.workspace_note,
        "options": all("type" in option for option in tool.options.values()),
        "prepare": callable(tool.prepare),
        "run": inspect.iscoroutinefunction(tool.run),
    }
    return [piece for piece, is_there in checks.items() if not is_there]


def faults_of(described: Mapping[str, Any], where: str) -> Iterator[str]:
    """What is wrong with a schema: a value of no known type or without description, an object that
    takes more than it names.
    """
    if described.get("type") == "array":
        items = described.get("items")
        if not isinstance(items, Mapping):
            yield f"{where}: no items"
        elif items.get("type") == "object":
            yield from faults_of(items, f"{where}[]")
    if described.get("type") != "object":
        return
    properties = described.get("properties")
    if not isinstance(properties, Mapping) or described.get("additionalProperties") is not False:
        yield f"{where}: an open object"
        return
    if not set(described.get("required", ())) <= set(properties):
        yield f"{where}: requires what it has not"
    for name, inner in properties.items():
        if inner.get("type", "string") not in KINDS:
            yield f"{where}.{name}: an unknown type"
        if not inner.get("description"):
            yield f"{where}.{name}: no description"
        yield from faults_of(inner, f"{where}.{name}")


every_tool = pytest.mark.parametrize("tool", BUILTIN, ids=lambda tool: tool.name)


@pytest.mark.req("T-01")
@every_tool
def test_a_tool_has_every_piece(tool: Tool) -> None:
    assert list(faults_of(tool.parameters, tool.name)) == []
    assert missing_pieces(tool) == []


@pytest.mark.req("T-01")
@pytest.mark.parametrize(
    "piece",
    [
        {"name": ""},
        {"description": ""},
        {"parameters": {"type": "object", "properties": {"command": {"type": "string"}}}},
        {"effect": "harmless"},
        {"timeout_seconds": 0.0},
        {"sandbox": "none"},
        {"primary_key": "cmd"},
        {"availability": "sometimes"},
        {"kind_variants": {"child": None}},
        {"cwd_note": "It runs somewhere."},
        {"workspace_note": "It writes somewhere."},
        {"options": {"guard": {}}},
        {"run": bash.prepare},
    ],
    ids=lambda piece: next(iter(piece)),
)
def test_a_tool_without_a_piece_is_found(piece: dict[str, Any]) -> None:
    assert missing_pieces(bash.TOOL) == []
    assert missing_pieces(msgspec.structs.replace(bash.TOOL, **piece)) == list(piece)


@pytest.mark.req("T-01")
@every_tool
def test_nothing_but_name_description_and_schema_reaches_a_model(tool: Tool) -> None:
    (shown,) = Toolbox((tool,)).surface()

    assert shown == ToolDescription(tool.name, tool.description, tool.parameters)
    assert set(shown.parameters) <= SCHEMA_KEYS


@pytest.mark.parametrize("name", known_profiles())
def test_a_tool_is_whole_as_each_profile_shows_it(name: str) -> None:
    profile = load(name)
    cards = {card.canonical: card for card in profile.tools}
    wrong = {}
    for tool in BUILTIN:
        card = cards.get(tool.name)
        if card is None:
            continue
        exposure = profile.exposures[card.name]
        shown = exposed(tool, card.name, exposure, parallel=card.parallel)
        hidden = {path.rpartition(".")[2] for path in (*exposure.without, *exposure.preset)}
        words = set(re.findall(r"\w+_\w+", f"{shown.description} {texts_of(shown.parameters)}"))
        unknown = (hidden | {own.rpartition(".")[2] for own in exposure.rename}) & words
        faults = [*faults_of(shown.parameters, card.name), *missing_pieces(shown)]
        if faults or unknown - {part.rpartition(".")[2] for part in paths_of(shown.parameters)}:
            wrong[card.name] = (faults, unknown)
    assert wrong == {}


def texts_of(described: Mapping[str, Any]) -> str:
    """All that a schema says in words."""
    inner = [*described.get("properties", {}).values()]
    if isinstance(described.get("items"), Mapping):
        inner.append(described["items"])
    return " ".join([described.get("description", ""), *map(texts_of, inner)])


@every_tool
def test_a_tool_is_in_the_catalogue_with_the_same_effect_and_flags(tool: Tool) -> None:
    known = catalogue()[tool.name]

    assert (known.effect, known.plan, known.parallel) == (tool.effect, tool.plan, tool.parallel)


@pytest.mark.req("T-01")
@every_tool
def test_only_those_tools_are_kept_from_sub_agents_that_the_catalogue_keeps(tool: Tool) -> None:
    kept = tool.top_level or not tool.task_agent

    assert kept == (tool.name in TOP_LEVEL_ONLY)


@every_tool
def test_an_argument_too_many_is_refused_by_its_name(tool: Tool) -> None:
    with pytest.raises(BadArguments, match="frobnicate"):
        tool.prepare({"frobnicate": 1}, NOWHERE)


@every_tool
def test_each_argument_that_is_needed_is_asked_for_by_its_name(tool: Tool) -> None:
    for name in tool.parameters.get("required", ()):
        with pytest.raises(BadArguments) as refused:
            tool.prepare({}, NOWHERE)
        assert re.search(r"\w+ is required", str(refused.value)), name


@every_tool
def test_an_argument_of_another_type_is_refused_by_its_name(tool: Tool) -> None:
    for name, described in tool.parameters["properties"].items():
        if "type" not in described:
            continue
        wrong = 7 if described["type"] in ("string", "array", "object", "boolean") else "seven"
        with pytest.raises(BadArguments) as refused:
            tool.prepare({name: wrong}, NOWHERE)
        assert name in str(refused.value) or "is required" in str(refused.value)


@pytest.mark.req("K-8")
def test_a_media_tool_is_there_where_a_model_advertises_what_it_needs() -> None:
    plain = Model("openai", name="a")
    painter = Model("openai", name="b", capabilities=Capabilities(image_generation=True))
    singer = Model("openai", name="c", capabilities=Capabilities(audio_generation=True))

    assert capabilities([plain]) == {"always"}
    assert capabilities([plain, painter]) == {"always", "image_generation"}
    assert capabilities([painter, singer]) == {"always", "image_generation", "audio_generation"}


@pytest.mark.req("T-05")
def test_the_derived_sets_follow_from_the_declarations() -> None:
    own = {tool.name for tool in BUILTIN}
    agents = {tool.name for tool in task_agent_tools(BUILTIN)}

    assert builtin_names(BUILTIN) == own
    assert agents == own - TOP_LEVEL_ONLY
    assert primary_keys(BUILTIN) == {tool.name: tool.primary_key for tool in BUILTIN}
    assert task_auto_approved(BUILTIN, load("turnstone")) == agents & {
        "read_file", "grep_search", "diff_file", "notify",
    }  # fmt: skip


@pytest.mark.req("T-28")
def test_turnstone_approves_by_itself_what_its_document_says() -> None:
    by_default = {
        card.name: "label" if card.asks else card.default or "allow"
        for card in load("turnstone").tools
    }

    assert {name for name, said in by_default.items() if said == "allow"} == {
        "read_file", "search", "diff_file", "memory", "recall", "notify", "tool_search",
    }  # fmt: skip
    assert {name for name, said in by_default.items() if said == "label"} == {
        "watch", "skill", "open_preview",
    }  # fmt: skip
    assert {name for name, said in by_default.items() if said == "ask"} == {
        "bash", "write_file", "edit_file", "web_fetch", "web_search", "task_agent",
        "read_resource", "use_prompt",
    }  # fmt: skip
