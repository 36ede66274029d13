"""The limits that the next batch runs under."""

import pytest

from redshank_node.engine.limits_in_force import BatchLimits, LimitsInForce
from redshank_shared.domain.errors import Unavailable
from redshank_shared.domain.limits import Limits


class Store:
    """What was set last, if the database answers; `now` is its clock."""

    def __init__(self) -> None:
        self.limits: Limits | None = None
        self.answers = True
        self.reads = 0
        self.now = 100.0

    async def read(self) -> Limits | None:
        self.reads += 1
        if not self.answers:
            raise Unavailable("the database does not answer")
        return self.limits


@pytest.mark.req("K-84")
async def test_while_the_database_is_away_the_last_known_limits_count() -> None:
    store = Store()
    in_force = LimitsInForce(Limits(), store.read, lambda: store.now)
    store.limits = Limits(max_calls_per_turn=7)
    assert (await in_force.current()).max_calls_per_turn == 7
    store.answers, store.now = False, 102.0
    assert (await in_force.current()).max_calls_per_turn == 7
    assert store.reads == 2


@pytest.mark.req("K-84")
async def test_limits_are_read_again_after_a_second_and_reach_only_the_next_batch() -> None:
    store = Store()
    in_force = LimitsInForce(Limits(max_calls_per_turn=9), store.read, lambda: store.now)
    batch = BatchLimits(in_force)
    await batch.renew()
    store.limits, store.now = Limits(max_calls_per_turn=7), 100.9
    await batch.renew()
    assert (batch.now.max_calls_per_turn, store.reads) == (9, 1)
    store.now = 101.0
    assert (await in_force.current()).max_calls_per_turn == 7
    assert batch.now.max_calls_per_turn == 9
    await batch.renew()
    assert batch.now.max_calls_per_turn == 7
