"""Pages of a table in the order of a time, what has the same one by its id."""

from typing import Any

from sqlalchemy import Column, ColumnElement, Row, Select, and_, func, or_, select

from redshank_shared.stores.database import Database
from redshank_shared.stores.paging import Page, checked_limit, cut, decode_cursor, encode_cursor
from redshank_shared.stores.text import storable


def timed_page(
    database: Database,
    listed: Select[Any],
    order: tuple[Column[str], Column[str]],
    limit: int,
    cursor: str | None,
    *,
    newest_first: bool = False,
) -> Page[Row[Any]]:
    """What `listed` selects, by (time, id); Invalid names `limit` or `cursor`."""
    limit = checked_limit(limit)
    at, identity = order
    statement = listed
    if cursor is not None:
        time, last = map(storable, decode_cursor(cursor, tuple[str, str]))
        statement = statement.where(_behind(at, identity, time, last, newest_first))
    keys = (at.desc(), identity.desc()) if newest_first else (at, identity)
    counting = select(func.count()).select_from(listed.subquery())
    with database.read() as connection:
        total = connection.execute(counting).scalar_one()
        rows = list(connection.execute(statement.order_by(*keys).limit(limit + 1)))
    rows, more = cut(rows, limit)
    ended = rows[-1]._mapping if more else None
    following = None if ended is None else encode_cursor((ended[at], ended[identity]))
    return Page(tuple(rows), following, total)


def _behind(
    at: Column[str], identity: Column[str], time: str, last: str, newest_first: bool
) -> ColumnElement[bool]:
    if newest_first:
        return or_(at < time, and_(at == time, identity < last))
    return or_(at > time, and_(at == time, identity > last))
