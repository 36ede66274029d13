"""MCP servers added at run time, the orders that every node carries out."""

from collections.abc import Callable, Iterable
from typing import Any, Literal

import msgspec
from sqlalchemy import Connection, Row, delete, select, update

from redshank_shared.domain.errors import Conflict, NotFound
from redshank_shared.stores.admin_audits import write_act
from redshank_shared.stores.database import Database
from redshank_shared.stores.idempotency import keep_entry
from redshank_shared.stores.mcp_tables import mcp_answers, mcp_servers
from redshank_shared.stores.permission_rules import Beside
from redshank_shared.stores.policy_revisions import moved, revision_in
from redshank_shared.stores.tables import services
from redshank_shared.stores.text import storable

REVISION = "mcp_servers"

Order = Literal["refresh", "reconnect"]


class StoredServer(msgspec.Struct, frozen=True):
    """A row of the overlay. `record`: the server as JSON text, "" where the row only carries orders
    for a server of the settings; `added_at`: RFC 3339 UTC. `revision`: that of its last change;
    the serials: those of its last orders. All three grow with one counter.
    """

    name: str
    record: str
    added_by: str
    added_at: str
    removed: bool = False
    revision: int = 0
    refresh_serial: int = 0
    reconnect_serial: int = 0


class Answered(msgspec.Struct, frozen=True):
    """What a node process did about a server's last orders: names that came, that went; `error`:
    why nothing could be fetched.
    """

    service_id: str
    name: str
    refresh_serial: int
    reconnect_serial: int
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    error: str = ""


class _Said(msgspec.Struct, frozen=True):
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    error: str = ""


_said = msgspec.json.Decoder(_Said).decode

MakeBeside = Callable[[StoredServer], Beside]


class McpServerRows:
    """Orders are numbers, so that none is lost while a node or Redis is away. Every change moves
    the revision `mcp_servers` in its own transaction: who saw revision N asks for what is above.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    def servers(self) -> tuple[StoredServer, ...]:
        """The servers that were added, by name."""
        columns = mcp_servers.c
        there = select(mcp_servers).where(columns.removed.is_(False), columns.record != "")
        with self._database.read() as connection:
            return tuple(_row(row) for row in connection.execute(there.order_by(columns.name)))

    def changed(self, since: int) -> tuple[int, tuple[StoredServer, ...]]:
        """The revision with every row that changed after `since`, removed ones among them, in the
        order of their changes.
        """
        columns = mcp_servers.c
        newer = select(mcp_servers).where(columns.revision > since).order_by(columns.revision)
        with self._database.read() as connection:
            rows = tuple(_row(row) for row in connection.execute(newer))
            return max((since, revision_in(connection, REVISION))), rows

    def add(self, row: StoredServer, beside: MakeBeside) -> StoredServer:
        """Write the server down; Conflict where one of that name was added."""

        def check(known: StoredServer | None) -> None:
            if known is not None:
                raise Conflict(
                    f"an MCP server {row.name} was added already: replace it, remove it first, or "
                    "choose another name",
                    code="mcp_name_taken",
                    field="name",
                )

        return self._put(row, check, beside)

    def replace(self, row: StoredServer, beside: MakeBeside) -> StoredServer:
        """Write another record for a server that was added; NotFound where none was."""

        def check(known: StoredServer | None) -> None:
            if known is None:
                raise _unknown(row.name)

        return self._put(row, check, beside)

    def remove(self, name: str, beside: MakeBeside) -> StoredServer:
        """Take a server away that was added, the row as it was; NotFound where none was."""
        with self._database.begin() as connection:
            revision = moved(self._database, connection, REVISION)
            known = _live(connection, name)
            if known is None:
                raise _unknown(name)
            connection.execute(
                update(mcp_servers)
                .where(mcp_servers.c.name == known.name)
                .values(removed=True, record="", revision=revision)
            )
            self._write_beside(connection, beside(known))
        return known

    def order(self, names: Iterable[str], order: Order) -> int:
        """Tell every node to refresh these servers, or to connect to them anew; the serial."""
        with self._database.begin() as connection:
            serial = moved(self._database, connection, REVISION)
            for name in names:
                self._order(connection, storable(name), f"{order}_serial", serial)
            gone = mcp_answers.c.service_id.not_in(select(services.c.service_id))
            connection.execute(delete(mcp_answers).where(gone))
        return serial

    def answer(self, answered: Answered) -> None:
        """Write down what a node did; what it had said of that server before is replaced."""
        said = _Said(answered.added, answered.removed, answered.error)
        values = {
            "refresh_serial": answered.refresh_serial,
            "reconnect_serial": answered.reconnect_serial,
            "answer": storable(msgspec.json.encode(said).decode()),
        }
        statement = self._database.dialect.insert(mcp_answers).values(
            service_id=answered.service_id, name=answered.name, **values
        )
        with self._database.begin() as connection:
            connection.execute(
                statement.on_conflict_do_update(
                    index_elements=[mcp_answers.c.service_id, mcp_answers.c.name], set_=values
                )
            )

    def answers(self, names: Iterable[str], order: Order, serial: int) -> tuple[Answered, ...]:
        """What nodes did about this order or a later one."""
        columns = mcp_answers.c
        reached = columns[f"{order}_serial"] >= serial
        statement = select(mcp_answers).where(columns.name.in_(list(names)), reached)
        with self._database.read() as connection:
            return tuple(_answered(row) for row in connection.execute(statement))

    def _put(
        self,
        row: StoredServer,
        check: Callable[[StoredServer | None], None],
        beside: MakeBeside,
    ) -> StoredServer:
        with self._database.begin() as connection:
            revision = moved(self._database, connection, REVISION)
            check(_live(connection, row.name))
            stored = msgspec.structs.replace(row, removed=False, revision=revision)
            values = msgspec.structs.asdict(stored)
            statement = self._database.dialect.insert(mcp_servers).values(values)
            for kept in ("name", "refresh_serial", "reconnect_serial"):
                del values[kept]
            connection.execute(
                statement.on_conflict_do_update(index_elements=[mcp_servers.c.name], set_=values)
            )
            self._write_beside(connection, beside(stored))
        return stored

    def _order(self, connection: Connection, name: str, column: str, serial: int) -> None:
        new = {"refresh_serial": 0, "reconnect_serial": 0, column: serial, "revision": serial}
        statement = self._database.dialect.insert(mcp_servers).values(
            name=name, record="", added_by="", added_at="", removed=False, **new
        )
        connection.execute(
            statement.on_conflict_do_update(
                index_elements=[mcp_servers.c.name], set_={column: serial, "revision": serial}
            )
        )

    def _write_beside(self, connection: Connection, beside: Beside) -> None:
        if beside.act is not None:
            write_act(connection, beside.act)
        if beside.answer is not None:
            keep_entry(self._database, connection, beside.answer)


def _live(connection: Connection, name: str) -> StoredServer | None:
    columns = mcp_servers.c
    found = connection.execute(
        select(mcp_servers).where(
            columns.name == storable(name), columns.removed.is_(False), columns.record != ""
        )
    ).first()
    return None if found is None else _row(found)


def _unknown(name: str) -> NotFound:
    return NotFound(
        f"no MCP server {name[:100]} was added; GET /v1/mcp/servers lists what there is, and a "
        "server of the settings is changed there",
        code="mcp_server_not_found",
        field="name",
    )


def _row(row: Row[Any]) -> StoredServer:
    return StoredServer(**row._mapping)


def _answered(row: Row[Any]) -> Answered:
    said = _said(row.answer)
    return Answered(
        row.service_id,
        row.name,
        row.refresh_serial,
        row.reconnect_serial,
        said.added,
        said.removed,
        said.error,
    )
