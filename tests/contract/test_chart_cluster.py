"""The chart around the pods: how many there are, who may reach them, who counts them."""

import json

import pytest

from tests.contract.chart_values import (
    EVERYTHING,
    GIVEN,
    KEDA,
    VALUE_SETS,
    merged,
)
from tests.contract.deployed import settings_under
from tests.contract.rendered import FOREIGN, Manifests

DEPLOYMENTS = ("console", "node", "gateway")


@pytest.fixture(scope="module", params=list(VALUE_SETS.values()), ids=list(VALUE_SETS))
def manifests(request: pytest.FixtureRequest) -> Manifests:
    return Manifests(request.param)


def test_what_has_several_pods_is_never_emptied_at_once(manifests: Manifests) -> None:
    budgets = manifests.of("PodDisruptionBudget")
    scaled = manifests.of("HorizontalPodAutoscaler") | manifests.of("ScaledObject")
    for component, deployment in manifests.of("Deployment").items():
        replicas = deployment["spec"].get("replicas")
        if replicas is None:
            spec = scaled[component]["spec"]
            replicas = spec.get("minReplicas") or spec["minReplicaCount"]
        assert (component in budgets) == (replicas > 1)
        assert deployment["spec"]["strategy"]["rollingUpdate"]["maxUnavailable"] == 0
    for component, budget in budgets.items():
        assert budget["spec"]["maxUnavailable"] == 1
        assert budget["spec"]["unhealthyPodEvictionPolicy"] == "AlwaysAllow"
        selector = budget["spec"]["selector"]
        assert selector == manifests.of("Deployment")[component]["spec"]["selector"]


def test_one_hand_alone_sets_the_number_of_nodes(manifests: Manifests) -> None:
    hands = [
        "replicas" in manifests.of("Deployment")["node"]["spec"],
        "node" in manifests.of("HorizontalPodAutoscaler"),
        "node" in manifests.of("ScaledObject"),
    ]
    assert hands.count(True) == 1


def test_nodes_scale_by_cpu_unless_told_otherwise() -> None:
    spec = Manifests(GIVEN).of("HorizontalPodAutoscaler")["node"]["spec"]
    assert spec["metrics"][0]["resource"]["name"] == "cpu"
    assert spec["scaleTargetRef"]["name"] == "r-redshank-node"
    down = spec["behavior"]["scaleDown"]
    assert down["stabilizationWindowSeconds"] == 300
    assert down["policies"] == [{"type": "Pods", "value": 1, "periodSeconds": 60}]


@pytest.mark.parametrize("address", ["", "http://prometheus:9090"])
def test_keda_scales_by_what_waits_with_what_runs_over_the_slots(address: str) -> None:
    given = {"node": {"autoscaling": {"prometheusAddress": address}}}
    manifests = Manifests(merged(GIVEN, KEDA, given))
    spec = manifests.of("ScaledObject")["node"]["spec"]
    (trigger,) = spec["triggers"]
    assert "redshank_cluster_demand_ratio" in json.dumps(trigger)
    assert trigger["metricType"] == "Value", "a share is not divided by the number of nodes"
    assert "rq:queue" not in json.dumps(trigger), "jobs in hand would not hold their nodes"
    assert spec["minReplicaCount"] >= 1, "with no slots there is no share to scale by"
    behavior = spec["advanced"]["horizontalPodAutoscalerConfig"]["behavior"]
    assert behavior["scaleDown"]["stabilizationWindowSeconds"] == 300


def test_keda_asks_a_console_with_the_token_for_figures_not_the_admins() -> None:
    manifests = Manifests(merged(GIVEN, KEDA))
    (trigger,) = manifests.of("ScaledObject")["node"]["spec"]["triggers"]
    assert trigger["metadata"]["url"] == "http://r-redshank-console.n.svc:8090/metrics"
    assert trigger["metadata"]["authMode"] == "bearer"
    name = trigger["authenticationRef"]["name"].removeprefix("r-redshank-")
    (target,) = manifests.of("TriggerAuthentication")[name]["spec"]["secretTargetRef"]
    assert target == {"parameter": "token", "name": "r-redshank", "key": "metrics-token"}
    metrics = settings_under(manifests.environment("console")).metrics
    assert metrics.token_file == "/etc/redshank/tokens/metrics"


def test_monitors_find_every_service_consoles_with_their_token() -> None:
    manifests = Manifests(merged(GIVEN, EVERYTHING))
    monitors = manifests.of("ServiceMonitor")
    assert set(monitors) == set(DEPLOYMENTS)
    for component, monitor in monitors.items():
        labels = manifests.of("Service")[component]["metadata"]["labels"]
        assert monitor["spec"]["selector"]["matchLabels"].items() <= labels.items()
        (endpoint,) = monitor["spec"]["endpoints"]
        assert (endpoint["port"], endpoint["path"]) == ("http", "/metrics")
    credentials = monitors["console"]["spec"]["endpoints"][0]["authorization"]["credentials"]
    assert credentials == {"name": "r-redshank", "key": "metrics-token"}


@pytest.mark.parametrize("kind", FOREIGN)
def test_what_needs_an_operator_comes_only_when_asked_for(kind: str) -> None:
    assert Manifests(GIVEN).of(kind) == {}


def test_what_an_agent_runs_reaches_only_what_it_must() -> None:
    policy = Manifests(GIVEN).of("NetworkPolicy")["node"]["spec"]
    assert policy["policyTypes"] == ["Ingress", "Egress"]
    assert policy["ingress"] == []
    to_anyone = [rule["ports"] for rule in policy["egress"] if "to" not in rule]
    assert sorted({port["port"] for ports in to_anyone for port in ports}) == [53, 5432, 6379]
    (block,) = [
        peer["ipBlock"]
        for rule in policy["egress"]
        for peer in rule.get("to", ())
        if "ipBlock" in peer
    ]
    assert {"10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "169.254.0.0/16"} <= set(
        block["except"]
    )


def test_the_gateway_hears_nodes_alone_reaches_no_store() -> None:
    policy = Manifests(GIVEN).of("NetworkPolicy")["gateway"]["spec"]
    (rule,) = policy["ingress"]
    (peer,) = rule["from"]
    assert peer["podSelector"]["matchLabels"]["app.kubernetes.io/component"] == "node"
    ports = {port["port"] for each in policy["egress"] for port in each["ports"]}
    assert ports == {53, 443, 8090}


def test_every_pod_stands_under_a_policy() -> None:
    for values in (GIVEN, merged(GIVEN, EVERYTHING)):
        manifests = Manifests(values)
        for component, _ in manifests.pods():
            selector = manifests.of("NetworkPolicy")[component]["spec"]["podSelector"]
            assert selector["matchLabels"]["app.kubernetes.io/component"] == component
