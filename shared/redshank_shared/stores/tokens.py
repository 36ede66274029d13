"""Tokens by the hash of their secret, never the secret itself."""

from collections.abc import Sequence
from typing import Any, Literal

import msgspec
from sqlalchemy import ColumnElement, Connection, delete, func, select, tuple_

from redshank_shared.domain.access import TokenScope, effective
from redshank_shared.domain.errors import Unauthenticated
from redshank_shared.stores.admin_audits import AdminAct, write_act
from redshank_shared.stores.database import Database
from redshank_shared.stores.dialect import now_seconds
from redshank_shared.stores.paging import Page, checked_limit, cut, decode_cursor, encode_cursor
from redshank_shared.stores.tables import tokens, users
from redshank_shared.stores.text import storable
from redshank_shared.stores.token_holders import holders, is_valid

TokenKind = Literal["api", "session", "signin"]
# Every database takes this many values in one statement.
_MOST_HASHES = 500


class TokenRow(msgspec.Struct, frozen=True):
    """Whom a token stands for. `expires_at`: seconds since 1970, None for never.

    `token_id`: of the API token itself, or of the one that a session or link came from, empty
    without one; `scopes`: no more than these; `role`: the user's when it was made.
    """

    token_hash: str
    kind: TokenKind
    name: str
    role: str
    expires_at: float | None = None
    token_id: str = ""
    scopes: tuple[str, ...] = ()
    label: str = ""
    created_by: str = ""


class Holder(msgspec.Struct, frozen=True):
    """An active user as a valid token makes them known. `role`: the user's now."""

    token_hash: str
    kind: TokenKind
    name: str
    role: str
    token_id: str
    scopes: frozenset[TokenScope]


class ListedToken(msgspec.Struct, frozen=True):
    """An API token as lists show it. Times in seconds since 1970."""

    token_id: str
    name: str
    scopes: tuple[str, ...]
    label: str
    created_by: str
    created_at: float
    expires_at: float | None
    expired: bool


class Tokens:
    """An expired token is as good as none, by the database's clock."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def holder(self, token_hash: str) -> Holder | None:
        """Whom this secret stands for now; None unless token and user are good."""
        with self._database.hot_statement() as cursor:
            values = {"b_token_hash": token_hash}
            row = self._database.hot.find_holder.execute(cursor, values).fetchone()
        return None if row is None else _holder(row)

    def holders(self, token_hashes: Sequence[str]) -> dict[str, Holder]:
        """`holder` for many; those that are not good are missing."""
        found: dict[str, Holder] = {}
        for begin in range(0, len(token_hashes), _MOST_HASHES):
            asked = token_hashes[begin : begin + _MOST_HASHES]
            statement = holders().where(tokens.c.token_hash.in_(asked))
            with self._database.read() as connection:
                found.update((row[0], _holder(row)) for row in connection.execute(statement))
        return found

    def put(self, row: TokenRow) -> None:
        """Write the token down, whoever it is for; what stood under its hash is replaced."""
        with self._database.begin() as connection:
            self._put(connection, row)

    def begin_session(self, row: TokenRow) -> None:
        """Write a session down. Unauthenticated, and nothing written, where its user or the token
        that it comes from is gone by now: whoever ends these ends it too (F72).
        """
        with self._database.begin() as connection:
            _check_origin(connection, row)
            self._put(connection, row)

    def mint(self, row: TokenRow, act: AdminAct) -> ListedToken:
        """A new token or link with the act that it is; the token as lists show it.

        Unauthenticated as above.
        """
        written = select(*_listed()).where(tokens.c.token_hash == row.token_hash)
        with self._database.begin() as connection:
            _check_origin(connection, row)
            self._put(connection, row)
            write_act(connection, act)
            return _listed_token(connection.execute(written).one())

    def replace(self, row: TokenRow) -> None:
        """Let this be the one token of its id: any other secret of it ends, with all that came
        from it.
        """
        known = select(tokens.c.token_hash).where(tokens.c.token_hash == row.token_hash)
        former = delete(tokens).where(tokens.c.token_id == row.token_id)
        with self._database.begin() as connection:
            if connection.execute(known).first() is None:
                connection.execute(former)
            self._put(connection, row)

    def find(self, token_hash: str) -> TokenRow | None:
        """The token of this hash, while it is valid."""
        statement = select(*_columns()).where(tokens.c.token_hash == token_hash, is_valid())
        with self._database.read() as connection:
            row = connection.execute(statement).first()
        return None if row is None else _row(row)

    def of_id(self, token_id: str) -> TokenRow | None:
        """The API token of this id, while it is valid."""
        statement = select(*_columns()).where(_is_api(token_id), is_valid())
        with self._database.read() as connection:
            row = connection.execute(statement).first()
        return None if row is None else _row(row)

    def take(self, token_hash: str) -> TokenRow | None:
        """`find`, for one caller only: the token is gone afterwards."""
        statement = delete(tokens).where(tokens.c.token_hash == token_hash, is_valid())
        with self._database.begin() as connection:
            row = connection.execute(statement.returning(*_columns())).first()
        return None if row is None else _row(row)

    def revoke(self, token_hash: str) -> bool:
        """Take the token away; False if there was none."""
        with self._database.begin() as connection:
            statement = delete(tokens).where(tokens.c.token_hash == token_hash)
            return connection.execute(statement).rowcount == 1

    def revoke_id(self, token_id: str, act: AdminAct) -> bool:
        """Take the API token away with every session that came from it; False if there was none."""
        with self._database.begin() as connection:
            known = select(tokens.c.name).where(_is_api(token_id)).with_for_update()
            if connection.execute(known).first() is None:
                return False
            connection.execute(delete(tokens).where(tokens.c.token_id == token_id))
            write_act(connection, act)
            return True

    def page(
        self, name: str | None = None, limit: int = 50, cursor: str | None = None
    ) -> Page[ListedToken]:
        """API tokens, the newest first, of one user or all, expired ones too.

        Invalid names `limit` or `cursor`.
        """
        limit = checked_limit(limit)
        columns = tokens.c
        wanted = [columns.kind == "api"]
        if name is not None:
            wanted.append(columns.name == storable(name))
        newest_first = (columns.created_at.desc(), columns.token_id.desc())
        statement = select(*_listed()).where(*wanted).order_by(*newest_first)
        if cursor is not None:
            before = decode_cursor(cursor, tuple[float, str])
            statement = statement.where(tuple_(columns.created_at, columns.token_id) < before)
        counting = select(func.count()).select_from(tokens).where(*wanted)
        with self._database.read() as connection:
            total = connection.execute(counting).scalar_one()
            rows = list(connection.execute(statement.limit(limit + 1)))
        rows, more = cut(rows, limit)
        items = tuple(_listed_token(row) for row in rows)
        last = (items[-1].created_at, items[-1].token_id) if more else None
        return Page(items, None if last is None else encode_cursor(last), total)

    def _put(self, connection: Connection, row: TokenRow) -> None:
        values: dict[str, Any] = msgspec.structs.asdict(row)
        values["scopes"] = msgspec.json.encode(row.scopes).decode()
        values["created_at"] = now_seconds()
        statement = self._database.dialect.insert(tokens).values(values)
        del values["token_hash"]
        connection.execute(
            statement.on_conflict_do_update(index_elements=[tokens.c.token_hash], set_=values)
        )


def _holder(row: Any) -> Holder:
    token_hash, kind, name, role, token_id, scopes = row
    return Holder(token_hash, kind, name, role, token_id, effective(role, _decode_scopes(scopes)))


_decode_scopes = msgspec.json.Decoder(tuple[str, ...]).decode


def _check_origin(connection: Connection, row: TokenRow) -> None:
    """Both stay as they are until the transaction ends."""
    user = select(users.c.state).where(users.c.name == row.name).with_for_update(read=True)
    if connection.execute(user).scalar() != "active":
        raise Unauthenticated(f"{row.name} may not come in any more; ask an admin")
    if row.kind == "api" or not row.token_id:
        return
    parent = select(tokens.c.name).where(_is_api(row.token_id), is_valid())
    if connection.execute(parent.with_for_update(read=True)).first() is None:
        raise Unauthenticated("the token that this comes from is revoked; use another")


def _columns() -> tuple[ColumnElement[Any], ...]:
    return tuple(tokens.c[name] for name in TokenRow.__struct_fields__)


def _row(row: Any) -> TokenRow:
    given = dict(zip(TokenRow.__struct_fields__, row, strict=True))
    return TokenRow(**{**given, "scopes": _decode_scopes(given["scopes"])})


def _listed() -> tuple[ColumnElement[Any], ...]:
    columns = [tokens.c[name] for name in ListedToken.__struct_fields__ if name != "expired"]
    return (*columns, is_valid())


def _listed_token(row: Any) -> ListedToken:
    given = dict(zip(ListedToken.__struct_fields__, row, strict=True))
    scopes = _decode_scopes(given["scopes"])
    return ListedToken(**{**given, "scopes": scopes, "expired": not given["expired"]})


def _is_api(token_id: str) -> ColumnElement[bool]:
    return (tokens.c.token_id == storable(token_id)) & (tokens.c.kind == "api")
