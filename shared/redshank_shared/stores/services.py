"""The registry: which processes there are, when each was heard of last."""

from typing import Any, Literal

import msgspec
from sqlalchemy import Select, delete, select, update

from redshank_shared.stores.database import Database
from redshank_shared.stores.dialect import now_seconds
from redshank_shared.stores.tables import services

ServiceKind = Literal["node", "console", "gateway"]


class ServiceRow(msgspec.Struct, frozen=True):
    """A process as it described itself. `report`: JSON text; `started_at`: RFC 3339 UTC.

    `age_seconds`: since its last heartbeat, by the database's clock; 0 in what a process registers.
    """

    service_id: str
    kind: ServiceKind
    address: str
    version: str
    started_at: str
    report: str
    age_seconds: float = 0.0


class Services:
    """One row a process start; ids are never used again."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def register(self, row: ServiceRow) -> None:
        """Write the process down as alive; what stood under its id is replaced."""
        values: dict[str, Any] = {
            "kind": row.kind,
            "address": row.address,
            "version": row.version,
            "started_at": row.started_at,
            "report": row.report,
            "heartbeat_at": now_seconds(),
        }
        statement = self._database.dialect.insert(services).values(
            service_id=row.service_id, **values
        )
        with self._database.begin() as connection:
            connection.execute(
                statement.on_conflict_do_update(index_elements=[services.c.service_id], set_=values)
            )

    def heartbeat(self, service_id: str, report: str) -> bool:
        """Write down that the process lives, with its report; False if it must register again."""
        statement = (
            update(services)
            .where(services.c.service_id == service_id)
            .values(report=report, heartbeat_at=now_seconds())
        )
        with self._database.begin() as connection:
            return connection.execute(statement).rowcount == 1

    def leave(self, service_id: str) -> None:
        """Take the process out of the registry."""
        with self._database.begin() as connection:
            connection.execute(delete(services).where(services.c.service_id == service_id))

    def live(self, kind: ServiceKind, within_seconds: float) -> list[ServiceRow]:
        """The processes of this kind heard of within so long, by id."""
        heard = services.c.heartbeat_at >= now_seconds() - within_seconds
        return self._rows(_rows(kind).where(heard))

    def all(self, kind: ServiceKind) -> list[ServiceRow]:
        """Every process of this kind that did not leave, by id."""
        return self._rows(_rows(kind))

    def forget(self, silent_for_seconds: float) -> int:
        """Take out the processes that were silent for longer; how many they were."""
        silent = services.c.heartbeat_at < now_seconds() - silent_for_seconds
        with self._database.begin() as connection:
            return connection.execute(delete(services).where(silent)).rowcount

    def _rows(self, statement: Select[Any]) -> list[ServiceRow]:
        with self._database.read() as connection:
            return [ServiceRow(*row) for row in connection.execute(statement)]


def _rows(kind: ServiceKind) -> Select[Any]:
    columns = services.c
    return (
        select(
            columns.service_id,
            columns.kind,
            columns.address,
            columns.version,
            columns.started_at,
            columns.report,
            now_seconds() - columns.heartbeat_at,
        )
        .where(columns.kind == kind)
        .order_by(columns.service_id)
    )
