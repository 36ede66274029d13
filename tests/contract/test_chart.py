"""The chart: what it renders is what Kubernetes takes, whatever the values."""

import re
from typing import Any

import helm_python
import pytest

from tests.contract.chart_values import (
    BARE,
    EVERYTHING,
    EXISTING,
    GIVEN,
    MODELS,
    VALUE_SETS,
    merged,
)
from tests.contract.deployed import HAND_OVER_SECONDS, settings_under
from tests.contract.rendered import CHART, KUBERNETES, Manifests, check

SECRET_VALUES = (
    "p%40ss",
    "p@ss",
    "x%2Fy",
    "admin-token-that-is-long",
    "metrics-token-that-is-long",
    "service-secret-of-thirty-two-and-more",
)
DEPLOYMENTS = ("console", "node", "gateway")


@pytest.fixture(scope="module", params=list(VALUE_SETS.values()), ids=list(VALUE_SETS))
def manifests(request: pytest.FixtureRequest) -> Manifests:
    return Manifests(request.param)


def texts(part: Any) -> list[str]:
    """Every text in a manifest."""
    if isinstance(part, dict):
        return [text for each in part.values() for text in texts(each)]
    if isinstance(part, list):
        return [text for each in part for text in texts(each)]
    return [part] if isinstance(part, str) else []


@pytest.mark.parametrize("version", KUBERNETES)
def test_kubernetes_takes_every_field_of_every_manifest(manifests: Manifests, version: str) -> None:
    for manifest in manifests.all:
        check(manifest, version)


def test_it_is_a_whole_cluster(manifests: Manifests) -> None:
    kinds = {each["kind"] for each in manifests.all}
    assert {"Deployment", "Service", "ConfigMap"} <= kinds
    assert {"console", "node"} <= set(manifests.of("Deployment"))


@pytest.mark.parametrize("values", VALUE_SETS.values(), ids=VALUE_SETS.keys())
def test_helm_finds_nothing_to_complain_of(values: dict[str, Any]) -> None:
    report = helm_python.lint(CHART, values, strict=True)
    said = [each["error"] for each in report["messages"]]
    assert report["errors"] == []
    assert [each for each in said if each != "icon is recommended"] == []


def test_no_secret_lies_outside_a_secret(manifests: Manifests) -> None:
    for manifest in manifests.all:
        if manifest["kind"] == "Secret":
            continue
        for secret in SECRET_VALUES:
            assert [text for text in texts(manifest) if secret in text] == [], manifest["kind"]
    assert [secret for secret in SECRET_VALUES if secret in manifests.notes] == []


def test_a_secret_of_ones_own_takes_the_place_of_the_charts() -> None:
    manifests = Manifests(EXISTING)
    assert manifests.of("Secret") == {}
    assert manifests.environment("node")["REDSHANK_DATABASE__URL"] == "from ours/database-url"
    assert manifests.environment("console")["REDSHANK_REDIS__URL"] == "from ours/redis-url"
    volumes = {each["name"]: each for each in manifests.pod("console")["volumes"]}
    assert volumes["tokens"]["secret"]["secretName"] == "ours"


def test_addresses_hold_passwords_of_any_characters() -> None:
    settings = settings_under(Manifests(GIVEN).environment("console"))
    assert settings.database.url == (
        "postgresql://redshank:p%40ss%20w%2Brd%2F%25@db.example:5432/redshank?sslmode=require"
    )
    assert settings.redis.url == "redis://:x%2Fy@redis.example:6379/0"


@pytest.mark.req("B-31")
@pytest.mark.parametrize("component", DEPLOYMENTS)
def test_every_variable_is_one_that_the_settings_know(manifests: Manifests, component: str) -> None:
    if component not in manifests.of("Deployment"):
        pytest.skip("these values leave it out")
    environment = manifests.environment(component)
    settings = settings_under(environment)
    assert settings.log.format == "json"
    (container,) = manifests.pod(component)["containers"]
    (port,) = container["ports"]
    assert container["args"] == [component]
    assert port["containerPort"] == getattr(settings, component).port
    assert getattr(settings, component).host == "0.0.0.0"


def test_models_are_known_everywhere_their_keys_to_nodes_alone() -> None:
    manifests = Manifests(merged(GIVEN, MODELS))
    console, node = (manifests.environment(each) for each in ("console", "node"))
    assert node["MODEL_KEY_MAIN"] == "from openai/api-key"
    assert "MODEL_KEY_MAIN" not in console
    for environment in (console, node):
        settings = settings_under(environment)
        assert {model.name for model in settings.models} == {"main", "second_one"}
        assert settings.default.model == "second_one"
        (main,) = [model for model in settings.models if model.name == "main"]
        assert (main.model, main.context_window) == ("gpt-4.1", 1_000_000)
        assert main.base_url == "http://vllm.models:8000/v1"


def test_a_gateway_is_known_by_one_secret_reached_under_the_name_of_its_service() -> None:
    manifests = Manifests(merged(GIVEN, EVERYTHING))
    found = [settings_under(manifests.environment(each)) for each in DEPLOYMENTS]
    assert {each.gateway_keys.service_secret.reveal() for each in found} == {
        "service-secret-of-thirty-two-and-more"
    }
    gateway = found[-1].gateway
    services = manifests.of("Service")
    for url, component in ((gateway.public_url, "gateway"), (gateway.console_url, "console")):
        port = services[component]["spec"]["ports"][0]["port"]
        assert url == f"http://{services[component]['metadata']['name']}:{port}"
    assert gateway.users["ada"].channel_id == "1"  # type: ignore[union-attr]  # one link is given
    assert found[-1].gateway_keys.discord_token.reveal() == "from discord/token"


def test_settings_of_ones_own_go_over_the_charts() -> None:
    settings = settings_under(Manifests(merged(GIVEN, EVERYTHING)).environment("node"))
    assert settings.limits.max_timeout_ms == 60000
    assert settings.log.level == "debug"


def test_a_pod_is_killed_later_than_it_drains(manifests: Manifests) -> None:
    for component, pod in manifests.pods():
        if component == "migration":
            continue
        (container,) = pod["containers"]
        before = container.get("lifecycle", {}).get("preStop", {}).get("sleep", {})
        needs = before.get("seconds", 0) + HAND_OVER_SECONDS
        if component == "node":
            needs += settings_under(manifests.environment("node")).node.grace_seconds
        assert pod["terminationGracePeriodSeconds"] >= needs + 5, component


@pytest.mark.parametrize("drain", [1, 600])
def test_the_grace_period_follows_the_drain(drain: int) -> None:
    manifests = Manifests(merged(GIVEN, {"node": {"drainSeconds": drain}}))
    assert settings_under(manifests.environment("node")).node.grace_seconds == drain
    assert manifests.pod("node")["terminationGracePeriodSeconds"] > drain + HAND_OVER_SECONDS


def test_endpoints_forget_a_pod_before_it_stops() -> None:
    for component in DEPLOYMENTS:
        (container,) = Manifests(GIVEN).pod(component)["containers"]
        assert container["lifecycle"]["preStop"]["sleep"]["seconds"] >= 1


def test_a_restart_is_never_the_answer_to_an_outage_elsewhere(manifests: Manifests) -> None:
    """/health says 503 while database or Redis are away: no reason to kill what waits for them."""
    for component in manifests.of("Deployment"):
        (container,) = manifests.pod(component)["containers"]
        assert container["livenessProbe"]["httpGet"]["path"] in ("/", "/metrics")
        probe = container["livenessProbe"]
        assert probe["periodSeconds"] * probe["failureThreshold"] >= 60
        assert container["startupProbe"]["failureThreshold"] >= 60


def test_ready_says_whether_a_node_takes_work_whether_a_console_answers() -> None:
    manifests = Manifests(GIVEN)
    paths = {
        component: [
            manifests.pod(component)["containers"][0][probe]["httpGet"]["path"]
            for probe in ("startupProbe", "readinessProbe")
        ]
        for component in DEPLOYMENTS
    }
    assert paths == {
        "console": ["/health", "/"],
        "node": ["/metrics", "/health"],
        "gateway": ["/health", "/health"],
    }


def test_no_probe_needs_a_token(manifests: Manifests) -> None:
    """Nodes show their figures to anyone whom the NetworkPolicy lets in."""
    assert "REDSHANK_METRICS__TOKEN_FILE" not in manifests.environment("node")


def test_nobody_is_root_nothing_is_written_but_where_it_must(manifests: Manifests) -> None:
    for component, pod in manifests.pods():
        assert pod["securityContext"]["runAsNonRoot"] is True
        assert pod["securityContext"]["runAsUser"] == 10001
        assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
        assert pod["automountServiceAccountToken"] is False
        assert pod["enableServiceLinks"] is False
        (container,) = pod["containers"]
        assert container["securityContext"] == {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        }
        mounted = {each["mountPath"] for each in container["volumeMounts"]}
        assert {"/tmp", "/home/redshank"} <= mounted, component
        assert {each["name"] for each in container["volumeMounts"]} == {
            each["name"] for each in pod["volumes"]
        }
        assert container["resources"]["requests"].keys() == {"cpu", "memory"}
        assert "memory" in container["resources"]["limits"]


def test_no_image_is_latest_nor_without_a_version(manifests: Manifests) -> None:
    for _, pod in manifests.pods():
        for container in pod["containers"]:
            assert re.search(r":\d+\.\d+\.\d+$|@sha256:[0-9a-f]{64}$", container["image"])
            assert container["imagePullPolicy"] == "IfNotPresent"


def test_services_lead_to_their_pods_by_name_of_the_port(manifests: Manifests) -> None:
    deployments = manifests.of("Deployment")
    for component, service in manifests.of("Service").items():
        selector = service["spec"]["selector"]
        labels = deployments[component]["spec"]["template"]["metadata"]["labels"]
        assert selector.items() <= labels.items()
        assert selector == deployments[component]["spec"]["selector"]["matchLabels"]
        ports = {each["name"] for each in manifests.pod(component)["containers"][0]["ports"]}
        assert {each["targetPort"] for each in service["spec"]["ports"]} <= ports


def test_a_selector_holds_nothing_that_an_upgrade_changes(manifests: Manifests) -> None:
    for deployment in manifests.of("Deployment").values():
        assert deployment["spec"]["selector"]["matchLabels"].keys() == {
            "app.kubernetes.io/name",
            "app.kubernetes.io/instance",
            "app.kubernetes.io/component",
        }


@pytest.mark.fault("F44")
def test_a_job_migrates_before_an_upgrades_pods_start() -> None:
    job = Manifests(GIVEN).of("Job")["migrate"]
    hooks = job["metadata"]["annotations"]["helm.sh/hook"].split(",")
    assert hooks == ["post-install", "pre-upgrade"]
    (container,) = job["spec"]["template"]["spec"]["containers"]
    assert container["args"] == ["migrate"]
    assert "envFrom" not in container, "an upgrade's new ConfigMap is not there yet"


def test_a_changed_setting_or_secret_starts_pods_anew() -> None:
    def sums(values: dict[str, Any]) -> list[str]:
        template = Manifests(values).of("Deployment")["node"]["spec"]["template"]
        annotations = template["metadata"]["annotations"]
        return [annotations["checksum/settings"], annotations["checksum/secret"]]

    before = sums(GIVEN)
    setting = sums(merged(GIVEN, {"logLevel": "debug"}))
    secret = sums(merged(GIVEN, {"adminToken": "another-token-that-is-long"}))
    assert (setting[0] != before[0], setting[1] != before[1]) == (True, False)
    assert (secret[0] != before[0], secret[1] != before[1]) == (False, True)


def test_agents_files_are_one_volume_that_outlives_the_release() -> None:
    manifests = Manifests(GIVEN)
    claim = manifests.of("PersistentVolumeClaim")["workspace"]
    assert claim["spec"]["accessModes"] == ["ReadWriteMany"]
    assert claim["metadata"]["annotations"]["helm.sh/resource-policy"] == "keep"
    volumes = {each["name"]: each for each in manifests.pod("node")["volumes"]}
    name = volumes["workspace"]["persistentVolumeClaim"]["claimName"]
    assert name == claim["metadata"]["name"]
    assert settings_under(manifests.environment("node")).node.workspace == "/workspace"


def test_the_notes_warn_of_what_is_for_trials_only() -> None:
    assert "For trials only" in Manifests(merged(GIVEN, BARE)).notes
    assert "For trials only" not in Manifests(GIVEN).notes
    assert "the demo answers" in Manifests(GIVEN).notes
    assert "the demo answers" not in Manifests(merged(GIVEN, MODELS)).notes
