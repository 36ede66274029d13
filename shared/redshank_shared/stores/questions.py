"""Questions: what agents ask people, who answered."""

from typing import Any

import msgspec
from sqlalchemy import Row, Select, select

from redshank_shared.domain.question_events import QuestionAsked
from redshank_shared.stores.database import Database
from redshank_shared.stores.paging import Page
from redshank_shared.stores.tables import questions, workstreams
from redshank_shared.stores.text import storable
from redshank_shared.stores.timed_pages import timed_page

_decode_request = msgspec.json.Decoder(QuestionAsked).decode


class QuestionRow(msgspec.Struct, frozen=True):
    """A request with its outcome. Times are RFC 3339 UTC.

    `state`: pending, answered, cancelled or expired. `owner`, `workstream_name`: of its workstream.
    """

    workstream_id: str
    owner: str
    workstream_name: str
    request: QuestionAsked
    state: str
    asked_at: str
    answered_at: str | None
    answered_by: str | None


class Questions:
    """Reads only: a question comes and changes with an append."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def pending(self, limit: int = 50, cursor: str | None = None) -> Page[QuestionRow]:
        """What is asked in all workstreams, oldest first; Invalid names `limit` or `cursor`."""
        listed = _whole().where(questions.c.state == "pending")
        order = (questions.c.asked_at, questions.c.request_id)
        page = timed_page(self._database, listed, order, limit, cursor)
        return Page(tuple(_view(row) for row in page.items), page.next_cursor, page.total)

    def of_workstream(self, workstream_id: str) -> list[QuestionRow]:
        """All that this workstream ever asked, oldest first."""
        columns = questions.c
        statement = (
            _whole()
            .where(columns.workstream_id == storable(workstream_id))
            .order_by(columns.asked_at, columns.request_id)
        )
        with self._database.read() as connection:
            return [_view(row) for row in connection.execute(statement)]

    def get(self, request_id: str) -> QuestionRow | None:
        """The request of this id, if there is one."""
        statement = _whole().where(questions.c.request_id == storable(request_id))
        with self._database.read() as connection:
            row = connection.execute(statement).first()
        return None if row is None else _view(row)


def _whole() -> Select[Any]:
    return select(
        questions, workstreams.c.owner, workstreams.c.name.label("workstream_name")
    ).join_from(questions, workstreams, workstreams.c.id == questions.c.workstream_id)


def _view(row: Row[Any]) -> QuestionRow:
    return QuestionRow(
        workstream_id=row.workstream_id,
        owner=row.owner,
        workstream_name=row.workstream_name,
        request=_decode_request(row.request),
        state=row.state,
        asked_at=row.asked_at,
        answered_at=row.answered_at,
        answered_by=row.answered_by,
    )
