"""Answers which schedules there are, how each stands."""

from redshank_console.services.schedule_views import history_of, view_of
from redshank_shared.domain.errors import NotFound
from redshank_shared.stores.database import Database
from redshank_shared.stores.last_runs import LastRuns
from redshank_shared.stores.paging import Page
from redshank_shared.stores.schedules import Run, ScheduleRow, Schedules
from redshank_shared.stores.text import storable
from redshank_shared.wire.schedule_views import ScheduleHistoryView, ScheduleView
from redshank_shared.wire.views import PageView


class ScheduleReading:
    """Reads only. Every method raises Unavailable while the database does not answer."""

    def __init__(self, database: Database, schedules: Schedules, last_runs: LastRuns) -> None:
        self._database = database
        self._schedules = schedules
        self._last_runs = last_runs

    async def page(
        self, workstream_id: str, limit: int, cursor: str | None
    ) -> PageView[ScheduleView]:
        """Schedules, or with an id those of one workstream, the newest first.

        Invalid names limit or cursor (F69).
        """
        page, last = await self._database.run(self._page_and_last, workstream_id, limit, cursor)
        return PageView(
            items=[view_of(row, last.get(row.schedule_id)) for row in page.items],
            next_cursor=page.next_cursor,
            total=page.total,
        )

    async def schedule(self, schedule_id: str) -> ScheduleHistoryView:
        """One schedule with its last runs (K-91); NotFound."""
        row, runs = await self._database.run(self._row_and_runs, schedule_id)
        return history_of(row, runs)

    async def standing(self, schedule_id: str) -> tuple[ScheduleRow, Run | None]:
        """The row with the last of its runs; NotFound."""
        return await self._database.run(self._row_and_last, schedule_id)

    def _page_and_last(
        self, workstream_id: str, limit: int, cursor: str | None
    ) -> tuple[Page[ScheduleRow], dict[str, Run]]:
        page = self._schedules.page(workstream_id, limit, cursor)
        return page, self._last_runs.of([row.schedule_id for row in page.items])

    def _row_and_runs(self, schedule_id: str) -> tuple[ScheduleRow, tuple[Run, ...]]:
        row = self._row(schedule_id)
        return row, self._schedules.runs_of(row.schedule_id)

    def _row_and_last(self, schedule_id: str) -> tuple[ScheduleRow, Run | None]:
        row = self._row(schedule_id)
        return row, self._last_runs.of([row.schedule_id]).get(row.schedule_id)

    def _row(self, schedule_id: str) -> ScheduleRow:
        row = self._schedules.get(storable(schedule_id))
        if row is None:
            raise NotFound(
                f"there is no schedule {schedule_id}; list them with GET /v1/schedules",
                code="schedule_not_found",
                field="id",
            )
        return row
