"""The chart with the key that signs the ledger: nodes alone get it, from a Secret, as a file."""

from typing import Any

import pytest

from tests.contract.chart_values import EVERYTHING, GIVEN, merged
from tests.contract.deployed import settings_under
from tests.contract.rendered import Manifests


def mounts(manifests: Manifests, component: str) -> dict[str, str]:
    (container,) = manifests.pod(component)["containers"]
    return {each["name"]: each["mountPath"] for each in container["volumeMounts"]}


def volumes(manifests: Manifests, component: str) -> dict[str, dict[str, Any]]:
    return {each["name"]: each for each in manifests.pod(component)["volumes"]}


@pytest.mark.req("K-7")
def test_nodes_alone_get_the_key_from_the_secret_that_is_named() -> None:
    manifests = Manifests(merged(GIVEN, EVERYTHING))
    settings = settings_under(manifests.environment("node"))
    folder = mounts(manifests, "node")["ledger"]
    secret = volumes(manifests, "node")["ledger"]["secret"]
    (item,) = secret["items"]
    assert settings.ledger.key_file == f"{folder}/{item['path']}"
    assert (secret["secretName"], item["key"]) == ("ledger-key", "ledger.key")
    # Root's file, read by the pod's group: what a node takes from a mounted Secret.
    assert secret["defaultMode"] == 0o440
    for component in ("console", "gateway"):
        assert "ledger" not in volumes(manifests, component)
        assert settings_under(manifests.environment(component)).ledger.key_file == ""


def test_without_one_each_node_makes_its_own() -> None:
    manifests = Manifests(GIVEN)
    assert "ledger" not in volumes(manifests, "node")
    assert settings_under(manifests.environment("node")).ledger.key_file == ""
