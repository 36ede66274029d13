"""Identities sort by time, differ by chance, and a malformed one is refused with its shape."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from redshank_shared.domain.errors import Invalid
from redshank_shared.domain.ids import checked_id, new_id

CHANCE = st.binary(min_size=8, max_size=8)
TIMES = st.integers(0, 2**50 - 1)


@settings(max_examples=100, deadline=None, database=None)
@given(TIMES, CHANCE)
def test_a_new_id_has_the_shape_that_is_checked(now_ms: int, chance: bytes) -> None:
    value = new_id("ws", now_ms, chance)

    assert len(value) == len("ws_") + 22
    assert checked_id("ws", value, "id") == value


@settings(max_examples=100, deadline=None, database=None)
@given(TIMES, TIMES, CHANCE, CHANCE)
def test_ids_sort_by_time(early: int, late: int, one: bytes, other: bytes) -> None:
    early, late = sorted((early, late))

    if early < late:
        assert new_id("ws", early, one) < new_id("ws", late, other)


def test_ids_of_one_moment_differ_by_sixty_bits_of_chance() -> None:
    chances = [(1 << bit).to_bytes(8, "big") for bit in range(4, 64)]

    assert len({new_id("ws", 0, chance) for chance in chances}) == 60


@pytest.mark.parametrize(
    "value",
    [
        "",
        "ws_",
        "ws_000000000000000000000",
        "ws_00000000000000000000000",
        "ws_000000000000000000000u",
        "ws_000000000000000000000I",
        "ws_000000000000000000000٣",
        "ws_0000000000000000000000\n",
        " ws_0000000000000000000000",
        "ws_00000000000/../00000000",
        "apr_0000000000000000000000",
        "WS_0000000000000000000000",
    ],
)
def test_a_malformed_id_is_refused_with_the_field_and_the_shape(value: str) -> None:
    with pytest.raises(Invalid, match="workstream must look like ws_ and 22 letters") as refused:
        checked_id("ws", value, "workstream")

    assert refused.value.field == "workstream"
    assert refused.value.code == "malformed_id"
