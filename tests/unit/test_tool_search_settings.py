"""Where it is said when tools wait: settings, environment, flags."""

import pathlib

import pytest
from typer.testing import CliRunner

from redshank_console.cli.main import app
from redshank_console.cli.tool_search_flags import search_variables
from redshank_node.engine.profiles_in_force import search_of
from redshank_node.providers.configured import make_all
from redshank_shared.domain.errors import Misconfigured
from redshank_shared.domain.tool_deferral import SearchChoice, ToolSearch
from redshank_shared.profiles.profile import read, shipped_profile
from redshank_shared.settings.load import load

FILE = '[tools]\nsearch = "off"\nsearch_threshold = 7\nsearch_max_results = 3\n'


@pytest.fixture
def file(tmp_path: pathlib.Path) -> pathlib.Path:
    path = tmp_path / "redshank.toml"
    path.write_text(FILE)
    return path


@pytest.mark.req("T-60")
def test_usually_tools_wait_above_twenty_and_a_search_brings_five(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "redshank.toml"
    path.write_text("")
    assert search_of(load(path, {})) == ToolSearch("auto", 20, 5)


@pytest.mark.req("T-60")
def test_flags_stand_over_the_environment_over_the_file(file: pathlib.Path) -> None:
    assert search_of(load(file, {})) == ToolSearch("off", 7, 3)
    environ = {"REDSHANK_TOOLS__SEARCH": "auto", "REDSHANK_TOOLS__SEARCH_THRESHOLD": "9"}
    assert search_of(load(file, environ)) == ToolSearch("auto", 9, 3)
    flags = search_variables("on", None, 8)
    assert search_of(load(file, {**environ, **flags})) == ToolSearch("on", 9, 8)
    assert search_variables("", None, None) == {}


@pytest.mark.req("T-60")
@pytest.mark.parametrize(
    ("flag", "value", "variable"),
    [
        ("--tool-search", "sometimes", "REDSHANK_TOOLS__SEARCH"),
        ("--tool-search-threshold", "-1", "REDSHANK_TOOLS__SEARCH_THRESHOLD"),
        ("--tool-search-max-results", "0", "REDSHANK_TOOLS__SEARCH_MAX_RESULTS"),
    ],
)
@pytest.mark.parametrize("command", ["node", "up"])
def test_a_flag_is_read_before_anything_starts(
    command: str, flag: str, value: str, variable: str, file: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    data = ["--data", str(tmp_path / "data")] if command == "up" else []
    done = CliRunner().invoke(app, [command, "--config", str(file), flag, value, *data])
    assert isinstance(done.exception, Misconfigured)
    assert variable in done.exception.detail
    assert not (tmp_path / "data").exists()


@pytest.mark.req("T-60")
def test_a_profile_may_say_some_of_it() -> None:
    text = 'title = "Own"\n[tools]\ntool_search = {}\n[tool_search]\n'
    assert read("own", text).tool_search == SearchChoice()
    assert read("own", text + 'search = "on"').tool_search == SearchChoice("on")
    for wrong in ('search = "never"', "search_max_results = 0", "treshold = 3"):
        with pytest.raises(Misconfigured):
            read("own", text + wrong)


@pytest.mark.req("T-60")
def test_turnstones_profile_has_the_search_at_its_documents_threshold() -> None:
    profile = shipped_profile("turnstone")
    assert "tool_search" in {card.name for card in profile.tools}
    assert profile.tool_search == SearchChoice()


@pytest.mark.req("T-61")
async def test_a_model_says_that_its_provider_searches(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "redshank.toml"
    path.write_text(
        '[models.a]\nprovider = "anthropic"\nmodel = "m"\ncapabilities = { tool_search = true }\n'
        '[models.b]\nprovider = "anthropic"\nmodel = "m"\n'
    )

    async def secret_of(_: str) -> str:
        return ""

    made = make_all(load(path, {}), secret_of)
    assert {name: model.settings.tool_search for name, model in made.items()} == {
        "a": True,
        "b": False,
    }
    for provider in made.values():
        await provider.close()
