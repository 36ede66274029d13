"""Permission audits: every decision on a call, in order."""

import msgspec
from sqlalchemy import func, select

from redshank_shared.domain.events import CallDecided
from redshank_shared.stores.database import Database
from redshank_shared.stores.paging import Page, checked_limit, cut, decode_cursor, encode_cursor
from redshank_shared.stores.tables import permission_audits

_decode_fact = msgspec.json.Decoder(CallDecided).decode


class AuditRow(msgspec.Struct, frozen=True):
    """One decision, with its place in the workstream's log. `at`: RFC 3339 UTC."""

    seq: int
    at: str
    decided: CallDecided


class Audits:
    """Reads only: an audit is written with the decision's append."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def of_workstream(
        self, workstream_id: str, limit: int = 50, cursor: str | None = None
    ) -> Page[AuditRow]:
        """The decisions of a workstream, oldest first; Invalid names `limit` or `cursor`."""
        limit = checked_limit(limit)
        columns = permission_audits.c
        own = columns.workstream_id == workstream_id
        statement = select(columns.seq, columns.at, columns.fact).where(own).order_by(columns.seq)
        if cursor is not None:
            statement = statement.where(columns.seq > decode_cursor(cursor, int))
        counting = select(func.count()).select_from(permission_audits).where(own)
        with self._database.read() as connection:
            total = connection.execute(counting).scalar_one()
            rows = list(connection.execute(statement.limit(limit + 1)))
        rows, more = cut(rows, limit)
        items = tuple(AuditRow(row.seq, row.at, _decode_fact(row.fact)) for row in rows)
        return Page(items, encode_cursor(rows[-1].seq) if more else None, total)
