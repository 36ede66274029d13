"""The registry: which processes there are, when each was heard of last."""

from collections.abc import Sequence
from typing import Any, Literal

import msgspec
from sqlalchemy import Select, delete, select, update

from redshank_shared.stores.database import Database
from redshank_shared.stores.dialect import now_seconds
from redshank_shared.stores.tables import services

# Every database takes this many values in one statement.
_MOST_IDS = 500

ServiceKind = Literal["node", "console", "gateway"]


class ServiceRow(msgspec.Struct, frozen=True):
    """A process as it described itself. `report`: JSON text; `started_at`: RFC 3339 UTC.

    `age_seconds`: since its last heartbeat, by the database's clock; 0 in what a process registers.
    `surface`: its tools as JSON text, in what a node registers; read by `surfaces` alone.
    """

    service_id: str
    kind: ServiceKind
    address: str
    version: str
    started_at: str
    report: str
    age_seconds: float = 0.0
    surface: str = ""


class Beat(msgspec.Struct, frozen=True):
    """When a process was heard of last: `age_seconds` ago, by the database's clock."""

    service_id: str
    kind: str
    version: str
    age_seconds: float


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
            "surface": row.surface,
            "heartbeat_at": now_seconds(),
        }
        statement = self._database.dialect.insert(services).values(
            service_id=row.service_id, mcp="", **values
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

    def offer(self, service_id: str, surface: str) -> None:
        """Replace what the process offers, where its tools changed while it runs."""
        statement = (
            update(services).where(services.c.service_id == service_id).values(surface=surface)
        )
        with self._database.begin() as connection:
            connection.execute(statement)

    def describe(self, service_id: str, surface: str, mcp: str) -> bool:
        """Replace what the process offers with what its MCP servers do; False if it must register
        first.
        """
        statement = (
            update(services)
            .where(services.c.service_id == service_id)
            .values(surface=surface, mcp=mcp)
        )
        with self._database.begin() as connection:
            return connection.execute(statement).rowcount == 1

    def is_described(self, service_id: str) -> bool:
        """Whether what the process said of its MCP servers still stands there."""
        columns = services.c
        statement = select(columns.mcp != "").where(columns.service_id == service_id)
        with self._database.read() as connection:
            return bool(connection.execute(statement).scalar())

    def catalogues(self, service_ids: Sequence[str]) -> dict[str, str]:
        """What the MCP servers of these processes offer, as they said it, by id."""
        columns = services.c
        found: dict[str, str] = {}
        with self._database.read() as connection:
            for begin in range(0, len(service_ids), _MOST_IDS):
                ids = service_ids[begin : begin + _MOST_IDS]
                statement = select(columns.service_id, columns.mcp).where(
                    columns.service_id.in_(ids)
                )
                found.update((each, mcp) for each, mcp in connection.execute(statement))
        return found

    def surfaces(self, within_seconds: float) -> list[str]:
        """The different surfaces of the nodes heard of within so long, each once, as registered."""
        columns = services.c
        heard = columns.heartbeat_at >= now_seconds() - within_seconds
        statement = (
            select(columns.surface)
            .where(columns.kind == "node", heard, columns.surface != "")
            .distinct()
            .order_by(columns.surface)
        )
        with self._database.read() as connection:
            return [surface for (surface,) in connection.execute(statement)]

    def tell(self, row: ServiceRow) -> bool:
        """Write the process down as alive, new or known; False, and nothing written, where the id
        is that of a process of another kind.
        """
        known = (services.c.service_id == row.service_id) & (services.c.kind == row.kind)
        beat = update(services).where(known)
        said = {"address": row.address, "version": row.version, "report": row.report}
        new = self._database.dialect.insert(services).values(
            service_id=row.service_id,
            kind=row.kind,
            started_at=row.started_at,
            surface="",
            mcp="",
            heartbeat_at=now_seconds(),
            **said,
        )
        with self._database.begin() as connection:
            if connection.execute(beat.values(heartbeat_at=now_seconds(), **said)).rowcount == 1:
                return True
            inserted = new.on_conflict_do_nothing().returning(services.c.service_id)
            return connection.execute(inserted).first() is not None

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

    def beats(self) -> list[Beat]:
        """Every process that did not leave, without its report: small enough to ask each second."""
        columns = services.c
        age = now_seconds() - columns.heartbeat_at
        statement = select(columns.service_id, columns.kind, columns.version, age)
        with self._database.read() as connection:
            return [Beat(*row) for row in connection.execute(statement)]

    def named(self, service_ids: Sequence[str]) -> list[ServiceRow]:
        """The processes of these ids, whatever kind; those that left are missing."""
        found: list[ServiceRow] = []
        for begin in range(0, len(service_ids), _MOST_IDS):
            ids = service_ids[begin : begin + _MOST_IDS]
            found += self._rows(_all_rows().where(services.c.service_id.in_(ids)))
        return found

    def forget(self, silent_for_seconds: float) -> int:
        """Take out the processes that were silent for longer; how many they were."""
        silent = services.c.heartbeat_at < now_seconds() - silent_for_seconds
        with self._database.begin() as connection:
            return connection.execute(delete(services).where(silent)).rowcount

    def _rows(self, statement: Select[Any]) -> list[ServiceRow]:
        with self._database.read() as connection:
            return [ServiceRow(*row) for row in connection.execute(statement)]


def _rows(kind: ServiceKind) -> Select[Any]:
    return _all_rows().where(services.c.kind == kind)


def _all_rows() -> Select[Any]:
    columns = services.c
    return select(
        columns.service_id,
        columns.kind,
        columns.address,
        columns.version,
        columns.started_at,
        columns.report,
        now_seconds() - columns.heartbeat_at,
    ).order_by(columns.service_id)
