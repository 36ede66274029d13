"""The chart's values: what is wrong or missing is refused by name."""

import json
import re
from typing import Any

import helm_python
import pytest
import yaml

from tests.architecture.sources import ROOT
from tests.contract.chart_values import (
    GIVEN,
    MODELS,
    merged,
)
from tests.contract.rendered import KUBERNETES, Manifests, chart, check


@pytest.mark.parametrize(
    ("given", "key"),
    [
        ({"database": {"password": ""}}, "database.password"),
        ({"database": {"host": ""}}, "database.host"),
        ({"redis": {"host": ""}}, "redis.host"),
        ({"adminToken": ""}, "adminToken"),
        ({"gateway": {"serviceSecret": ""}}, "gateway.serviceSecret"),
        ({"serviceMonitor": {"enabled": True}}, "metricsToken"),
    ],
)
def test_what_is_missing_is_named_with_the_mend(given: dict[str, Any], key: str) -> None:
    with pytest.raises(helm_python.HelmError, match=rf"{key}: say .* or name existingSecret"):
        Manifests(merged(GIVEN, given))


@pytest.mark.parametrize(
    "wrong",
    [
        {"imgae": {}},
        {"image": {"tag": "latest"}},
        {"image": {"digest": "sha256:short"}},
        {"image": {"pullPolicy": "Sometimes"}},
        {"adminToken": "short"},
        {"gateway": {"serviceSecret": "short"}},
        {"console": {"replicas": 0}},
        {"console": {"replicas": "two"}},
        {"console": {"resources": {"limit": {}}}},
        {"node": {"slots": 0}},
        {"node": {"drainSeconds": 0}},
        {"node": {"autoscaling": {"kind": "both"}}},
        {"node": {"autoscaling": {"minReplicas": 0}}},
        {"node": {"autoscaling": {"targetDemand": 1.5}}},
        {"node": {"workspace": {"kind": "existing"}}},
        {"database": {"sslmode": "maybe"}},
        {"database": {"port": 70000}},
        {"models": {"Main": {"provider": "demo"}}},
        {"models": {"main": {"provider": "openai"}}},
        {"models": {"main": {"provider": "demo", "apiKey": "in clear"}}},
        {"settings": {"LOG_LEVEL": "debug"}},
        {"settings": {"REDSHANK_DATABASE__URL": "postgresql://u:p@h/d"}},
        {"settings": {"REDSHANK_SLOT__MODEL_MAIN": "key"}},
        {"settings": {"REDSHANK_LIMITS__MAX_TIMEOUT_MS": 1000}},
        {"gateway": {"users": {"ada": {"channel": "1"}}}},
        {"ingress": {"enabled": True}},
        {"networkPolicy": {"nodeInternetPorts": [0]}},
        {"logLevel": "loud"},
        {"ledger": {"existingSecret": "Not A Name"}},
        {"ledger": {"key": "in clear"}},
        {"vault": {"key": "in clear"}},
        {"settings": {"REDSHANK_VAULT__KEY": "key"}},
    ],
    ids=json.dumps,
)
def test_wrong_values_are_refused(wrong: dict[str, Any]) -> None:
    values = merged(GIVEN, wrong)
    with pytest.raises(helm_python.HelmValuesError):
        chart().validate_schema(values)
    with pytest.raises(helm_python.HelmError):
        Manifests(values)


def test_fewer_nodes_at_most_than_at_least_are_refused() -> None:
    given = {"node": {"autoscaling": {"minReplicas": 3, "maxReplicas": 2}}}
    with pytest.raises(helm_python.HelmError, match="minReplicas is above maxReplicas"):
        Manifests(merged(GIVEN, given))


def test_a_default_model_that_is_none_of_the_models_is_refused() -> None:
    with pytest.raises(helm_python.HelmError, match=r'defaultModel is "other"'):
        Manifests(merged(GIVEN, MODELS, {"defaultModel": "other"}))


def test_every_default_is_one_that_the_schema_knows_everywhere() -> None:
    """Strict to the last level: no object of a known shape takes a key that it does not name."""

    def check_closed(schema: dict[str, Any], path: str) -> None:
        if "properties" in schema:
            assert schema["additionalProperties"] is False, path
            for key, each in schema["properties"].items():
                check_closed(each, f"{path}.{key}")

    schema = chart().schema
    assert schema is not None
    check_closed(schema, "")
    assert set(schema["properties"]) - {"global"} == set(chart().values)


def test_the_documents_values_make_a_cluster_that_kubernetes_takes() -> None:
    (block,) = re.findall(r"```yaml\n(.*?)```", (ROOT / "docs" / "deploy.md").read_text(), re.S)
    manifests = Manifests(yaml.safe_load(block))
    assert manifests.of("Secret") == {}
    for manifest in manifests.all:
        check(manifest, KUBERNETES[-1])
