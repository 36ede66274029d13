"""The chart with the vault's master key: console, nodes get it from a Secret, as a file."""

import pytest

from tests.contract.chart_values import EVERYTHING, GIVEN, merged
from tests.contract.deployed import settings_under
from tests.contract.rendered import Manifests


@pytest.mark.parametrize("component", ["console", "node"])
def test_the_key_comes_from_the_secret_that_is_named(component: str) -> None:
    manifests = Manifests(merged(GIVEN, EVERYTHING))
    pod = manifests.pod(component)
    (container,) = pod["containers"]
    (mount,) = (each for each in container["volumeMounts"] if each["name"] == "vault")
    (volume,) = (each for each in pod["volumes"] if each["name"] == "vault")
    (item,) = volume["secret"]["items"]
    settings = settings_under(manifests.environment(component))
    assert settings.vault.key_file == f"{mount['mountPath']}/{item['path']}"
    assert (volume["secret"]["secretName"], item["key"]) == ("vault-key", "vault.key")
    assert (volume["secret"]["defaultMode"], mount["readOnly"]) == (0o440, True)


def test_the_gateway_never_gets_it() -> None:
    manifests = Manifests(merged(GIVEN, EVERYTHING))
    assert "vault" not in [each["name"] for each in manifests.pod("gateway")["volumes"]]


@pytest.mark.parametrize("component", ["console", "node"])
def test_without_one_there_is_no_vault(component: str) -> None:
    manifests = Manifests(GIVEN)
    assert settings_under(manifests.environment(component)).vault.key_file == ""
