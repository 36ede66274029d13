"""Counters whose labels are bounded."""

import re

import pytest

from redshank_shared.metrics import Metrics


def value(metrics: Metrics, line: str) -> float:
    found = re.search(rf"^{re.escape(line)} (\S+)$", metrics.text().decode(), re.M)
    assert found, f"no {line}"
    return float(found[1])


def test_turns_calls_and_answers_are_counted() -> None:
    metrics = Metrics(tools=["bash"], models=["main"])
    metrics.turn_started()
    metrics.turn_started()
    metrics.turn_ended("idle")
    metrics.call_finished("bash", "ok", 0.02)
    metrics.model_answered("main", 1.5)
    assert value(metrics, "redshank_turns_running") == 1
    assert value(metrics, 'redshank_turns_total{end="idle"}') == 1
    assert value(metrics, 'redshank_calls_total{outcome="ok",tool="bash"}') == 1
    assert value(metrics, 'redshank_model_seconds_sum{model="main"}') == 1.5


@pytest.mark.fault("F-32")
def test_a_name_outside_the_known_sets_is_counted_as_other() -> None:
    metrics = Metrics(tools=["bash"], models=["main"])
    for number in range(50):
        metrics.call_finished(f"mcp__server__{number}", f"odd-{number}", 0.1)
        metrics.model_answered(f"model-{number}", 0.1)
        metrics.turn_ended(f"ws_{number}")
    text = metrics.text().decode()
    labels = set(re.findall(r'(?:tool|outcome|model|end)="([^"]*)"', text))
    assert labels == {"other"}
