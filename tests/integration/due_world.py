"""Makes schedules due, takes what is due, as time and the clock would."""

import msgspec

from redshank_shared import clock
from redshank_shared.domain.cadence import Interval
from redshank_shared.stores.schedules import Run, Schedules
from redshank_shared.stores.tables import schedules as schedules_table
from tests.integration.engine_world import World, fresh_id


def take(schedules: Schedules) -> list[Run]:
    return schedules.take_due(lambda: fresh_id("run"))


def make_due(world: World, schedule_id: str) -> None:
    """Time passes until the next of its due times."""
    due_at = clock.now_ms() / 1000 - 0.1
    cadence = msgspec.json.encode(Interval(10, due_at - 10)).decode()
    with world.database.begin() as connection:
        connection.execute(
            schedules_table.update()
            .where(schedules_table.c.schedule_id == schedule_id)
            .values(next_due=due_at, cadence=cadence)
        )
