"""Hooks that gave no answer: why, what they were asked."""

import msgspec
from sqlalchemy import func, insert, select, tuple_

from redshank_shared.stores.database import Database
from redshank_shared.stores.paging import Page, checked_limit, cut, decode_cursor, encode_cursor
from redshank_shared.stores.tables import hook_dead_letters
from redshank_shared.stores.text import storable


class DeadLetter(msgspec.Struct, frozen=True):
    """One hook that failed on one call after all its attempts. `at`: RFC 3339 UTC; `payload` is the
    JSON text that it was sent, shortened where it is long.
    """

    dead_letter_id: str
    at: str
    hook: str
    workstream_id: str
    call_id: str
    attempts: int
    detail: str
    payload: str


class HookDeadLetters:
    """Rows are only ever added."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, letter: DeadLetter) -> None:
        """Keep what failed."""
        values = msgspec.structs.asdict(letter)
        for name in ("hook", "detail", "payload"):
            values[name] = storable(values[name])
        with self._database.begin() as connection:
            connection.execute(insert(hook_dead_letters).values(values))

    def page(self, limit: int = 50, cursor: str | None = None) -> Page[DeadLetter]:
        """The newest first; Invalid names `limit` or `cursor`."""
        limit = checked_limit(limit)
        columns = hook_dead_letters.c
        place = tuple_(columns.at, columns.dead_letter_id)
        statement = select(hook_dead_letters).order_by(
            columns.at.desc(), columns.dead_letter_id.desc()
        )
        if cursor is not None:
            at, letter = decode_cursor(cursor, tuple[str, str])
            statement = statement.where(place < (at, letter))
        counting = select(func.count()).select_from(hook_dead_letters)
        with self._database.read() as connection:
            total = connection.execute(counting).scalar_one()
            rows = [
                DeadLetter(*(getattr(row, name) for name in DeadLetter.__struct_fields__))
                for row in connection.execute(statement.limit(limit + 1))
            ]
        rows, more = cut(rows, limit)
        last = (rows[-1].at, rows[-1].dead_letter_id) if more else None
        return Page(tuple(rows), None if last is None else encode_cursor(last), total)
