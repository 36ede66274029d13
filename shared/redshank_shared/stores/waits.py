"""Approvals, questions whose time has run out while nobody answered."""

from typing import Literal

import msgspec
from sqlalchemy import Table, select

from redshank_shared.stores.database import Database
from redshank_shared.stores.dialect import now_seconds
from redshank_shared.stores.tables import approvals, questions


class ExpiredWait(msgspec.Struct, frozen=True):
    """A request to end, by its kind."""

    kind: Literal["approval", "question"]
    workstream_id: str
    request_id: str


class Waits:
    """Reads only: who ends a wait appends."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def expired(self, limit: int = 200) -> list[ExpiredWait]:
        """At most so many of each kind, the longest expired first, by the database's clock."""
        found: list[ExpiredWait] = []
        kinds: tuple[tuple[Literal["approval", "question"], Table], ...] = (
            ("approval", approvals),
            ("question", questions),
        )
        with self._database.read() as connection:
            for kind, table in kinds:
                statement = (
                    select(table.c.workstream_id, table.c.request_id)
                    .where(table.c.state == "pending", table.c.expires_at <= now_seconds())
                    .order_by(table.c.expires_at)
                    .limit(limit)
                )
                found += [ExpiredWait(kind, *row) for row in connection.execute(statement)]
        return found
