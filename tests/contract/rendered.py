"""Renders the chart as `helm template` does."""

import functools
from collections.abc import Iterator
from typing import Any

import helm_python
import kubernetes_validate
import yaml

from tests.architecture.sources import ROOT

CHART = ROOT / "helm" / "redshank"
# The oldest that the chart says it works on, the newest that is known here.
KUBERNETES = ("1.30", "1.37")
# Kinds of KEDA, of the Prometheus operator, which Kubernetes has no schema of.
FOREIGN = ("ScaledObject", "TriggerAuthentication", "ServiceMonitor")


@functools.cache
def chart() -> helm_python.Chart:
    """The chart, loaded once."""
    return helm_python.Chart.load(CHART)


class Manifests:
    """What the chart makes of these values, installed as `r` into the namespace `n`."""

    def __init__(self, values: dict[str, Any]) -> None:
        texts = chart().render(values, name="r", namespace="n")
        self.notes = next(text for name, text in texts.items() if name.endswith("NOTES.txt"))
        self.all = [
            document
            for name, text in sorted(texts.items())
            if name.endswith(".yaml")
            for document in yaml.load_all(text, Loader=_NoKeyTwice)
            if document
        ]

    def of(self, kind: str) -> dict[str, dict[str, Any]]:
        """Every manifest of a kind by the last part of its name."""
        return {
            each["metadata"]["name"].removeprefix("r-redshank").removeprefix("-"): each
            for each in self.all
            if each["kind"] == kind
        }

    def pods(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """Every pod's spec by its component."""
        for each in self.all:
            if each["kind"] in ("Deployment", "Job"):
                template = each["spec"]["template"]
                labels = template["metadata"]["labels"]
                yield labels["app.kubernetes.io/component"], template["spec"]

    def pod(self, component: str) -> dict[str, Any]:
        """The spec of one component's pods."""
        return dict(self.pods())[component]

    def environment(self, component: str) -> dict[str, str]:
        """A component's environment; what comes from a Secret as the chart's own has it, else as
        `from NAME/KEY`.
        """
        (container,) = self.pod(component)["containers"]
        found: dict[str, str] = {}
        for source in container.get("envFrom", ()):
            maps = {each["metadata"]["name"]: each for each in self.of("ConfigMap").values()}
            found |= maps[source["configMapRef"]["name"]]["data"]
        for variable in container["env"]:
            assert variable["name"] not in found, f"{variable['name']} is given twice"
            found[variable["name"]] = self._value(variable)
        return found

    def _value(self, variable: dict[str, Any]) -> str:
        if "value" in variable:
            return str(variable["value"])
        source = variable["valueFrom"]
        if "fieldRef" in source:
            return f"from {source['fieldRef']['fieldPath']}"
        reference = source["secretKeyRef"]
        for secret in self.of("Secret").values():
            if secret["metadata"]["name"] == reference["name"]:
                return str(secret["stringData"][reference["key"]])
        return f"from {reference['name']}/{reference['key']}"


def check(manifest: dict[str, Any], version: str) -> None:
    """Raises where Kubernetes of this version would not take the manifest, or not every field."""
    if manifest["kind"] not in FOREIGN:
        kubernetes_validate.validate(manifest, version, strict=True)


class _NoKeyTwice(yaml.SafeLoader):
    """The later of two keys would win in silence."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        keys = [self.construct_object(key, deep=deep) for key, _ in node.value]
        assert len(keys) == len(set(keys)), f"a key stands twice: {sorted(map(str, keys))}"
        return super().construct_mapping(node, deep)
