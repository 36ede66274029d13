"""What a process keeps from others: its environment, its memory, its master key's file."""

import base64
import ctypes
import subprocess
import sys
from pathlib import Path

import pytest

from redshank_console.cli.up.data_folder import make_vault_key
from redshank_console.cli.up.plan import with_vault_key
from redshank_shared.domain.errors import Misconfigured
from redshank_shared.settings.environment import process_environment
from redshank_shared.settings.load import load
from redshank_shared.stores.opening import redactor_of
from redshank_shared.vault.variables import secret_values

HOME = {"HOME": "/nowhere"}


@pytest.mark.fault("F-12")
def test_secrets_of_the_environment_are_known_and_settings_are_not() -> None:
    environment = {
        "PAYROLL_API_KEY": "canary-payroll",
        "BOT_TOKEN": "canary-bot",
        "DB_PASSWORD_FILE": "/run/secrets/db",
        "SSH_KEY": "id_ed25519.pem",
        "TOKENS": "4096",
        "MY_KEY": "short",
        "MY_PASS": "123456789",
        "SORT_KEY": "customer",
        "REDSHANK_NODE__NAME": "marsh-of-the-north",
        "GREETING": "canary-is-a-bird",
    }
    assert sorted(secret_values(environment)) == ["canary-bot", "canary-payroll"]


@pytest.mark.fault("F-12")
def test_a_plain_word_is_masked_in_addresses_alone() -> None:
    url = "postgresql://postgres:postgres@h/postgres"
    redactor = redactor_of(load(None, {**HOME, "REDSHANK_DATABASE__URL": url}))
    assert redactor.of_output(f"{url} of postgres") == (
        "postgresql://postgres:***@h/postgres of postgres"
    )


@pytest.mark.fault("F-12")
def test_headers_of_servers_are_known_where_they_are_named_like_secrets(tmp_path: Path) -> None:
    file = tmp_path / "redshank.toml"
    file.write_text(
        "[mcp.servers.acme]\nurl = 'https://acme.test/mcp'\n"
        "headers = { X-Api-Key = 'canary-header', X-Team = 'waders-of-the-marsh' }\n"
    )
    redactor = redactor_of(load(file, HOME))
    assert redactor.of_known("canary-header waders-of-the-marsh") == "*** waders-of-the-marsh"


@pytest.mark.fault("F-12")
def test_a_process_masks_all_that_its_settings_lead_to(tmp_path: Path) -> None:
    token, key = tmp_path / "token", base64.b64encode(bytes(32)).decode()
    token.write_text("canary-of-metrics\n")
    told = {
        "REDSHANK_DATABASE__URL": "postgresql://me:canary-database@h/db",
        "REDSHANK_SLOT__GATEWAY_SERVICE": "canary-service",
        "REDSHANK_VAULT__KEY": key,
        "REDSHANK_METRICS__TOKEN_FILE": str(token),
        "REDSHANK_MODELS__A__PROVIDER": "demo",
        "REDSHANK_MODELS__A__API_KEY_ENV": "A_MODEL",
        "A_MODEL": "canary-model",
        "OTHER_TOKEN": "canary-other",
    }
    redactor = redactor_of(load(None, {**HOME, **told}), told)
    for secret in (
        "canary-database",
        "canary-service",
        key,
        "canary-of-metrics",
        "canary-model",
        "canary-other",
    ):
        assert redactor.of_known(f"x {secret} y") == "x *** y"


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux shows processes in /proc")
def test_a_process_closes_its_environment_to_others() -> None:
    code = (
        "import ctypes; from redshank_shared.settings.environment import hide_process; "
        "hide_process(); print(ctypes.CDLL(None).prctl(3, 0, 0, 0, 0))"
    )
    environment = {**process_environment(), "PYTHONPATH": ":".join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout == "0\n"
    assert ctypes.CDLL(None).prctl(3, 0, 0, 0, 0) == 1


def test_a_start_makes_its_master_key_once_for_its_user_alone(tmp_path: Path) -> None:
    path = tmp_path / "vault.key"
    make_vault_key(path)
    made = path.read_text()
    assert len(base64.b64decode(made)) == 32
    assert path.stat().st_mode & 0o777 == 0o600
    make_vault_key(path)
    assert path.read_text() == made
    with pytest.raises(Misconfigured) as refused:
        make_vault_key(tmp_path / "none" / "vault.key")
    assert refused.value.field == "vault.key_file"


@pytest.mark.parametrize(
    "given", [{"REDSHANK_VAULT__KEY": "k"}, {"REDSHANK_VAULT__KEY_FILE": "/k"}]
)
def test_a_start_takes_the_master_key_that_the_operator_names(given: dict[str, str]) -> None:
    environ = {**HOME, **given}
    assert with_vault_key(load(None, environ), environ, Path("/data/vault.key")) == environ
    ours = with_vault_key(load(None, HOME), HOME, Path("/data/vault.key"))
    assert ours["REDSHANK_VAULT__KEY_FILE"] == "/data/vault.key"


@pytest.mark.req("K-59")
def test_a_model_s_slot_outside_its_namespace_stops_the_start() -> None:
    told = {
        "REDSHANK_MODELS__A__PROVIDER": "openai",
        "REDSHANK_MODELS__A__MODEL": "m",
        "REDSHANK_MODELS__A__API_KEY_SLOT": "mcp.acme.KEY",
    }
    with pytest.raises(Misconfigured) as refused:
        load(None, {**HOME, **told})
    assert refused.value.field == "models.a.api_key_slot"
    assert "model.a" in refused.value.detail


def test_the_master_key_never_stands_in_the_file(tmp_path: Path) -> None:
    file = tmp_path / "redshank.toml"
    file.write_text('[vault]\nkey = "canary-of-the-file"\n')
    with pytest.raises(Misconfigured) as refused:
        load(file, HOME)
    assert "did you mean key_file?" in refused.value.detail
    assert "canary" not in refused.value.detail
