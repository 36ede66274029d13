"""The latest run of each of many schedules."""

from collections.abc import Sequence

from sqlalchemy import and_, func, select

from redshank_shared.stores.database import Database
from redshank_shared.stores.schedules import Run
from redshank_shared.stores.tables import schedule_runs, schedules


class LastRuns:
    """Reads only: a list of schedules costs one statement, however long their histories are."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def of(self, schedule_ids: Sequence[str]) -> dict[str, Run]:
        """By schedule; one that was never due is left out."""
        if not schedule_ids:
            return {}
        earlier = schedule_runs.alias()
        # One descent into the index of due times a schedule, where grouping would read every run.
        latest = (
            select(func.max(earlier.c.due_at))
            .where(earlier.c.schedule_id == schedules.c.schedule_id)
            .scalar_subquery()
        )
        of_it = and_(
            schedule_runs.c.schedule_id == schedules.c.schedule_id,
            schedule_runs.c.due_at == latest,
        )
        columns = [schedule_runs.c[name] for name in Run.__struct_fields__]
        statement = (
            select(*columns)
            .select_from(schedules.join(schedule_runs, of_it))
            .where(schedules.c.schedule_id.in_(schedule_ids))
        )
        with self._database.read() as connection:
            runs = [Run(*row) for row in connection.execute(statement)]
        return {run.schedule_id: run for run in runs}
