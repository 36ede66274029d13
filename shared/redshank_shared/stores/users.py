"""Users: their roles, whether they may come in."""

from typing import Any

import msgspec
from sqlalchemy import Connection, delete, func, select, update

from redshank_shared.domain.access import Role, UserState
from redshank_shared.domain.errors import Conflict, NotFound
from redshank_shared.stores.admin_audits import AdminAct, write_act
from redshank_shared.stores.database import Database
from redshank_shared.stores.idempotency import IdempotencyEntry, keep_entry
from redshank_shared.stores.paging import Page, checked_limit, cut, decode_cursor, encode_cursor
from redshank_shared.stores.tables import tokens, users, workstreams
from redshank_shared.stores.text import storable


class UserRow(msgspec.Struct, frozen=True):
    """A user. Times are RFC 3339 UTC."""

    name: str
    role: Role
    state: UserState
    created_by: str
    created_at: str
    updated_at: str


class Users:
    """Every change is written with the act that it is."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def find(self, name: str) -> UserRow | None:
        """The user of this name, revoked ones too."""
        with self._database.read() as connection:
            return _found(connection, name)

    def is_known(self, name: str) -> bool:
        """Whether there is such a user, or a workstream of somebody who was called so."""
        owned = select(workstreams.c.id).where(workstreams.c.owner == storable(name)).limit(1)
        with self._database.read() as connection:
            if _found(connection, name) is not None:
                return True
            return connection.execute(owned).first() is not None

    def page(
        self, state: str | None = None, limit: int = 50, cursor: str | None = None
    ) -> Page[UserRow]:
        """Users by name, of one state or all; Invalid names `limit` or `cursor`."""
        limit = checked_limit(limit)
        wanted = [] if state is None else [users.c.state == state]
        statement = select(*_columns()).where(*wanted).order_by(users.c.name)
        if cursor is not None:
            statement = statement.where(users.c.name > decode_cursor(cursor, str))
        counting = select(func.count()).select_from(users).where(*wanted)
        with self._database.read() as connection:
            total = connection.execute(counting).scalar_one()
            rows = [UserRow(*row) for row in connection.execute(statement.limit(limit + 1))]
        rows, more = cut(rows, limit)
        return Page(tuple(rows), encode_cursor(rows[-1].name) if more else None, total)

    def create(self, row: UserRow, act: AdminAct, answer: IdempotencyEntry | None = None) -> bool:
        """A new user, with the answer to its sender; False, and nothing written, where the name is
        taken. IdempotencyRace, and nothing written, where the answer's key is.
        """
        values: dict[str, Any] = msgspec.structs.asdict(row)
        statement = self._database.dialect.insert(users).values(values)
        new = statement.on_conflict_do_nothing().returning(users.c.name)
        with self._database.begin() as connection:
            if connection.execute(new).first() is None:
                return False
            write_act(connection, act)
            if answer is not None:
                keep_entry(self._database, connection, answer)
            return True

    def change(
        self, name: str, role: Role | None, state: UserState | None, at: str, act: AdminAct
    ) -> UserRow:
        """The user with another role or state. A change of state ends all tokens, all sessions.

        NotFound; Conflict (`last_admin`) where no active admin would be left.
        """
        with self._database.begin() as connection:
            before = _existing(connection, name)
            after = msgspec.structs.replace(
                before, role=role or before.role, state=state or before.state, updated_at=at
            )
            if not _is_admin(after):
                _refuse_without_admin(connection, before)
            changed = {"role": after.role, "state": after.state, "updated_at": at}
            connection.execute(update(users).where(users.c.name == before.name).values(changed))
            if after.state != before.state:
                connection.execute(delete(tokens).where(tokens.c.name == before.name))
            write_act(connection, act)
            return after

    def remove(self, name: str, act: AdminAct) -> None:
        """No such user any more, with tokens, sessions; what they did stays written down.

        NotFound; Conflict (`last_admin`) where no active admin would be left.
        """
        with self._database.begin() as connection:
            before = _existing(connection, name)
            _refuse_without_admin(connection, before)
            connection.execute(delete(tokens).where(tokens.c.name == before.name))
            connection.execute(delete(users).where(users.c.name == before.name))
            write_act(connection, act)


def _columns() -> tuple[Any, ...]:
    return tuple(users.c[name] for name in UserRow.__struct_fields__)


def _found(connection: Connection, name: str) -> UserRow | None:
    statement = select(*_columns()).where(users.c.name == storable(name))
    row = connection.execute(statement).first()
    return None if row is None else UserRow(*row)


def _existing(connection: Connection, name: str) -> UserRow:
    # Before anything is read: two changes that each leave one admin would leave none together.
    locking = select(users.c.name).where(_admins()).order_by(users.c.name).with_for_update()
    connection.execute(locking).all()
    row = _found(connection, name)
    if row is None:
        raise NotFound(
            f"there is no user {name}: GET /v1/users lists them (`redshank users ls`)",
            code="no_such_user",
            field="name",
        )
    return row


def _refuse_without_admin(connection: Connection, leaving: UserRow) -> None:
    if not _is_admin(leaving):
        return
    others = select(func.count()).where(_admins(), users.c.name != leaving.name)
    if connection.execute(others).scalar_one() == 0:
        raise Conflict(
            f"{leaving.name} is the last active admin: make another user admin first",
            code="last_admin",
            field="name",
        )


def _admins() -> Any:
    return (users.c.role == "admin") & (users.c.state == "active")


def _is_admin(row: UserRow) -> bool:
    return row.role == "admin" and row.state == "active"
