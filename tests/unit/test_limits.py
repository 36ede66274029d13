"""Bounds of a turn refuse what passes them, in words that a model can act on."""

import pytest

from redshank_shared.domain.limits import Limits, refusal_of_batch, refusal_of_input
from tests.unit.log_builders import answered, asked, finished, folded, posted, then


@pytest.mark.req("K-81")
def test_the_limits_are_those_of_the_requirement() -> None:
    limits = Limits()

    assert limits.max_input_bytes == 16 * 1024 * 1024
    assert limits.max_output_bytes == 16 * 1024 * 1024
    assert limits.max_timeout_ms == 180_000
    assert limits.max_parallel_tools == 16
    assert limits.max_calls_per_turn == 256


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
