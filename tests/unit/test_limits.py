"""Bounds of a turn refuse what passes them, in words that a model can act on."""

from typing import Any

import msgspec
import pytest

from redshank_shared.domain.delivered import Delivered
from redshank_shared.domain.errors import Invalid
from redshank_shared.domain.events import TurnCancelled
from redshank_shared.domain.limits import (
    Limits,
    Oversize,
    checked,
    clamped_seconds,
    oversize_of,
    refusal_of_batch,
    refusal_of_input,
    refusal_of_more,
    refusal_of_sandbox,
)
from tests.unit.log_builders import answered, asked, finished, folded, posted, then


@pytest.mark.req("K-81")
def test_the_limits_are_those_of_the_requirement() -> None:
    limits = Limits()

    assert limits.max_input_bytes == 16 * 1024 * 1024
    assert limits.max_output_bytes == 16 * 1024 * 1024
    assert limits.max_timeout_ms == 180_000
    assert limits.max_parallel_tools == 16
    assert limits.max_calls_per_turn == 256
    assert limits.max_result_envelope_bytes == 24 * 1024 * 1024
    assert limits.max_cumulative_output_bytes == 64 * 1024 * 1024
    assert limits.max_cumulative_result_envelope_bytes == 96 * 1024 * 1024
    assert limits.max_sandbox == "network_enabled"


@pytest.mark.req("K-81")
@pytest.mark.parametrize("value", [0, -1, 2**53])
@pytest.mark.parametrize(
    "name", [name for name in Limits.__struct_fields__ if name != "max_sandbox"]
)
def test_a_limit_of_zero_or_below_is_refused_by_its_name(name: str, value: int) -> None:
    limits = msgspec.structs.replace(Limits(), **{name: value})

    with pytest.raises(Invalid) as caught:
        checked(limits)

    assert caught.value.field == f"limits.{name}"
    assert f"limits.{name} is {value}; it must be above 0" in caught.value.detail


@pytest.mark.req("K-81")
def test_an_unknown_sandbox_is_refused_with_those_that_there_are() -> None:
    wrong: Any = "everything"

    with pytest.raises(Invalid, match="inherited, read_only, workspace_write, network_enabled"):
        checked(Limits(max_sandbox=wrong))


@pytest.mark.req("K-81")
def test_limits_of_one_are_the_smallest() -> None:
    assert checked(Limits(1, 1, 1, 1, 1, 1, 1, 1, "inherited"))


@pytest.mark.req("K-81")
@pytest.mark.parametrize(
    ("most", "runs"),
    [
        ("inherited", ["inherited"]),
        ("read_only", ["inherited", "read_only"]),
        ("workspace_write", ["inherited", "read_only", "workspace_write"]),
        ("network_enabled", ["inherited", "read_only", "workspace_write", "network_enabled"]),
    ],
)
def test_a_tool_runs_where_its_sandbox_is_no_wider_than_the_widest(
    most: Any, runs: list[Any]
) -> None:
    limits = Limits(max_sandbox=most)

    for sandbox in ("inherited", "read_only", "workspace_write", "network_enabled"):
        refusal = refusal_of_sandbox(limits, sandbox)
        assert (refusal is None) is (sandbox in runs)
        assert refusal is None or refusal.startswith("quota max_sandbox")


@pytest.mark.req("K-82")
def test_the_time_of_a_tool_is_clamped() -> None:
    assert clamped_seconds(Limits(), 630.0) == 180.0
    assert clamped_seconds(Limits(), 60.0) == 60.0


@pytest.mark.req("O8")
@pytest.mark.fault("F15")
@pytest.mark.parametrize(
    ("output", "size"), [("x" * 10, None), ("x" * 11, 11), ("é" * 5, None), ("é" * 6, 12)]
)
def test_an_output_is_measured_in_bytes(output: str, size: int | None) -> None:
    found = oversize_of(Limits(max_output_bytes=10), output)

    assert found == (None if size is None else Oversize("max_output_bytes", 10, size))


@pytest.mark.req("K-81")
def test_an_envelope_is_the_output_as_json_text() -> None:
    limits = Limits(max_output_bytes=10, max_result_envelope_bytes=20)

    assert oversize_of(limits, "x" * 10) is None
    # Six characters of JSON for each, two quotation marks.
    assert oversize_of(limits, "\x01" * 4) == Oversize("max_result_envelope_bytes", 20, 26)


@pytest.mark.req("K-83")
@pytest.mark.parametrize(
    ("delivered", "quota"),
    [
        (Delivered(100, 200), None),
        (Delivered(101, 103), "max_cumulative_output_bytes"),
        (Delivered(90, 201), "max_cumulative_result_envelope_bytes"),
    ],
)
def test_passing_a_cumulative_limit_ends_what_a_turn_may_start(
    delivered: Delivered, quota: str | None
) -> None:
    limits = Limits(max_cumulative_output_bytes=100, max_cumulative_result_envelope_bytes=200)

    refusal = refusal_of_more(limits, delivered)

    assert (refusal is not None) is (quota is not None)
    assert refusal is None or refusal.startswith(f"quota {quota}")


@pytest.mark.req("K-83")
def test_results_are_counted_over_a_turn_and_from_zero_in_the_next() -> None:
    one = folded(
        posted(), answered(2, asked("c1"), asked("c2")), finished("c1", "é"), finished("c2", '"')
    )

    assert one.delivered == Delivered(3, 8)
    assert then(one, answered(5, asked("c3"))).delivered == Delivered(3, 8)
    assert then(one, answered(5)).delivered == Delivered()
    assert then(one, TurnCancelled("ada")).delivered == Delivered()


@pytest.mark.req("K-4", "K-81")
@pytest.mark.parametrize(
    ("arguments", "refused"),
    [("x" * 10, False), ("x" * 11, True), ("é" * 5, False), ("é" * 6, True), ("\ud800" * 4, True)],
)
def test_arguments_are_measured_in_bytes(arguments: str, refused: bool) -> None:
    refusal = refusal_of_input(Limits(max_input_bytes=10), arguments)

    assert (refusal is not None) is refused


def test_a_refusal_of_arguments_names_the_quota_the_size_and_the_limit() -> None:
    refusal = refusal_of_input(Limits(max_input_bytes=10), "x" * 11)

    assert refusal is not None
    assert refusal.startswith("quota max_input_bytes")
    assert "11 bytes" in refusal
    assert "limit is 10" in refusal


@pytest.mark.req("O7")
@pytest.mark.parametrize(
    ("before", "now", "refused"), [(0, 256, False), (0, 257, True), (255, 1, False), (255, 2, True)]
)
def test_a_batch_that_passes_the_calls_of_a_turn_is_refused_whole(
    before: int, now: int, refused: bool
) -> None:
    refusal = refusal_of_batch(Limits(), before, now)

    assert (refusal is not None) is refused
    if refusal:
        assert refusal.startswith("quota max_calls_per_turn")
        assert "no call of this batch ran" in refusal


@pytest.mark.req("O7")
def test_calls_are_counted_over_the_batches_of_a_turn_and_from_zero_in_the_next() -> None:
    one = folded(posted(), answered(2, asked("c1"), asked("c2")), finished("c1"), finished("c2"))
    two = then(one, answered(5, asked("c3")))

    assert (one.calls_in_turn, two.calls_in_turn) == (2, 3)
    assert then(two, finished("c3"), answered(7)).calls_in_turn == 0
    assert then(two, finished("c3"), answered(7)).call_count == 3
