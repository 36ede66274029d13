"""Which console a command speaks to, with which token."""

import stat
from pathlib import Path

import pytest

from redshank_console.cli.connection import Target, find_target
from redshank_console.cli.contexts import NamedConsole, contexts_path, read_contexts, remember
from redshank_shared.domain.errors import Misconfigured, NotFound


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    return {"XDG_CONFIG_HOME": str(tmp_path / "config")}


@pytest.fixture
def token_file(tmp_path: Path, environ: dict[str, str]) -> Path:
    """A context `local` with its token in this file."""
    file = tmp_path / "admin.token"
    file.write_text("rs_local\n")
    remember(contexts_path(environ), "local", NamedConsole("http://local:1", token_file=str(file)))
    return file


def test_without_anything_it_is_this_machine_without_a_token(environ: dict[str, str]) -> None:
    assert find_target("", "", "", environ) == Target("http://127.0.0.1:8090", "")


def test_the_first_context_becomes_the_current_one(
    environ: dict[str, str], token_file: Path
) -> None:
    assert find_target("", "", "", environ) == Target("http://local:1", "rs_local")


def test_a_second_context_leaves_the_current_one(environ: dict[str, str], token_file: Path) -> None:
    remember(contexts_path(environ), "far", NamedConsole("https://far", token="rs_far"))
    assert find_target("", "", "", environ).url == "http://local:1"
    assert find_target("", "", "far", environ) == Target("https://far", "rs_far")
    assert find_target("", "", "", {**environ, "REDSHANK_CONTEXT": "far"}).url == "https://far"


def test_options_go_over_variables_and_variables_over_contexts(
    environ: dict[str, str], token_file: Path
) -> None:
    named = {**environ, "REDSHANK_URL": "http://var", "REDSHANK_TOKEN": "rs_var"}
    assert find_target("", "", "", named) == Target("http://var", "rs_var")
    assert find_target("http://opt", "rs_opt", "", named) == Target("http://opt", "rs_opt")


def test_a_contexts_token_is_not_sent_to_another_address(
    environ: dict[str, str], token_file: Path
) -> None:
    assert find_target("http://elsewhere", "", "", environ) == Target("http://elsewhere", "")
    assert find_target("http://local:1/", "", "", environ).token == "rs_local"


def test_an_unknown_context_is_refused_with_those_there_are(
    environ: dict[str, str], token_file: Path
) -> None:
    with pytest.raises(NotFound, match="no context lokal; there are: local"):
        find_target("", "", "lokal", environ)


def test_a_token_file_that_is_gone_is_named(environ: dict[str, str], token_file: Path) -> None:
    token_file.unlink()
    with pytest.raises(Misconfigured, match="admin.token"):
        find_target("", "", "", environ)


def test_the_file_is_readable_by_its_owner_alone(environ: dict[str, str], token_file: Path) -> None:
    assert stat.S_IMODE(contexts_path(environ).stat().st_mode) == 0o600


def test_names_and_addresses_come_back_as_they_were(environ: dict[str, str]) -> None:
    named = NamedConsole('http://h/"\\', token="a'b\"c")
    remember(contexts_path(environ), 'odd "name"\n.x', named)
    assert read_contexts(contexts_path(environ)).contexts == {'odd "name"\n.x': named}


def test_a_file_that_is_not_ours_is_refused_with_its_path(environ: dict[str, str]) -> None:
    path = contexts_path(environ)
    path.parent.mkdir(parents=True)
    path.write_text("contexts = 3")
    with pytest.raises(Misconfigured, match="contexts.toml"):
        read_contexts(path)
