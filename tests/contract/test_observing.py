"""Alerts, dashboard: they ask for figures that there are."""

import json
import re
from typing import Any

import pytest
import yaml

from tests.architecture.sources import ROOT
from tests.contract.deployed import DEPLOY

METRIC = re.compile(r"\bredshank_[a-z_]+")
PARTS = re.compile(r"_(total|bucket|sum|count)$")


def rules() -> list[dict[str, Any]]:
    (group,) = yaml.safe_load((DEPLOY / "prometheus" / "rules.yaml").read_text())["groups"]
    found = group["rules"]
    assert isinstance(found, list)
    return found


def panels() -> list[dict[str, Any]]:
    found = json.loads((DEPLOY / "grafana" / "redshank.json").read_text())["panels"]
    assert isinstance(found, list)
    return found


def documented() -> dict[str, str]:
    """Every metric's type, as docs/metrics.md gives it, which a test holds to what is exported."""
    text = (ROOT / "docs" / "metrics.md").read_text()
    return dict(re.findall(r"^\| `(redshank_\w+)` \| (\w+) \|", text, re.M))


def expressions() -> list[str]:
    asked = [target["expr"] for panel in panels() for target in panel["targets"]]
    return [*(rule["expr"] for rule in rules()), *asked]


def test_every_figure_that_is_asked_for_exists() -> None:
    asked = {PARTS.sub("", name) for text in expressions() for name in METRIC.findall(text)}
    assert asked <= set(documented())


def test_counters_are_asked_for_as_rates_figures_of_the_cluster_are_not_added_up() -> None:
    kinds = documented()
    for text in expressions():
        for name in METRIC.findall(text):
            kind = kinds[PARTS.sub("", name)]
            if kind == "gauge" and name != "redshank_streams":
                assert "sum" not in text, text
            if kind == "counter":
                assert f"rate({name}" in text, text
                assert name.endswith("_total"), text


@pytest.mark.req("B-32")
def test_people_see_load_queue_age_tokens_over_time() -> None:
    asked = " ".join(expressions())
    for name in ("cluster_demand_ratio", "queue_oldest_seconds", "tokens_total"):
        assert f"redshank_{name}" in asked


def test_every_alert_says_what_is_wrong_with_the_mend() -> None:
    assert len({rule["alert"] for rule in rules()}) == len(rules())
    for rule in rules():
        assert rule["annotations"].keys() == {"summary", "mend"}
        assert rule["labels"]["severity"] in ("critical", "warning", "info")
        assert re.fullmatch(r"\d+[mh]", rule["for"])


def test_panels_neither_overlap_nor_share_a_name() -> None:
    taken: set[tuple[int, int]] = set()
    for panel in panels():
        at = panel["gridPos"]
        cells = {
            (x, y)
            for x in range(at["x"], at["x"] + at["w"])
            for y in range(at["y"], at["y"] + at["h"])
        }
        assert not cells & taken
        assert at["x"] + at["w"] <= 24
        taken |= cells
    assert len({panel["title"] for panel in panels()}) == len(panels())
    assert len({panel["id"] for panel in panels()}) == len(panels())
