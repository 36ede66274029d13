"""The record of administrative acts: who did what to which thing."""

from typing import Any

import msgspec
from sqlalchemy import Connection, func, select, tuple_

from redshank_shared.stores.database import Database
from redshank_shared.stores.paging import Page, checked_limit, cut, decode_cursor, encode_cursor
from redshank_shared.stores.tables import admin_audits
from redshank_shared.stores.text import storable


class AdminAct(msgspec.Struct, frozen=True):
    """One act. `at`: RFC 3339 UTC; `act`: such as `user.created`; `detail` never holds a secret."""

    audit_id: str
    at: str
    who: str
    act: str
    target: str
    detail: str = ""


class AdminAudits:
    """Rows are only ever added."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def append(self, act: AdminAct) -> None:
        """Write the act down."""
        with self._database.begin() as connection:
            write_act(connection, act)

    def page(
        self, who: str = "", act: str = "", limit: int = 50, cursor: str | None = None
    ) -> Page[AdminAct]:
        """Acts, the newest first, of one person or of one kind where named (B-33).

        Invalid names `limit` or `cursor`.
        """
        limit = checked_limit(limit)
        columns = admin_audits.c
        wanted = [
            column == storable(value)
            for column, value in ((columns.who, who), (columns.act, act))
            if value
        ]
        place = tuple_(columns.at, columns.audit_id)
        newest_first = (columns.at.desc(), columns.audit_id.desc())
        statement = select(*_columns()).where(*wanted).order_by(*newest_first)
        if cursor is not None:
            at, audit_id = decode_cursor(cursor, tuple[str, str])
            statement = statement.where(place < (at, audit_id))
        counting = select(func.count()).select_from(admin_audits).where(*wanted)
        with self._database.read() as connection:
            total = connection.execute(counting).scalar_one()
            rows = [AdminAct(*row) for row in connection.execute(statement.limit(limit + 1))]
        rows, more = cut(rows, limit)
        last = (rows[-1].at, rows[-1].audit_id) if more else None
        return Page(tuple(rows), None if last is None else encode_cursor(last), total)


def write_act(connection: Connection, act: AdminAct) -> None:
    """Write the act down in the transaction that carries it out."""
    values: dict[str, Any] = {
        name: storable(value) for name, value in msgspec.structs.asdict(act).items()
    }
    connection.execute(admin_audits.insert().values(values))


def _columns() -> tuple[Any, ...]:
    return tuple(admin_audits.c[name] for name in AdminAct.__struct_fields__)
