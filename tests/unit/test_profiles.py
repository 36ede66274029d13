"""Profiles are read strictly: what is unknown is refused with the mend."""

import pytest

from redshank_shared.domain.errors import Invalid, Misconfigured
from redshank_shared.profiles.labels import label_of
from redshank_shared.profiles.profile import card_of, known_profiles, load, read


def refusal(text: str) -> Misconfigured:
    with pytest.raises(Misconfigured) as refused:
        read("mine", text)
    return refused.value


def test_every_shipped_profile_loads_under_its_name() -> None:
    assert known_profiles() == ("default", "turnstone", "kheish", "cireilclaw")
    assert [load(name).name for name in known_profiles()] == list(known_profiles())
    assert all(load(name).title for name in known_profiles())


def test_an_unknown_profile_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(Invalid) as refused:
        load("keish")

    assert refused.value.field == "profile"
    assert "did you mean kheish?" in refused.value.detail


@pytest.mark.parametrize("name", ["", "../default", "catalogue", "default.toml", "Kheish"])
def test_a_name_that_is_no_profile_reads_no_file(name: str) -> None:
    with pytest.raises(Invalid):
        load(name)


def test_an_operators_profile_renames_a_tool_and_keeps_what_is_true_of_it() -> None:
    mine = read(
        "mine",
        'title = ""\n[tools]\nread_file = {}\nshell = { canonical = "bash", default = "deny" }\n',
    )

    shell = card_of(mine, "bash")
    assert shell is not None
    assert (shell.name, shell.canonical, shell.effect, shell.plan) == (
        "shell",
        "bash",
        "process",
        False,
    )
    assert [(rule.pattern, rule.decision) for rule in mine.rules] == [
        ("shell", "deny"),
        ("mcp__*", "ask"),
        ("*", "allow"),
    ]


@pytest.mark.fault("F7")
@pytest.mark.parametrize(
    "key", ['effect = "read"', "plan = true", 'aliases = ["ls"]', "ask = true"]
)
def test_a_profile_that_says_what_is_not_its_to_say_is_refused_by_that_key(key: str) -> None:
    refused = refusal(f'title = "Mine"\n[tools]\nbash = {{ {key} }}\n')

    assert f"`{key.split(' ')[0]}`" in refused.detail
    assert "profile mine" in refused.detail


def test_a_tool_that_the_catalogue_has_not_is_refused_with_the_nearest() -> None:
    refused = refusal('title = "Mine"\n[tools]\nshell = { canonical = "bsh" }\n')

    assert refused.field == "tools.shell"
    assert "did you mean bash?" in refused.detail


@pytest.mark.parametrize(
    "text",
    [
        "not toml at all",
        "[tools]\nbash = {}\n",
        'title = "Mine"\n',
        'title = "Mine"\n[tools]\nbash = { default = "maybe" }\n',
        'title = "Mine"\n[tools]\nbash = {}\nbash = {}\n',
        'title = "Mine"\nrules = [{ pattern = "a*b", decision = "ask" }]\n[tools]\nbash = {}\n',
        'title = "Mine"\n[tools]\nbash = {}\n[mcp]\ndefault = ""\n',
        'title = "Mine"\n[tools]\nbash = {}\n[tool]\n',
    ],
)
def test_a_profile_that_cannot_be_read_names_itself(text: str) -> None:
    assert "profile mine" in refusal(text).detail


def test_a_tool_is_found_by_its_name_before_another_tools_alias() -> None:
    default = load("default")

    found = {name: card_of(default, name) for name in ("search", "use_skill", "skill", "frob")}

    assert {name: card.name if card else "" for name, card in found.items()} == {
        "search": "grep_search",
        "use_skill": "use_skill",
        "skill": "list_skills",
        "frob": "",
    }


@pytest.mark.req("O14")
@pytest.mark.parametrize(
    ("tool", "arguments", "label"),
    [
        ("watch", {"action": "create"}, "create"),
        ("use_prompt", {"name": "mcp__a__greet"}, "mcp__a__greet"),
        ("use_skill", {"action": "load"}, "load"),
        ("read_mcp_resource", {"uri": "file:///a"}, "file:///a"),
        ("open_preview", {"target": "HTTPS://example.org"}, "url"),
        ("open_preview", {"target": "notes.md"}, ""),
        ("open_preview", {"target": "attachment:7"}, ""),
        ("open_preview", {"target": 7}, ""),
        ("watch", {"action": ["create"]}, ""),
        ("watch", {}, ""),
        ("bash", {"command": "ls", "action": "create", "": "x"}, ""),
    ],
)
def test_a_call_has_the_label_that_rules_may_name(
    tool: str, arguments: dict[str, object], label: str
) -> None:
    card = card_of(load("default"), tool)

    assert card is not None
    assert label_of(card, arguments) == label
