"""Reads the schedules of a workstream for the tools that show them."""

from redshank_shared.domain.scheduled import Scheduled
from redshank_shared.stores.database import Database
from redshank_shared.stores.paging import LARGEST_PAGE
from redshank_shared.stores.schedules import ScheduleRow, Schedules


class ScheduleReader:
    """The rows as tools see them."""

    def __init__(self, database: Database, schedules: Schedules) -> None:
        self._database = database
        self._schedules = schedules

    async def of(self, workstream_id: str) -> list[Scheduled]:
        """All of a workstream's, newest first, those that are over among them."""
        cursor: str | None = None
        found: list[Scheduled] = []
        while True:
            page = await self._database.run(
                self._schedules.page, workstream_id, LARGEST_PAGE, cursor
            )
            found.extend(map(_scheduled, page.items))
            cursor = page.next_cursor
            if cursor is None:
                return found


def _scheduled(row: ScheduleRow) -> Scheduled:
    return Scheduled(
        schedule_id=row.schedule_id,
        name=row.spec.name,
        kind=row.kind,
        state=row.state,
        cadence=row.cadence,
        next_due=row.next_due,
        runs=row.runs,
        message=row.spec.message,
        watch=row.spec.watch,
        last_output=row.last_output,
        detail=row.detail,
    )
