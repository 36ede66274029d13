"""Secrets by their slot: sealed values, never an open one."""

from typing import Any, Literal

import msgspec
from sqlalchemy import Connection, select, update

from redshank_shared.stores.admin_audits import AdminAct, write_act
from redshank_shared.stores.database import Database
from redshank_shared.stores.tables import secrets
from redshank_shared.vault.sealing import Sealed

SecretState = Literal["live", "revoked"]


class SecretRow(msgspec.Struct, frozen=True):
    """One slot. `version` counts its values with its revocations, from 1; a revoked slot holds no
    value. `updated_at`: RFC 3339 UTC.
    """

    slot: str
    state: SecretState
    version: int
    key_id: str
    sealed: str
    updated_by: str
    updated_at: str


class Secrets:
    """Every change names the version that it was made from, so that two never mix."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def all(self) -> list[SecretRow]:
        """Every slot, by name."""
        with self._database.read() as connection:
            rows = connection.execute(select(*_columns()).order_by(secrets.c.slot))
            return [SecretRow(*row) for row in rows]

    def find(self, slot: str) -> SecretRow | None:
        """One slot, if it was ever filled."""
        with self._database.read() as connection:
            row = connection.execute(select(*_columns()).where(secrets.c.slot == slot)).first()
        return None if row is None else SecretRow(*row)

    def put(self, row: SecretRow, act: AdminAct | None = None) -> bool:
        """Write down the slot's next version, with the act that it is, if a person's; False, and
        nothing written, if somebody else wrote one of that number.
        """
        with self._database.begin() as connection:
            if not self._put(connection, row):
                return False
            if act is not None:
                write_act(connection, act)
            return True

    def reseal(self, row: SecretRow, sealed: Sealed) -> bool:
        """Put the same value under another key; False if the row has changed since it was read."""
        unchanged = (
            secrets.c.slot == row.slot,
            secrets.c.version == row.version,
            secrets.c.key_id == row.key_id,
        )
        values = {"key_id": sealed.key_id, "sealed": sealed.text}
        with self._database.begin() as connection:
            done = connection.execute(update(secrets).where(*unchanged).values(values))
            return done.rowcount == 1

    def _put(self, connection: Connection, row: SecretRow) -> bool:
        values: dict[str, Any] = msgspec.structs.asdict(row)
        if row.version == 1:
            new = self._database.dialect.insert(secrets).values(values)
            kept = new.on_conflict_do_nothing().returning(secrets.c.slot)
            return connection.execute(kept).first() is not None
        before = (secrets.c.slot == row.slot, secrets.c.version == row.version - 1)
        return connection.execute(update(secrets).where(*before).values(values)).rowcount == 1


def _columns() -> tuple[Any, ...]:
    return tuple(secrets.c[name] for name in SecretRow.__struct_fields__)
