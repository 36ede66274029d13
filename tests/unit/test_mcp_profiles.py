"""The catalog of MCP servers, the profiles that choose among them (K-56)."""

from collections.abc import Mapping
from pathlib import Path

import pytest
from typer.testing import CliRunner

from redshank_console.cli.main import app
from redshank_console.cli.mcp_adding import given_record
from redshank_console.cli.mcp_flags import mcp_variables
from redshank_shared.domain.errors import Invalid, Misconfigured
from redshank_shared.settings.load import load
from redshank_shared.settings.mcp_catalog import (
    catalog,
    check_profiles,
    has_its_command,
    named_profiles,
    of_profiles,
)
from redshank_shared.settings.mcp_server import McpServer, check

pytestmark = pytest.mark.req("K-56")


def names_with(environ: Mapping[str, str], path: Path | None = None) -> list[str]:
    """The servers of a start with this environment."""
    return [server.name for server in load(path, {"HOME": "/nonexistent", **environ}).mcp_servers]


def test_every_server_of_the_catalog_is_one_that_settings_would_take() -> None:
    servers = of_profiles(catalog().profiles)
    check(servers)
    assert {server.name for server in servers} == set(catalog().servers)
    assert {"filesystem", "git", "fetch", "time", "memory", "everything"} <= set(catalog().servers)


def test_what_the_catalog_starts_has_its_version() -> None:
    for name, known in catalog().servers.items():
        for argument in known.record.get("args", ()):
            if "mcp-server" in argument or "/server-" in argument:
                assert argument.count("@20") + argument.count("==20") == 1, name


@pytest.mark.parametrize("variable", ["REDSHANK_MCP__PROFILES", "KHEISH_MCP_PROFILES"])
def test_profiles_are_chosen_by_a_variable(variable: str) -> None:
    assert names_with({variable: "web, try"}) == ["fetch", "time", "everything"]


def test_our_own_variable_goes_over_the_other_which_goes_over_the_file(tmp_path: Path) -> None:
    file = tmp_path / "redshank.toml"
    file.write_text("[mcp]\nprofiles = 'try'\n")
    other = {"KHEISH_MCP_PROFILES": "web"}
    assert names_with({}, file) == ["everything"]
    assert names_with(other, file) == ["fetch", "time"]
    assert names_with({**other, "REDSHANK_MCP__PROFILES": "work"}, file)[0] == "github"


def test_the_flags_say_the_same(tmp_path: Path) -> None:
    file = tmp_path / "servers.json"
    file.write_text('{"mcpServers": {"mine": {"command": "mine"}}}')
    assert mcp_variables(None, None) == {}
    given = mcp_variables(file, ["web", "try"])
    assert names_with(given) == ["mine", "fetch", "time", "everything"]


def test_an_unknown_profile_is_named_with_those_that_there_are() -> None:
    with pytest.raises(Misconfigured, match="no MCP profile lokal; there are try, local") as wrong:
        names_with({"REDSHANK_MCP__PROFILES": "lokal"})
    assert wrong.value.field == "mcp.profiles"


def test_a_server_that_stands_in_a_profile_too_is_an_error_with_both_places(
    tmp_path: Path,
) -> None:
    file = tmp_path / "redshank.toml"
    file.write_text("[mcp]\nprofiles = 'web'\n[mcp.servers.time]\ncommand = 'clock'\n")
    with pytest.raises(Misconfigured, match="time stands in .*redshank.toml.*mcp.profiles") as two:
        load(file, {"HOME": "/nonexistent"})
    assert (two.value.code, two.value.field) == ("mcp_name_collision", "mcp.servers.time")


def test_a_server_that_two_profiles_name_is_there_once() -> None:
    servers = of_profiles(named_profiles("web,local,web"))
    assert [server.name for server in servers].count("time") == 1


def test_a_profile_of_which_nothing_can_be_started_is_an_error() -> None:
    def is_startable(server: McpServer) -> bool:
        return has_its_command(server, lambda command: "/bin/uvx" if command == "uvx" else None)

    check_profiles(("web", "local", "work"), is_startable)
    with pytest.raises(Misconfigured, match="profile try: none of everything") as empty:
        check_profiles(("web", "try"), is_startable)
    assert (empty.value.code, empty.value.field) == ("mcp_profile_empty", "mcp.profiles")


@pytest.mark.parametrize("command", ["up", "node"])
def test_a_start_with_an_unknown_profile_starts_nothing(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    for variable in ("XDG_CONFIG_HOME", "XDG_DATA_HOME"):
        monkeypatch.setenv(variable, str(tmp_path))
    done = CliRunner().invoke(app, [command, "--mcp-profile", "web", "--mcp-profile", "lokal"])
    assert isinstance(done.exception, Misconfigured)
    assert "there is no MCP profile lokal" in done.exception.detail
    assert list(tmp_path.iterdir()) == []


@pytest.mark.req("T-73")
def test_what_a_command_line_gives_goes_over_the_catalog() -> None:
    catalogued = {"url": "https://a.example/mcp", "headers": {"X-A": "1"}}
    given = {"headers": ["X-B=2=3"], "env": None, "args": [], "required": False, "url": ""}
    assert given_record(catalogued, given) == {
        "url": "https://a.example/mcp",
        "headers": {"X-A": "1", "X-B": "2=3"},
    }


@pytest.mark.fault("F12")
def test_a_mistyped_pair_is_refused_without_being_repeated() -> None:
    with pytest.raises(Invalid) as wrong:
        given_record({"url": "https://a.example"}, {"headers": ["canary-secret"]})
    assert wrong.value.field == "--header"
    assert "canary" not in wrong.value.detail


def test_neither_address_nor_command_says_both_ways() -> None:
    with pytest.raises(Invalid, match="--address URL, or a command behind --"):
        given_record({}, {"url": "", "command": ""})
