"""What the operator may set, and what is said when it is wrong."""

from pathlib import Path

import pytest

from redshank_node.providers.configured import sees_images
from redshank_shared.domain.errors import Misconfigured
from redshank_shared.settings.environment import config_path
from redshank_shared.settings.load import load, secrets_of
from redshank_shared.settings.models import check_keys
from redshank_shared.settings.secret import Secret, without_password
from redshank_shared.settings.sections import ProfileSource

HOME = {"HOME": "/nowhere"}


def written(folder: Path, text: str) -> Path:
    file = folder / "redshank.toml"
    file.write_text(text)
    return file


def refusal(folder: Path, text: str, **environ: str) -> Misconfigured:
    with pytest.raises(Misconfigured) as caught:
        check_keys(load(written(folder, text), {**HOME, **environ}))
    return caught.value


def test_with_nothing_set_everything_has_its_documented_default() -> None:
    settings = load(None, HOME)
    assert (settings.console.host, settings.console.port) == ("127.0.0.1", 8090)
    assert (settings.node.host, settings.node.port, settings.node.slots) == ("127.0.0.1", 8081, 64)
    assert settings.database.url == "sqlite:////nowhere/.local/share/redshank/redshank.db"
    assert settings.database.synchronous == "FULL"
    assert settings.given == frozenset()


@pytest.mark.req("K-81")
def test_the_limits_are_those_of_the_requirement() -> None:
    limits = load(None, HOME).limits
    assert limits.max_input_bytes == 16 * 1024 * 1024
    assert limits.max_output_bytes == 16 * 1024 * 1024
    assert limits.max_timeout_ms == 180000
    assert limits.max_parallel_tools == 16
    assert limits.max_calls_per_turn == 256


@pytest.mark.req("K-81")
@pytest.mark.parametrize("value", [0, -1])
def test_a_limit_that_is_not_above_zero_is_refused(tmp_path: Path, value: int) -> None:
    error = refusal(tmp_path, f"[limits]\nmax_parallel_tools = {value}")
    assert error.field == "limits.max_parallel_tools"


def test_the_file_goes_over_defaults_and_the_environment_over_the_file(tmp_path: Path) -> None:
    file = written(tmp_path, "[console]\nport = 9000\nhost = '::1'\n[node]\nslots = 3")
    settings = load(file, {**HOME, "REDSHANK_CONSOLE__PORT": "9001"})
    assert (settings.console.port, settings.console.host, settings.node.slots) == (9001, "::1", 3)
    assert settings.given == {"console.port", "console.host", "node.slots"}


@pytest.mark.fault("F-42")
def test_the_environment_names_the_file_for_every_process(tmp_path: Path) -> None:
    file = written(tmp_path, "[console]\nport = 9000")
    assert load(None, {**HOME, "REDSHANK_CONFIG": str(file)}).console.port == 9000


def test_a_file_in_the_current_folder_is_not_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written(tmp_path, "[console]\nport = 9000")
    monkeypatch.chdir(tmp_path)
    assert load(None, HOME).console.port == 8090


def test_a_file_in_the_config_folder_is_taken(tmp_path: Path) -> None:
    folder = tmp_path / "redshank"
    folder.mkdir()
    file = written(folder, "[console]\nport = 9000")
    assert config_path(None, {"XDG_CONFIG_HOME": str(tmp_path)}) == file


def test_an_unknown_key_is_named_with_the_nearest_known_one(tmp_path: Path) -> None:
    error = refusal(tmp_path, "[console]\nprot = 9000")
    assert error.field == "console.prot"
    assert str(tmp_path / "redshank.toml") in error.detail
    assert "[console]" in error.detail
    assert "did you mean port?" in error.detail


def test_an_unknown_table_is_named_with_the_nearest_known_one(tmp_path: Path) -> None:
    error = refusal(tmp_path, "[consol]\nport = 9000")
    assert "did you mean console?" in error.detail


def test_an_unknown_variable_is_named_with_the_nearest_table() -> None:
    with pytest.raises(Misconfigured, match="REDSHANK_CONSOL__PORT.*did you mean REDSHANK_CONS"):
        load(None, {**HOME, "REDSHANK_CONSOL__PORT": "1"})


def test_an_unknown_key_of_a_variable_is_named() -> None:
    with pytest.raises(Misconfigured, match="REDSHANK_CONSOLE__PROT has no key prot; did you mean"):
        load(None, {**HOME, "REDSHANK_CONSOLE__PROT": "1"})


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[console]\nport = '9000'", "is '9000'; it takes a whole number from 1 to 65535"),
        ("[console]\nport = 70000", "is 70000; it takes a whole number from 1 to 65535"),
        ("[console]\nauth = 'none'", 'it takes "token" or "off"'),
        ("[node]\nslots = true", "is True; it takes a whole number above 0"),
        ("[node]\ngrace_seconds = 0", "it takes a number of seconds above 0"),
        ("[models.a]\nprovider = 'demo'\ncapabilities = 3", "is 3; it takes a table"),
        ("[console]\nport = {a = 1}", "it takes a whole number from 1 to 65535"),
    ],
)
def test_a_wrong_value_is_named_with_what_the_key_takes(
    tmp_path: Path, text: str, says: str
) -> None:
    assert says in refusal(tmp_path, text).detail


def test_a_wrong_variable_is_named_with_what_it_takes() -> None:
    with pytest.raises(Misconfigured, match="REDSHANK_NODE__SLOTS is 'many'; it takes a whole"):
        load(None, {**HOME, "REDSHANK_NODE__SLOTS": "many"})


def test_text_that_is_not_toml_is_refused_with_its_line(tmp_path: Path) -> None:
    assert "line 2" in refusal(tmp_path, "[console]\nport 9000").detail


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Misconfigured, match="cannot be read"):
        load(tmp_path / "none.toml", HOME)


def test_no_authentication_is_refused_off_the_loopback(tmp_path: Path) -> None:
    error = refusal(tmp_path, "[console]\nauth = 'off'\nhost = '0.0.0.0'")
    assert error.field == "console.auth"


def test_no_authentication_is_allowed_on_the_loopback(tmp_path: Path) -> None:
    assert load(written(tmp_path, "[console]\nauth = 'off'"), HOME).console.auth == "off"


def test_models_of_the_file_come_in_its_order_the_first_is_the_default(tmp_path: Path) -> None:
    text = (
        "[models.main]\nprovider = 'openai'\nbase_url = 'http://127.0.0.1:8000/v1'\n"
        "model = 'qwen3'\napi_key_env = 'MY_KEY'\ncontext_window = 4096\n"
        "capabilities = { supports_vision = true }\n[models.other]\nprovider = 'demo'\n"
    )
    settings = load(written(tmp_path, text), {**HOME, "MY_KEY": "sk-1", "OPENAI_API_KEY": "sk-2"})
    main, other = settings.models
    assert (main.name, main.model, main.api_key.reveal()) == ("main", "qwen3", "sk-1")
    assert (main.context_window, main.capabilities.supports_vision) == (4096, True)
    assert (other.name, other.provider) == ("other", "demo")
    assert settings.default.model == "main"


def test_a_model_may_stand_in_the_environment_alone() -> None:
    environ = {
        **HOME,
        "REDSHANK_MODELS__MAIN__PROVIDER": "openai",
        "REDSHANK_MODELS__MAIN__MODEL": "qwen3",
        "REDSHANK_MODELS__MAIN__CAPABILITIES": '{"supports_vision": true}',
    }
    (model,) = load(None, environ).models
    assert (model.name, model.model, model.capabilities.supports_vision) == ("main", "qwen3", True)


@pytest.mark.parametrize(
    ("environ", "expected"),
    [
        ({}, [("demo", "demo", "")]),
        ({"OPENAI_API_KEY": "sk-1"}, [("openai", "openai", "https://api.openai.com/v1")]),
        (
            {"OPENAI_BASE_URL": "http://127.0.0.1:1/v1"},
            [("openai", "openai", "http://127.0.0.1:1/v1")],
        ),
        (
            {"ANTHROPIC_API_KEY": "sk-2"},
            [("anthropic", "anthropic", "https://api.anthropic.com")],
        ),
    ],
)
def test_without_a_configured_model_the_usual_variables_make_one_else_the_demo(
    environ: dict[str, str], expected: list[tuple[str, str, str]]
) -> None:
    models = load(None, {**HOME, **environ}).models
    assert [(each.name, each.provider, each.base_url) for each in models] == expected


def test_a_default_that_is_no_model_is_refused(tmp_path: Path) -> None:
    error = refusal(tmp_path, "[models.main]\nprovider = 'demo'\n[default]\nmodel = 'mian'")
    assert error.field == "default.model"
    assert "did you mean main?" in error.detail


def test_a_model_without_its_name_at_the_server_is_refused(tmp_path: Path) -> None:
    assert refusal(tmp_path, "[models.main]\nprovider = 'openai'").field == "models.main.model"


def test_a_model_without_a_provider_is_refused(tmp_path: Path) -> None:
    assert refusal(tmp_path, "[models.main]\nmodel = 'x'").field == "models.main.provider"


def test_a_key_in_the_file_is_refused_with_the_way_to_give_it(tmp_path: Path) -> None:
    text = "[models.main]\nprovider = 'openai'\nmodel = 'x'\napi_key = 'sk-canary'"
    error = refusal(tmp_path, text)
    assert "did you mean api_key_env?" in error.detail
    assert "sk-canary" not in error.detail


def test_a_key_that_is_not_set_is_refused_by_its_variable(tmp_path: Path) -> None:
    text = "[models.main]\nprovider = 'openai'\nmodel = 'x'\napi_key_env = 'MY_KEY'"
    error = refusal(tmp_path, text)
    assert error.field == "models.main.api_key_env"
    assert "MY_KEY" in error.detail


def test_a_slot_is_filled_by_its_variable_and_needs_a_vault_without(tmp_path: Path) -> None:
    text = "[models.main]\nprovider = 'openai'\nmodel = 'x'\napi_key_slot = 'model.main'"
    assert "REDSHANK_SLOT__MODEL_MAIN" in refusal(tmp_path, text).detail
    environ = {**HOME, "REDSHANK_SLOT__MODEL_MAIN": "sk-1"}
    (model,) = load(tmp_path / "redshank.toml", environ).models
    assert model.api_key.reveal() == "sk-1"


@pytest.mark.fault("F-12")
def test_no_text_form_of_the_settings_shows_a_secret(tmp_path: Path) -> None:
    text = "[models.main]\nprovider = 'openai'\nmodel = 'x'\napi_key_env = 'MY_KEY'"
    environ = {
        **HOME,
        "MY_KEY": "sk-canary-1",
        "REDSHANK_REDIS__URL": "redis://:canary-2@127.0.0.1/0",
        "REDSHANK_DATABASE__URL": "postgresql://me:canary-3@127.0.0.1/db",
    }
    settings = load(written(tmp_path, text), environ)
    for shown in (repr(settings), str(settings), f"{settings.models[0].api_key}"):
        assert "canary" not in shown
    assert set(secrets_of(settings)) == {"sk-canary-1", "canary-2", "canary-3"}


def test_a_secret_is_equal_by_value_and_empty_is_false() -> None:
    assert Secret("a") == Secret("a")
    assert Secret("a") != Secret("b")
    assert not Secret()


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("redis://:pw@h:1/0", "redis://:***@h:1/0"),
        ("postgresql://u:p%40w@h/db", "postgresql://u:***@h/db"),
        ("sqlite:////a/b.db", "sqlite:////a/b.db"),
    ],
)
def test_an_address_is_shown_without_its_password(url: str, shown: str) -> None:
    assert without_password(url) == shown


@pytest.mark.req("T-23")
@pytest.mark.parametrize(
    ("model", "sees"),
    [
        ("provider = 'openai'", True),
        ("provider = 'openai'\nbase_url = 'https://api.openai.com/v1'", True),
        ("provider = 'openai'\nbase_url = 'http://127.0.0.1:8000/v1'", False),
        ("provider = 'anthropic'", True),
        ("provider = 'anthropic'\nbase_url = 'https://proxy.example'", False),
        ("provider = 'demo'", False),
        ("provider = 'openai'\ncapabilities = { supports_vision = false }", False),
        (
            "provider = 'openai'\nbase_url = 'http://127.0.0.1:8000/v1'\n"
            "capabilities = { supports_vision = true }",
            True,
        ),
    ],
)
def test_a_model_sees_images_as_its_makers_own_servers_do_or_as_it_is_set(
    tmp_path: Path, model: str, sees: bool
) -> None:
    (read,) = load(written(tmp_path, f"[models.main]\nmodel = 'x'\n{model}\n"), HOME).models

    assert sees_images(read) is sees


def test_profiles_are_tables_by_their_names(tmp_path: Path) -> None:
    text = (
        "[profiles.mine]\nfile = 'mine.toml'\ntools_config = 'tools.toml'\n"
        "[profiles.turnstone]\ndefaults = { web_search = 'allow' }\n"
    )
    environ = {**HOME, "REDSHANK_PROFILES__KHEISH__TOOLS_CONFIG": "kheish.toml"}

    profiles = load(written(tmp_path, text), environ).profiles

    assert profiles == {
        "mine": ProfileSource("mine.toml", "tools.toml"),
        "turnstone": ProfileSource(defaults={"web_search": "allow"}),
        "kheish": ProfileSource(tools_config="kheish.toml"),
    }


@pytest.mark.parametrize(
    ("text", "field"),
    [
        ("[profiles]\nmine = 1", "profiles.mine"),
        ("[profiles.mine]\nfiel = 'x'", "profiles.mine.fiel"),
        ("[profiles.mine]\nfile = 1", "profiles.mine.file"),
        ("[profiles.mine]\ndefaults = { bash = 'maybe' }", "profiles.mine.defaults"),
    ],
)
def test_a_wrong_profile_table_is_refused_by_its_key(tmp_path: Path, text: str, field: str) -> None:
    assert refusal(tmp_path, text).field == field
