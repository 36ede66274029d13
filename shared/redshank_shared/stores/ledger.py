"""The ledger of outside effects: its records by workstream, the keys that signed them."""

from collections.abc import Iterable, Iterator
from typing import Any

from sqlalchemy import Connection, Row, func, select, tuple_, union

from redshank_shared.domain.events import (
    CallFinished,
    CallInterrupted,
    CallStarted,
    Recorded,
    WorkstreamCreated,
    decode,
)
from redshank_shared.ledger.lines import Key, Line, Logged, Signed
from redshank_shared.ledger.record import OUTSIDE, response_digest
from redshank_shared.stores.database import Database
from redshank_shared.stores.paging import Page, checked_limit, cut, decode_cursor, encode_cursor
from redshank_shared.stores.tables import events, ledger, ledger_keys, workstreams
from redshank_shared.stores.text import storable

_EVENTS_AT_ONCE = 500
_KINDS = ("workstream.created", "call.started", "call.finished", "call.interrupted")


class Ledger:
    """Reads only, apart from the keys: a record is written with the append that ends its call."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def register(self, key_id: str, public_key: str, at: str) -> None:
        """Write down whose signatures count, `at` (RFC 3339 UTC) being when it was first seen."""
        insert = self._database.dialect.insert(ledger_keys).values(
            key_id=key_id, public_key=public_key, created_at=at
        )
        with self._database.begin() as connection:
            connection.execute(insert.on_conflict_do_nothing())

    def known_keys(self) -> list[Key]:
        """Every key that a node has signed with, the oldest first."""
        columns = ledger_keys.c
        statement = select(ledger_keys).order_by(columns.created_at, columns.key_id)
        with self._database.read() as connection:
            rows = connection.execute(statement).all()
        return [Key(row.key_id, row.public_key, row.created_at) for row in rows]

    def page(
        self, workstream_id: str = "", limit: int = 50, cursor: str | None = None
    ) -> Page[Signed]:
        """All records, or one workstream's: by workstream, then in order; Invalid names `limit` or
        `cursor`.
        """
        limit = checked_limit(limit)
        columns = ledger.c
        statement, counting = select(ledger), select(func.count()).select_from(ledger)
        if workstream_id:
            mine = columns.workstream_id == storable(workstream_id)
            statement, counting = statement.where(mine), counting.where(mine)
        if cursor is not None:
            ws, position = decode_cursor(cursor, tuple[str, int])
            after = tuple_(columns.workstream_id, columns.position) > (storable(ws), position)
            statement = statement.where(after)
        statement = statement.order_by(columns.workstream_id, columns.position).limit(limit + 1)
        with self._database.read() as connection:
            total = connection.execute(counting).scalar_one()
            rows = list(connection.execute(statement))
        rows, more = cut(rows, limit)
        following = encode_cursor((rows[-1].workstream_id, rows[-1].position)) if more else None
        return Page(tuple(map(_signed, rows)), following, total)

    def workstreams(self, after: str, limit: int = 200) -> list[str]:
        """Ids above this one, in order: of every workstream there is, or that has records."""
        there = select(workstreams.c.id).where(workstreams.c.id > after)
        recorded = select(ledger.c.workstream_id).where(ledger.c.workstream_id > after)
        known = union(there, recorded).subquery()
        statement = select(known.c.id).order_by(known.c.id).limit(limit)
        with self._database.read() as connection:
            return list(connection.execute(statement).scalars())

    def lines(self, workstream_id: str) -> list[Line]:
        """A workstream's records in order, then what its log tells of the same calls; both as they
        were at one moment.
        """
        columns = ledger.c
        mine = select(ledger).where(columns.workstream_id == workstream_id)
        with self._database.read() as connection:
            rows = connection.execute(mine.order_by(columns.position)).all()
            ended = _ended(workstream_id, _events(connection, workstream_id))
        return [*map(_signed, rows), *ended]


def _ended(workstream_id: str, log: Iterable[Recorded]) -> list[Logged]:
    """Each call with an outside effect that has ended, as the log tells it, in order."""
    began: set[str] = set()
    found: list[Logged] = []
    copied = 0
    for recorded in log:
        fact = recorded.fact
        if isinstance(fact, WorkstreamCreated):
            # What a fork has from its origin stands in the origin's ledger.
            copied = fact.forked_at
        elif isinstance(fact, CallStarted):
            if fact.effect in OUTSIDE and recorded.seq > copied:
                began.add(fact.call_id)
        elif isinstance(fact, CallFinished | CallInterrupted) and fact.call_id in began:
            began.remove(fact.call_id)
            found.append(_logged(workstream_id, recorded, fact))
    return found


def _events(connection: Connection, workstream_id: str) -> Iterator[Recorded]:
    columns = events.c
    after, more = 0, True
    while more:
        statement = (
            select(columns.seq, columns.kind, columns.at, columns.fact)
            .where(columns.workstream_id == workstream_id, columns.seq > after)
            .where(columns.kind.in_(_KINDS))
            .order_by(columns.seq)
            .limit(_EVENTS_AT_ONCE)
        )
        rows = connection.execute(statement).all()
        for row in rows:
            yield Recorded(row.seq, row.at, decode(row.kind, row.fact))
            after = row.seq
        more = len(rows) == _EVENTS_AT_ONCE


def _signed(row: Row[Any]) -> Signed:
    return Signed(
        workstream=row.workstream_id,
        position=row.position,
        call_id=row.call_id,
        record=row.record,
        record_hash=row.record_hash,
        key_id=row.key_id,
        signature=row.signature,
    )


def _logged(workstream_id: str, recorded: Recorded, fact: CallFinished | CallInterrupted) -> Logged:
    seal = fact.ledger
    return Logged(
        workstream=workstream_id,
        seq=recorded.seq,
        at=recorded.at,
        call_id=fact.call_id,
        response_digest=response_digest(fact.output),
        position=seal.position if seal else 0,
        record_hash=seal.hash if seal else "",
    )
