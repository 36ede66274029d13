"""Counters whose labels are bounded."""

from collections import Counter
from pathlib import Path

import pytest
from prometheus_client.metrics_core import Metric
from prometheus_client.parser import text_string_to_metric_families

from redshank_shared.domain.errors import Misconfigured
from redshank_shared.metrics import Metrics, may_scrape
from redshank_shared.settings.metrics_token import metrics_token
from redshank_shared.settings.sections import Metrics as MetricsSettings

HOSTILE = [
    '"} 1\nforged_total 7',
    "ws_01JD3F",
    "/etc/passwd",
    "ines@example.org",
    "\\",
    "",
    "é" * 99,
]
MANY = 10_000


def families(metrics: Metrics) -> dict[str, Metric]:
    return {each.name: each for each in text_string_to_metric_families(metrics.text().decode())}


def value(metrics: Metrics, sample: str, **labels: str) -> float:
    found = [
        each.value
        for family in families(metrics).values()
        for each in family.samples
        if each.name == sample and each.labels == labels
    ]
    assert len(found) == 1, f"{len(found)} samples of {sample} {labels}"
    return found[0]


def hostile(number: int) -> str:
    return f"{HOSTILE[number % len(HOSTILE)]}{number}"


def count_everything(metrics: Metrics, name: str) -> None:
    metrics.turn_started()
    metrics.turn_ended(name)
    metrics.model_answered(name, 0.1)
    metrics.model_failed(name)
    metrics.tokens_used(name, 3, 2, 1)
    metrics.call_finished(name, name, 0.1)
    metrics.mcp_called(name, name, 0.1)
    metrics.poll_ended(name)
    metrics.notification_settled(name, name)


def test_turns_calls_and_answers_are_counted() -> None:
    metrics = Metrics(tools=["bash"], models=["main"])
    metrics.turn_started()
    metrics.turn_started()
    metrics.turn_ended("idle")
    metrics.call_finished("bash", "ok", 0.02)
    metrics.model_answered("main", 1.5)
    metrics.lease_lost()
    assert value(metrics, "redshank_turns_running") == 1
    assert value(metrics, "redshank_turns_total", end="idle") == 1
    assert value(metrics, "redshank_calls_total", outcome="ok", tool="bash") == 1
    assert value(metrics, "redshank_model_seconds_sum", model="main") == 1.5
    assert value(metrics, "redshank_leases_lost_total") == 1


def test_tokens_are_counted_by_model_and_kind_and_never_downwards() -> None:
    metrics = Metrics(models=["main"])
    metrics.tokens_used("main", 100, 20, 60)
    metrics.tokens_used("main", 10, -5, 0)
    assert value(metrics, "redshank_tokens_total", model="main", kind="input") == 110
    assert value(metrics, "redshank_tokens_total", model="main", kind="output") == 20
    assert value(metrics, "redshank_tokens_total", model="main", kind="cached") == 60


@pytest.mark.req("B-10")
@pytest.mark.fault("F30")
@pytest.mark.fault("F41")
def test_a_due_time_is_counted_with_its_lateness_and_the_goal_is_a_bucket() -> None:
    metrics = Metrics()
    for lateness in (-0.3, 0.2, 0.249, 0.26):
        metrics.due_fired(lateness)
    assert value(metrics, "redshank_due_lateness_seconds_bucket", le="0.25") == 3
    assert value(metrics, "redshank_due_lateness_seconds_count") == 4
    assert value(metrics, "redshank_due_lateness_seconds_sum") == pytest.approx(0.709)


@pytest.mark.req("T-43")
@pytest.mark.fault("F42")
def test_a_refused_service_token_does_not_hide_among_failed_notifications() -> None:
    metrics = Metrics()
    for status in ("sent", "unauthorized", "failed", "teapot"):
        metrics.notification_settled("discord", status)
    samples = families(metrics)["redshank_notifications"].samples
    counted = {
        each.labels["status"]: each.value for each in samples if each.name.endswith("_total")
    }
    assert counted == {"sent": 1, "unauthorized": 1, "failed": 1, "other": 1}


@pytest.mark.req("T-50")
def test_polls_and_calls_to_mcp_servers_are_counted_by_outcome() -> None:
    metrics = Metrics(servers=["wiki"])
    metrics.poll_ended("ok")
    metrics.mcp_called("wiki", "timeout", 30.0)
    metrics.mcp_called("unheard-of", "ok", 0.1)
    assert value(metrics, "redshank_watch_polls_total", outcome="ok") == 1
    assert value(metrics, "redshank_mcp_calls_total", server="wiki", outcome="timeout") == 1
    assert value(metrics, "redshank_mcp_calls_total", server="other", outcome="ok") == 1
    assert value(metrics, "redshank_mcp_call_seconds_count", server="wiki") == 1


@pytest.mark.fault("F32")
def test_a_name_outside_the_known_sets_is_counted_as_other() -> None:
    metrics = Metrics(tools=["bash"], models=["main"], servers=["wiki"])
    for number in range(50):
        count_everything(metrics, hostile(number))
    counted = Counter(
        text
        for family in families(metrics).values()
        if family.name.startswith("redshank_")
        for sample in family.samples
        for label, text in sample.labels.items()
        if label not in ("le", "kind")
    )
    assert set(counted) == {"other"}


@pytest.mark.fault("F32")
def test_ten_thousand_names_make_no_more_series_than_two() -> None:
    few, many = (Metrics(tools=["bash"], models=["main"], servers=["wiki"]) for _ in range(2))
    for metrics in (few, many):
        count_everything(metrics, "never-configured")
    for number in range(MANY):
        count_everything(many, hostile(number))

    def series(metrics: Metrics) -> set[tuple[str, tuple[tuple[str, str], ...]]]:
        return {
            (sample.name, tuple(sorted(sample.labels.items())))
            for family in families(metrics).values()
            for sample in family.samples
            if family.name.startswith("redshank_")
        }

    assert series(many) == series(few)
    calls = value(many, "redshank_calls_total", tool="other", outcome="other")
    assert calls == MANY + 1


@pytest.mark.fault("F32")
@pytest.mark.parametrize(
    ("header", "may"),
    [
        ("Bearer scrape-token-of-ours", True),
        ("bearer  scrape-token-of-ours ", True),
        ("Bearer scrape-token-of-ourz", False),
        ("Basic scrape-token-of-ours", False),
        ("Bearer é", False),
        ("Bearer", False),
        ("", False),
    ],
)
def test_only_the_whole_token_as_bearer_lets_a_scrape_in(header: str, may: bool) -> None:
    assert may_scrape(header, "scrape-token-of-ours") is may
    assert may_scrape(header, "") is True


@pytest.mark.fault("F32")
def test_a_token_file_that_is_missing_or_too_short_is_refused_by_its_key(tmp_path: Path) -> None:
    file = tmp_path / "metrics.token"
    assert metrics_token(MetricsSettings()) == ""
    for prepare in (lambda: None, lambda: file.write_text("short\n"), lambda: file.write_text("é")):
        prepare()
        with pytest.raises(Misconfigured) as caught:
            metrics_token(MetricsSettings(token_file=str(file)))
        assert caught.value.field == "metrics.token_file"
    file.write_text("scrape-token-of-ours\n")
    assert metrics_token(MetricsSettings(token_file=str(file))) == "scrape-token-of-ours"
