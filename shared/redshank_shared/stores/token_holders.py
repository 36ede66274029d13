"""Selects whom valid tokens stand for."""

from typing import Any

from sqlalchemy import ColumnElement, Select, bindparam, or_, select

from redshank_shared.stores.dialect import now_seconds
from redshank_shared.stores.tables import tokens, users


def holders() -> Select[Any]:
    """Every valid token of every active user: hash, kind, name, the user's role now, id, scopes."""
    columns = tokens.c
    return (
        select(
            columns.token_hash,
            columns.kind,
            columns.name,
            users.c.role,
            columns.token_id,
            columns.scopes,
        )
        .select_from(tokens.join(users, users.c.name == columns.name))
        .where(users.c.state == "active", is_valid())
    )


def find_holder() -> Select[Any]:
    """The same of one token, by `b_token_hash`."""
    return holders().where(tokens.c.token_hash == bindparam("b_token_hash"))


def is_valid() -> ColumnElement[bool]:
    """Whether the token has not expired, by the database's clock."""
    return or_(tokens.c.expires_at.is_(None), tokens.c.expires_at > now_seconds())
