"""tools.toml is read strictly: unknown names are refused, even when they are false."""

import pytest

from redshank_shared.domain.errors import Misconfigured
from redshank_shared.profiles.exec_options import ExecOptions
from redshank_shared.profiles.profile import known_profiles, load
from redshank_shared.profiles.tools_file import ToolsFile, read_tools_file

CIREILCLAW = (load("cireilclaw"),)
ALL = tuple(load(name) for name in known_profiles())


def written(text: str) -> ToolsFile:
    return read_tools_file(text, "config/tools.toml", CIREILCLAW, ["acme", "a_b"])


def refusal(text: str) -> Misconfigured:
    with pytest.raises(Misconfigured) as refused:
        written(text)
    return refused.value


@pytest.mark.req("C-1", "C-3")
def test_a_tool_is_there_if_its_name_is_true_and_off_if_it_is_false_or_not_listed() -> None:
    file = written("edit = true\nread = true\nexec = false\n")

    said = {
        name: file.enables(name, unlisted=False)
        for name in ("edit_file", "read_file", "exec", "write_file")
    }
    assert said == {"edit_file": True, "read_file": True, "exec": False, "write_file": False}


def test_where_the_profile_says_so_what_is_not_listed_is_on() -> None:
    file = read_tools_file("bash = false\n", "tools.toml", ALL, [])

    assert not file.enables("bash", unlisted=True)
    assert file.enables("read_file", unlisted=True)


@pytest.mark.req("C-2")
@pytest.mark.parametrize("value", ["true", "false"])
def test_an_unknown_name_is_refused_with_the_nearest_even_when_it_is_false(value: str) -> None:
    refused = refusal(f"read = true\nlist-dirs = {value}\n")

    assert refused.field == "list-dirs"
    assert refused.detail == (
        "config/tools.toml: list-dirs is no tool here; did you mean list-dir?"
    )


@pytest.mark.req("C-7")
def test_the_tool_that_edit_replaced_is_unknown() -> None:
    assert refusal("str-replace = false\n").field == "str-replace"


@pytest.mark.req("C-1")
def test_a_tool_of_a_configured_server_may_be_named_and_no_other() -> None:
    file = written("mcp__acme__feel = true\nmcp__a_b__c__d = true\n")

    assert file.enables("mcp__acme__feel", unlisted=False)
    assert file.enables("mcp__a_b__c__d", unlisted=False)
    refused = refusal("mcp__acne__feel = false\n")
    assert "the servers are a_b, acme" in refused.detail
    for name in ("mcp__acme__", "mcp__acme", '"mcp__acme__fe el"', f"mcp__acme__{'x' * 60}"):
        assert refusal(f"{name} = true\n").field == name.strip('"')


@pytest.mark.req("C-4")
def test_exec_is_a_boolean_or_a_table() -> None:
    for text, on in (
        ("exec = true\n", True),
        ("exec = false\n", False),
        ("[exec]\nenabled = true\n", True),
        ("[exec]\n", False),
        ("[exec]\nenabled = false\ntimeout = 5000\n", False),
    ):
        assert written(text).enables("exec", unlisted=False) is on, text


@pytest.mark.req("C-5")
def test_the_exec_table_has_the_defaults_of_its_document() -> None:
    assert written("exec = true\n").exec_options == ExecOptions(
        enabled=False,
        timeout=60000,
        inline=True,
        inline_threshold_bytes=16384,
        output_dir="/workspace/.exec-output",
        preview_head=20,
        preview_tail=20,
        max_preview_line_length=1000,
        host_env_passthrough=(),
    )


@pytest.mark.req("C-5")
def test_the_exec_table_sets_each_option() -> None:
    options = written(
        "[exec]\nenabled = true\ntimeout = 1000\ninline = false\ninlineThresholdBytes = 0\n"
        'outputDir = "/workspace/out"\npreviewHead = 1\npreviewTail = 2\n'
        'maxPreviewLineLength = 80\nhostEnvPassthrough = ["TZ"]\n'
    ).exec_options

    assert options == ExecOptions(True, 1000, False, 0, "/workspace/out", 1, 2, 80, ("TZ",))


@pytest.mark.req("C-5")
@pytest.mark.parametrize(
    ("line", "field"),
    [
        ("timeout = 999", "exec.timeout"),
        ("timeout = 1000.5", "exec.timeout"),
        ("previewHead = -1", "exec.previewHead"),
        ('inline = "yes"', "exec.inline"),
        ("hostEnvPassthrough = [1]", "exec.hostEnvPassthrough"),
        ("preview_head = 1", "exec.preview_head"),
        ('binaries = ["ls"]', "exec.binaries"),
    ],
)
def test_a_wrong_exec_option_is_refused_by_its_key(line: str, field: str) -> None:
    assert refusal(f"[exec]\nenabled = true\n{line}\n").field == field


@pytest.mark.parametrize(
    ("text", "field"),
    [
        ("read = 1\n", "read"),
        ('read = "on"\n', "read"),
        ("[read]\nenabled = true\n", "read"),
        ("read = true\nread_file = true\n", "read_file"),
    ],
)
def test_only_booleans_turn_a_tool_on_and_each_once(text: str, field: str) -> None:
    assert refusal(text).field == field


def test_what_is_no_toml_is_refused_with_the_place() -> None:
    assert "config/tools.toml is not TOML" in refusal("read: true\n").detail
