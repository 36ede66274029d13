"""Permission audits: every decision on a call in order, with the word of a person on it."""

from collections.abc import Iterable
from typing import Any

import msgspec
from sqlalchemy import Connection, Row, Select, func, select, tuple_

from redshank_shared.domain.events import ApprovalRequested, ApprovalResolved, CallDecided
from redshank_shared.stores.database import Database
from redshank_shared.stores.paging import Page, checked_limit, cut, decode_cursor, encode_cursor
from redshank_shared.stores.tables import events, permission_audits
from redshank_shared.stores.text import storable

_decode_fact = msgspec.json.Decoder(CallDecided).decode
_decode_word = msgspec.json.Decoder(ApprovalRequested | ApprovalResolved).decode
_OF_PEOPLE = ("approval.requested", "approval.resolved")


class Word(msgspec.Struct, frozen=True):
    """What a person was asked about a call, and said. Without `resolved` nobody has answered yet;
    `at` is then empty, else RFC 3339 UTC.
    """

    request_id: str
    resolved: ApprovalResolved | None = None
    at: str = ""


class AuditRow(msgspec.Struct, frozen=True):
    """One decision, with its place in the workstream's log. `at`: RFC 3339 UTC; `word`: None where
    no person was asked.
    """

    seq: int
    at: str
    decided: CallDecided
    workstream_id: str = ""
    word: Word | None = None


class Audits:
    """Reads only: an audit is written with the decision's append."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def of_workstream(
        self, workstream_id: str, limit: int = 50, cursor: str | None = None
    ) -> Page[AuditRow]:
        """The decisions of a workstream, oldest first; Invalid names `limit` or `cursor`."""
        limit = checked_limit(limit)
        columns = permission_audits.c
        own = columns.workstream_id == workstream_id
        statement = _selected().where(own).order_by(columns.seq)
        if cursor is not None:
            statement = statement.where(columns.seq > decode_cursor(cursor, int))
        counting = select(func.count()).select_from(permission_audits).where(own)
        with self._database.read() as connection:
            total = connection.execute(counting).scalar_one()
            rows, more = cut(list(connection.execute(statement.limit(limit + 1))), limit)
            items = _with_words(connection, rows)
        return Page(items, encode_cursor(rows[-1].seq) if more else None, total)

    def of_call(self, call_id: str, limit: int = 50, cursor: str | None = None) -> Page[AuditRow]:
        """The decisions on calls whose ids begin so, in any workstream, oldest first."""
        limit = checked_limit(limit)
        columns = permission_audits.c
        # As the log's encoder writes it: the kind, then the call's id.
        begins = f'{{"kind":"call.decided","call_id":"{storable(call_id)}'
        own = columns.fact.startswith(begins, autoescape=True)
        place = tuple_(columns.at, columns.workstream_id, columns.seq)
        statement = _selected().where(own).order_by(*place)
        if cursor is not None:
            statement = statement.where(place > decode_cursor(cursor, tuple[str, str, int]))
        counting = select(func.count()).select_from(permission_audits).where(own)
        with self._database.read() as connection:
            total = connection.execute(counting).scalar_one()
            rows, more = cut(list(connection.execute(statement.limit(limit + 1))), limit)
            items = _with_words(connection, rows)
        last = rows[-1] if more else None
        following = encode_cursor((last.at, last.workstream_id, last.seq)) if last else None
        return Page(items, following, total)


def _selected() -> Select[Any]:
    columns = permission_audits.c
    return select(columns.workstream_id, columns.seq, columns.at, columns.fact)


def _with_words(connection: Connection, rows: list[Row[Any]]) -> tuple[AuditRow, ...]:
    audits = [AuditRow(row.seq, row.at, _decode_fact(row.fact), row.workstream_id) for row in rows]
    asked = {row.workstream_id for row in audits}
    words = [_Spoken(*row) for each in asked for row in connection.execute(_words_of(each))]
    by_call: dict[tuple[str, str], list[_Spoken]] = {}
    for word in words:
        by_call.setdefault((word.workstream_id, word.fact.call_id), []).append(word)
    return tuple(
        msgspec.structs.replace(
            row, word=_word(row.seq, by_call.get((row.workstream_id, row.decided.call_id), ()))
        )
        for row in audits
    )


class _Spoken:
    def __init__(self, workstream_id: str, seq: int, at: str, fact: str) -> None:
        self.workstream_id = workstream_id
        self.seq = seq
        self.at = at
        self.fact: ApprovalRequested | ApprovalResolved = _decode_word(fact)


def _words_of(workstream_id: str) -> Select[Any]:
    columns = events.c
    return (
        select(columns.workstream_id, columns.seq, columns.at, columns.fact)
        .where(columns.workstream_id == workstream_id, columns.kind.in_(_OF_PEOPLE))
        .order_by(columns.seq)
    )


def _word(decided_at: int, spoken: Iterable[_Spoken]) -> Word | None:
    """The request that the decision led to, with its answer; for a call that a person edited, so
    that it was decided anew, the answer before.
    """
    known = list(spoken)
    answers = [each for each in known if isinstance(each.fact, ApprovalResolved)]
    for each in known:
        if isinstance(each.fact, ApprovalRequested) and each.seq > decided_at:
            request_id = each.fact.request_id
            return _answered([one for one in answers if one.fact.request_id == request_id]) or Word(
                request_id
            )
    return _answered([one for one in answers if one.seq < decided_at])


def _answered(answers: list[_Spoken]) -> Word | None:
    if not answers:
        return None
    fact = answers[-1].fact
    assert isinstance(fact, ApprovalResolved)
    return Word(fact.request_id, fact, answers[-1].at)
