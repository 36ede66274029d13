"""Answers kept under the keys that callers gave, so that a repeated request changes nothing."""

from typing import Any

import msgspec
from sqlalchemy import Connection, delete
from sqlalchemy.engine.interfaces import DBAPICursor

from redshank_shared.domain.errors import Conflict
from redshank_shared.stores.database import Database
from redshank_shared.stores.dialect import now_seconds
from redshank_shared.stores.tables import idempotency_keys
from redshank_shared.stores.text import storable


class IdempotencyEntry(msgspec.Struct, frozen=True):
    """What was asked under a key, and the answer: its HTTP status, its JSON text."""

    scope: str
    key: str
    request_digest: str
    status: int
    answer: str


class IdempotencyRace(Conflict):
    """Another request with this key was written first: find its entry, then answer from that."""

    code = "idempotency_race"


class Idempotency:
    """Entries are written with the facts they answer for (`EventLog.append`), never alone."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def find(self, scope: str, key: str) -> IdempotencyEntry | None:
        """The entry written under this key, if there is one."""
        with self._database.hot_statement() as cursor:
            values = {"b_scope": storable(scope), "b_key": storable(key)}
            row = self._database.hot.find_key.execute(cursor, values).fetchone()
        return IdempotencyEntry(scope, key, *row) if row else None

    def forget(self, older_than_seconds: float) -> int:
        """Delete the entries of that age; how many they were."""
        keys = idempotency_keys.c
        with self._database.begin() as connection:
            statement = delete(idempotency_keys).where(
                keys.created_at < now_seconds() - older_than_seconds
            )
            return connection.execute(statement).rowcount


def write_entry(database: Database, cursor: DBAPICursor, entry: IdempotencyEntry) -> None:
    """Write the entry in the transaction at hand; IdempotencyRace if the key is taken."""
    if database.hot.insert_key.execute(cursor, entry_values(entry)).rowcount == 0:
        raise lost_race(entry)


def keep_entry(database: Database, connection: Connection, entry: IdempotencyEntry) -> None:
    """`write_entry` for a transaction of `Database.begin`."""
    statement = database.dialect.insert(idempotency_keys).values(
        **entry_values(entry), created_at=now_seconds()
    )
    kept = statement.on_conflict_do_nothing().returning(idempotency_keys.c.key)
    if connection.execute(kept).first() is None:
        raise lost_race(entry)


def entry_values(entry: IdempotencyEntry) -> dict[str, Any]:
    """The entry as its row's columns."""
    return {
        "scope": storable(entry.scope),
        "key": storable(entry.key),
        "request_digest": entry.request_digest,
        "status": entry.status,
        "answer": storable(entry.answer),
    }


def lost_race(entry: IdempotencyEntry) -> IdempotencyRace:
    """What to raise where the entry's key is taken."""
    return IdempotencyRace(
        f"a request with the idempotency key {entry.key} is written already: answer from it",
        field="Idempotency-Key",
    )
