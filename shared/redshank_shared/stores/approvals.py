"""Approvals: what waits for a person, who answered."""

from typing import Any

import msgspec
from sqlalchemy import Row, Select, select

from redshank_shared.domain.events import ApprovalRequested
from redshank_shared.stores.database import Database
from redshank_shared.stores.paging import Page
from redshank_shared.stores.tables import approvals, workstreams
from redshank_shared.stores.timed_pages import timed_page

_decode_request = msgspec.json.Decoder(ApprovalRequested).decode


class ApprovalRow(msgspec.Struct, frozen=True):
    """A request with its outcome. Times are RFC 3339 UTC.

    `state`: pending, allowed, denied or cancelled. `owner`, `workstream_name`: of its workstream.
    """

    workstream_id: str
    owner: str
    workstream_name: str
    request: ApprovalRequested
    state: str
    requested_at: str
    resolved_at: str | None
    resolved_by: str | None
    scope: str | None
    reason: str | None


class Approvals:
    """Reads only: an approval comes and changes with an append."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def pending(self, limit: int = 50, cursor: str | None = None) -> Page[ApprovalRow]:
        """What waits in all workstreams, oldest first; Invalid names `limit` or `cursor`."""
        listed = _whole().where(approvals.c.state == "pending")
        order = (approvals.c.requested_at, approvals.c.request_id)
        page = timed_page(self._database, listed, order, limit, cursor)
        return Page(tuple(_view(row) for row in page.items), page.next_cursor, page.total)

    def decided(self, limit: int = 50, cursor: str | None = None) -> Page[ApprovalRow]:
        """What waits no more, in all workstreams, decided last first; Invalid as above."""
        listed = _whole().where(approvals.c.state != "pending")
        order = (approvals.c.resolved_at, approvals.c.request_id)
        page = timed_page(self._database, listed, order, limit, cursor, newest_first=True)
        return Page(tuple(_view(row) for row in page.items), page.next_cursor, page.total)

    def of_workstream(self, workstream_id: str) -> list[ApprovalRow]:
        """All that this workstream ever asked for, oldest first."""
        statement = (
            _whole()
            .where(approvals.c.workstream_id == workstream_id)
            .order_by(approvals.c.requested_at, approvals.c.request_id)
        )
        with self._database.read() as connection:
            return [_view(row) for row in connection.execute(statement)]

    def get(self, request_id: str) -> ApprovalRow | None:
        """The approval of this id, if there is one."""
        statement = _whole().where(approvals.c.request_id == request_id)
        with self._database.read() as connection:
            row = connection.execute(statement).first()
        return None if row is None else _view(row)


def _whole() -> Select[Any]:
    return select(
        approvals, workstreams.c.owner, workstreams.c.name.label("workstream_name")
    ).join_from(approvals, workstreams, workstreams.c.id == approvals.c.workstream_id)


def _view(row: Row[Any]) -> ApprovalRow:
    return ApprovalRow(
        workstream_id=row.workstream_id,
        owner=row.owner,
        workstream_name=row.workstream_name,
        request=_decode_request(row.request),
        state=row.state,
        requested_at=row.requested_at,
        resolved_at=row.resolved_at,
        resolved_by=row.resolved_by,
        scope=row.scope,
        reason=row.reason,
    )
