"""The compose file: what it starts is what the design asks for, with no secret in it."""

import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.architecture.sources import ROOT
from tests.contract.deployed import DEPLOY, HAND_OVER_SECONDS, Unset, compose, seconds
from tests.contract.deployed import settings_under as settings_of

SECRETS = {
    "POSTGRES_PASSWORD": "a" * 48,
    "REDIS_PASSWORD": "b" * 48,
    "GATEWAY_SECRET": "c" * 64,
}
MODEL = {
    "MODEL_PROVIDER": "openai",
    "MODEL_NAME": "gpt-4.1",
    "MODEL_BASE_URL": "http://models.example/v1",
    "MODEL_API_KEY": "key-of-the-model",
}
OURS = ("migrate", "console", "node", "gateway")


@pytest.fixture
def services() -> dict[str, Any]:
    found = compose(SECRETS)["services"]
    assert isinstance(found, dict)
    return found


def test_it_starts_two_consoles_three_nodes_a_gateway_over_postgresql_with_redis(
    services: dict[str, Any],
) -> None:
    replicas = {name: each.get("deploy", {}).get("replicas", 1) for name, each in services.items()}
    assert replicas == {
        "postgres": 1,
        "redis": 1,
        "migrate": 1,
        "console": 2,
        "node": 3,
        "gateway": 1,
    }


@pytest.mark.fault("F55")
def test_redis_never_evicts_keeps_what_it_has_asks_for_a_password(
    services: dict[str, Any],
) -> None:
    script = services["redis"]["command"][-1]
    assert "maxmemory-policy noeviction\n" in script
    assert "appendonly yes\n" in script
    assert "requirepass $REDIS_PASSWORD\n" in script
    assert script.startswith("exec redis-server - <<END\n"), "Redis itself must get the signals"
    assert "redis:/data" in services["redis"]["volumes"]


def test_the_stores_cannot_be_reached_from_outside(services: dict[str, Any]) -> None:
    for name in ("postgres", "redis"):
        assert "ports" not in services[name]
        assert services[name]["networks"] == ["within"]
    assert compose(SECRETS)["networks"]["within"] == {"internal": True}


def test_only_consoles_are_published_a_port_each_on_loopback(services: dict[str, Any]) -> None:
    published = {name: each["ports"] for name, each in services.items() if "ports" in each}
    assert published == {"console": ["127.0.0.1:8090-8091:8090"]}


def test_every_image_is_pinned(services: dict[str, Any]) -> None:
    for each in services.values():
        _, _, tag = each["image"].partition(":")
        assert re.match(r"\d+\.\d+", tag), each["image"]


@pytest.mark.parametrize("missing", sorted(SECRETS))
def test_without_a_secret_it_does_not_start_but_says_what_to_do(missing: str) -> None:
    given = {name: value for name, value in SECRETS.items() if name != missing}
    with pytest.raises(Unset, match=f"{missing}.*docs/deploy.md"):
        compose(given)


def test_no_secret_stands_in_the_file() -> None:
    for line in (DEPLOY / "compose.yaml").read_text().splitlines():
        if re.search(r"(PASSWORD|SECRET|TOKEN|_KEY|GATEWAY_SERVICE|GATEWAY_DISCORD): ", line):
            assert re.search(r": \$\{\w+:[?-]", line), line
    assert "secrets/" in (DEPLOY / ".gitignore").read_text().splitlines()
    assert ".env" in (DEPLOY / ".gitignore").read_text().splitlines()


@pytest.mark.req("B-31")
@pytest.mark.parametrize("given", [SECRETS, SECRETS | MODEL], ids=["demo", "model"])
@pytest.mark.parametrize("name", OURS)
def test_every_variable_is_one_that_the_settings_know(name: str, given: dict[str, str]) -> None:
    service = compose(given)["services"][name]
    settings = settings_of(service["environment"])
    assert settings.log.format == "json"
    assert service["command"] == [name]


def test_console_with_node_stand_on_the_same_stores_know_the_same_model() -> None:
    services = compose(SECRETS | MODEL)["services"]
    console, node = (settings_of(services[each]["environment"]) for each in ("console", "node"))
    assert console.database.url == node.database.url
    assert console.database.url == f"postgresql://redshank:{'a' * 48}@postgres:5432/redshank"
    assert console.redis.url == node.redis.url == f"redis://:{'b' * 48}@redis:6379/0"
    assert [model.name for model in console.models] == [model.name for model in node.models]
    assert console.default.model == node.default.model == "main"
    assert node.models[0].api_key.reveal() == "key-of-the-model"
    assert not console.models[0].api_key


def test_a_gateway_is_known_to_console_with_node_by_the_same_secret() -> None:
    services = compose(SECRETS)["services"]
    known = {
        settings_of(services[each]["environment"]).gateway_keys.service_secret.reveal()
        for each in ("console", "node", "gateway")
    }
    assert known == {"c" * 64}


def test_the_gateway_gets_no_address_of_a_store(services: dict[str, Any]) -> None:
    assert settings_of(services["gateway"]["environment"]).given.isdisjoint(
        ("database.url", "redis.url")
    )


def test_consoles_ask_for_a_token_that_comes_as_a_file(services: dict[str, Any]) -> None:
    console = settings_of(services["console"]["environment"]).console
    assert console.auth == "token"
    assert console.admin_token_file == "/run/secrets/admin_token"
    assert services["console"]["secrets"] == ["admin_token"]
    assert compose(SECRETS)["secrets"] == {"admin_token": {"file": "./secrets/admin_token"}}


def test_a_node_is_stopped_later_than_it_drains(services: dict[str, Any]) -> None:
    drain = settings_of(services["node"]["environment"]).node.grace_seconds
    stop = seconds(services["node"]["stop_grace_period"])
    assert stop >= drain + HAND_OVER_SECONDS + 5


def test_the_schema_is_there_before_anything_starts(services: dict[str, Any]) -> None:
    for name in ("console", "node"):
        needs = services[name]["depends_on"]
        assert needs["migrate"] == {"condition": "service_completed_successfully"}
        assert needs["redis"] == {"condition": "service_healthy"}
    assert services["migrate"]["depends_on"] == {"postgres": {"condition": "service_healthy"}}


def test_our_processes_may_do_no_more_than_they_need(services: dict[str, Any]) -> None:
    for name in OURS:
        service = services[name]
        assert service["read_only"] is True
        assert service["cap_drop"] == ["ALL"]
        assert service["security_opt"] == ["no-new-privileges:true"]
        assert "privileged" not in service
        assert "user" not in service, "the image's own user is not root"


def test_each_process_is_asked_for_its_own_health(services: dict[str, Any]) -> None:
    for name, port in (("node", 8081), ("gateway", 8091)):
        assert services[name]["environment"]["HEALTH_URL"] == f"http://127.0.0.1:{port}/health"


def test_nodes_work_on_the_same_files(services: dict[str, Any]) -> None:
    node = services["node"]
    assert node["volumes"] == ["workspace:/workspace"]
    assert settings_of(node["environment"]).node.workspace == "/workspace"


def test_its_names_lead_somewhere() -> None:
    document = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
    for name, service in document["services"].items():
        assert set(service["networks"]) <= set(document["networks"])
        assert set(service.get("secrets", ())) <= set(document["secrets"])
        assert set(service.get("depends_on", {})) <= set(document["services"]), name
        for volume in service.get("volumes", ()):
            assert volume.partition(":")[0] in document["volumes"]


@pytest.mark.fault("F-48")
def test_the_documents_commands_write_every_secret_that_it_asks_for(tmp_path: Path) -> None:
    blocks = re.findall(r"```sh\n(.*?)```", (ROOT / "docs" / "deploy.md").read_text(), re.S)
    (block,) = [each for each in blocks if "secrets/admin_token" in each and "> .env" in each]
    lines = [each for each in block.splitlines() if not each.startswith(("cd ", "docker "))]
    script = "set -eu\numask 022\n" + "\n".join(lines)
    subprocess.run(["bash", "-c", script], cwd=tmp_path, check=True, timeout=60)
    written = dict(line.split("=", 1) for line in (tmp_path / ".env").read_text().splitlines())
    assert written.keys() == SECRETS.keys()
    assert all(re.fullmatch(r"[0-9a-f]{64}", value) for value in written.values())
    settings_of(compose(written)["services"]["node"]["environment"])
    token = tmp_path / "secrets" / "admin_token"
    assert len(token.read_text().strip()) >= 16
    assert token.stat().st_mode & 0o004, "user 10001 reads it"
    assert token.parent.stat().st_mode & 0o077 == 0, "nobody else of this machine does"
