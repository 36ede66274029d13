"""Profiles are read strictly: what is unknown is refused with the mend."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from redshank_shared.domain.errors import Invalid, Misconfigured
from redshank_shared.profiles.labels import label_of
from redshank_shared.profiles.own import check_default, own_profile
from redshank_shared.profiles.profile import (
    Exposure,
    card_of,
    install,
    known_profiles,
    load,
    read,
    with_defaults,
)

MINE = 'title = "Mine"\n[tools]\nshell = { canonical = "bash", default = "ask" }\n'


@pytest.fixture(autouse=True)
def no_profile_outlives_its_test() -> Iterator[None]:
    yield
    install(())


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
        ("bash", {"command": "ls", "network": True}, "network"),
        ("bash", {"command": "ls", "network": False}, ""),
        ("bash", {"command": "ls", "network": "rm"}, ""),
        ("web_fetch", {"url": " http://10.0.0.7:8080/a"}, "private:10.0.0.7"),
        ("web_fetch", {"url": "http://[::1]/"}, "private:::1"),
        ("web_fetch", {"url": "https://LOCALHOST/a"}, "private:localhost"),
        ("web_fetch", {"url": "https://example.org/10.0.0.7"}, ""),
        ("web_fetch", {"url": "https://93.184.216.34/"}, ""),
        ("web_fetch", {"url": "http://[10.0.0.7/"}, ""),
        ("web_fetch", {"url": 7}, ""),
    ],
)
def test_a_call_has_the_label_that_rules_may_name(
    tool: str, arguments: dict[str, object], label: str
) -> None:
    card = card_of(load("default"), tool)

    assert card is not None
    assert label_of(card, arguments) == label


def test_a_profile_says_how_its_tools_are_shown_and_its_calls_handled() -> None:
    mine = read(
        "mine",
        'title = ""\n[batch]\nmax_parallel = 2\ndisable_after_failures = 5\n'
        '[arguments]\nrescue = true\n[tools_file]\nunlisted = "off"\n'
        '[tools]\nfind = { canonical = "grep_search", rename = { pattern = "query" }, '
        'preset = { context = 2 }, without = ["glob"] }\n',
    )

    assert (mine.max_parallel, mine.disable_after_failures) == (2, 5)
    assert (mine.rescue, mine.unlisted) == (True, False)
    shown = Exposure(rename={"pattern": "query"}, preset={"context": 2}, without=("glob",))
    assert mine.exposures["find"] == shown


@pytest.mark.req("T-16")
def test_the_shipped_profiles_run_as_many_calls_at_once_as_their_documents_say() -> None:
    most = {name: load(name).max_parallel for name in known_profiles()}

    assert most == {"default": 0, "turnstone": 4, "kheish": 16, "cireilclaw": 1}


@pytest.mark.req("T-10", "C-3", "C-9")
def test_only_the_profiles_that_ask_for_it_rescue_strings_or_leave_out_what_is_not_listed() -> None:
    shipped = [load(name) for name in known_profiles()]

    assert [profile.name for profile in shipped if profile.rescue] == ["turnstone"]
    assert [profile.name for profile in shipped if not profile.unlisted] == ["cireilclaw"]
    assert {profile.name: profile.disable_after_failures for profile in shipped} == {
        "default": 0,
        "turnstone": 0,
        "kheish": 0,
        "cireilclaw": 3,
    }


@pytest.mark.parametrize(
    ("tools", "field"),
    [
        ('"read file" = { canonical = "read_file" }', "tools.read file"),
        (f'{"a" * 65} = {{ canonical = "read_file" }}', f"tools.{'a' * 65}"),
        ('bash = { canonical = "read_file" }', "tools.bash"),
        ('search = { canonical = "read_file" }', "tools.search"),
        ('a = { canonical = "bash" }\nb = { canonical = "bash" }', "tools.b"),
    ],
)
def test_a_name_that_cannot_be_shown_or_means_something_else_is_refused(
    tools: str, field: str
) -> None:
    assert refusal(f'title = "Mine"\n[tools]\n{tools}\n').field == field


def test_an_installed_profile_is_known_beside_those_that_ship(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(MINE)

    install([own_profile("mine", str(file), {})])

    assert known_profiles() == ("default", "turnstone", "kheish", "cireilclaw", "mine")
    assert [card.name for card in load("mine").tools] == ["shell"]
    with pytest.raises(Invalid, match="did you mean mine?"):
        load("mien")
    install(())
    assert "mine" not in known_profiles()


@pytest.mark.req("T-28")
def test_a_setting_changes_a_default_of_a_profile_that_ships() -> None:
    install([own_profile("turnstone", "", {"web_search": "allow"})])

    card = card_of(load("turnstone"), "web_search")
    assert card is not None
    assert card.default == "allow"
    said = [rule.decision for rule in load("turnstone").rules if rule.pattern == "web_search"]
    assert said == ["allow"]
    assert ("bash", "ask") in [(rule.pattern, rule.decision) for rule in load("turnstone").rules]


def test_a_default_of_a_tool_that_the_profile_has_not_is_refused_with_the_nearest() -> None:
    with pytest.raises(Misconfigured) as refused:
        with_defaults(load("kheish"), {"bahs": "allow"})

    assert refused.value.field == "profiles.kheish.defaults.bahs"
    assert "did you mean bash?" in refused.value.detail


@pytest.mark.parametrize(
    ("name", "file", "said"),
    [
        ("kheish", "mine.toml", "ships with Redshank"),
        ("mine", "", "name its file"),
        ("mine", "nowhere.toml", "cannot be read"),
    ],
)
def test_a_profile_without_its_own_file_is_refused(name: str, file: str, said: str) -> None:
    with pytest.raises(Misconfigured) as refused:
        own_profile(name, file, {})

    assert refused.value.field == f"profiles.{name}.file"
    assert said in refused.value.detail


def test_the_default_profile_must_be_one_that_there_is() -> None:
    check_default("kheish")
    with pytest.raises(Misconfigured) as refused:
        check_default("keish")

    assert refused.value.field == "default.profile"


@pytest.mark.req("C-9")
@pytest.mark.parametrize("ends", ["respnd", "bash", "no-response"])
def test_a_turn_cannot_be_made_to_end_with_a_tool_that_the_profile_has_not(ends: str) -> None:
    wrong = refusal(
        f'title = ""\n[batch]\nends_with = ["respond", "{ends}"]\n[tools]\nrespond = {{}}\n'
        'no-response = { canonical = "no_response" }\n'
    )

    assert wrong.field == "batch.ends_with"
    assert ends in wrong.detail
    assert "no_response, respond" in wrong.detail
