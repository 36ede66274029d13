"""Tokens by the hash of their secret, never the secret itself."""

from typing import Any, Literal

import msgspec
from sqlalchemy import ColumnElement, delete, or_, select

from redshank_shared.stores.database import Database
from redshank_shared.stores.dialect import now_seconds
from redshank_shared.stores.tables import tokens

TokenKind = Literal["api", "session", "signin"]


class TokenRow(msgspec.Struct, frozen=True):
    """Whom a token stands for. `expires_at`: seconds since 1970, None for never."""

    token_hash: str
    kind: TokenKind
    name: str
    role: str
    expires_at: float | None = None


class Tokens:
    """An expired token is as good as none, by the database's clock."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def put(self, row: TokenRow) -> None:
        """Write the token down; what stood under its hash is replaced."""
        values: dict[str, Any] = msgspec.structs.asdict(row)
        values["created_at"] = now_seconds()
        statement = self._database.dialect.insert(tokens).values(values)
        del values["token_hash"]
        with self._database.begin() as connection:
            connection.execute(
                statement.on_conflict_do_update(index_elements=[tokens.c.token_hash], set_=values)
            )

    def find(self, token_hash: str) -> TokenRow | None:
        """The token of this hash, while it is valid."""
        statement = select(*_columns()).where(tokens.c.token_hash == token_hash, _valid())
        with self._database.read() as connection:
            row = connection.execute(statement).first()
        return None if row is None else TokenRow(*row)

    def take(self, token_hash: str) -> TokenRow | None:
        """`find`, for one caller only: the token is gone afterwards."""
        statement = delete(tokens).where(tokens.c.token_hash == token_hash, _valid())
        with self._database.begin() as connection:
            row = connection.execute(statement.returning(*_columns())).first()
        return None if row is None else TokenRow(*row)

    def revoke(self, token_hash: str) -> bool:
        """Take the token away; False if there was none."""
        with self._database.begin() as connection:
            statement = delete(tokens).where(tokens.c.token_hash == token_hash)
            return connection.execute(statement).rowcount == 1


def _columns() -> tuple[ColumnElement[Any], ...]:
    columns = tokens.c
    return (columns.token_hash, columns.kind, columns.name, columns.role, columns.expires_at)


def _valid() -> ColumnElement[bool]:
    return or_(tokens.c.expires_at.is_(None), tokens.c.expires_at > now_seconds())
