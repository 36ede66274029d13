"""What tests read from a process's /metrics, by Prometheus' own parser."""

import re
from typing import NamedTuple

import httpx
from prometheus_client.metrics_core import Metric
from prometheus_client.parser import text_string_to_metric_families

from redshank_shared.metrics import CONTENT_TYPE
from tests.architecture.sources import ROOT

_ROW = re.compile(r"^\| `(redshank_\w+)` \| (\w+) \|([^|]*)\| ([^|]+) \| [^|]+ \|$", re.M)


class Described(NamedTuple):
    """One row of docs/metrics.md, or one family as it is exported."""

    kind: str
    labels: frozenset[str]


def families(answer: httpx.Response) -> dict[str, Metric]:
    """Our metrics in this answer, by name."""
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"] == CONTENT_TYPE
    found = {each.name: each for each in text_string_to_metric_families(answer.text)}
    return {name: found[name] for name in found if name.startswith("redshank_")}


def value(answer: httpx.Response, sample: str, **labels: str) -> float:
    """The one sample of this name with these labels."""
    samples = [each for family in families(answer).values() for each in family.samples]
    values = [each.value for each in samples if (each.name, each.labels) == (sample, labels)]
    assert len(values) == 1, f"{len(values)} samples of {sample} {labels}"
    return values[0]


def exported(answer: httpx.Response) -> dict[str, Described]:
    """Every metric with samples in this answer."""
    return {
        name: Described(
            family.type,
            frozenset(key for sample in family.samples for key in sample.labels) - {"le"},
        )
        for name, family in families(answer).items()
        if family.samples
    }


def documented(where: str) -> dict[str, Described]:
    """What docs/metrics.md says that this process exports."""
    text = (ROOT / "docs" / "metrics.md").read_text()
    return {
        name: Described(kind, frozenset(re.findall(r"`(\w+)`", labels)))
        for name, kind, labels, places in _ROW.findall(text)
        if where in places.split(", ")
    }
