"""Workstreams as lists show them: one row each, pages of them, counts."""

from typing import Any, get_args

import msgspec
from sqlalchemy import ColumnElement, Row, and_, case, func, or_, select

from redshank_shared.domain.errors import Invalid
from redshank_shared.domain.events import RestState, WaitKind
from redshank_shared.domain.projection import Projection
from redshank_shared.stores.database import Database
from redshank_shared.stores.dialect import contains, now_seconds
from redshank_shared.stores.paging import Page, checked_limit, cut, decode_cursor, encode_cursor
from redshank_shared.stores.tables import workstreams
from redshank_shared.stores.text import storable
from redshank_shared.stores.workstream_row import encode_json, from_columns


class WorkstreamRow(msgspec.Struct, frozen=True):
    """A workstream without its log. `lease_alive`: a node works on it now, by the database's clock.

    `created_at`, `updated_at`: RFC 3339 UTC. `pending_since`: the database's clock, seconds.
    """

    id: str
    version: int
    created_at: str
    updated_at: str
    projection: Projection
    lease_node: str | None
    lease_epoch: int
    lease_alive: bool
    attempts: int
    pending_since: float | None


class WorkstreamFilters(msgspec.Struct, frozen=True):
    """What a list is narrowed to; None does not narrow.

    `q`: part of the name or title, case aside. `node`: the holder of the lease.
    `label`: one of its labels.
    """

    state: str | None = None
    owner: str | None = None
    node: str | None = None
    label: str | None = None
    q: str | None = None
    waiting_for: str | None = None


class Totals(msgspec.Struct, frozen=True):
    """Sums over all workstreams."""

    workstreams: int
    pending: int
    input_tokens: int
    output_tokens: int
    calls: int
    pending_approvals: int


class Workstreams:
    """Reads only: a row changes with an append."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def get(self, workstream_id: str) -> WorkstreamRow | None:
        """The row of this id, if there is one."""
        with self._database.read() as connection:
            statement = _rows().where(workstreams.c.id == workstream_id)
            row = connection.execute(statement).first()
        return None if row is None else _view(row)

    def page(
        self,
        filters: WorkstreamFilters | None = None,
        limit: int = 50,
        cursor: str | None = None,
    ) -> Page[WorkstreamRow]:
        """A page, the last updated first; Invalid names the argument to blame (F69)."""
        limit = checked_limit(limit)
        wanted = _conditions(filters or WorkstreamFilters())
        statement = _rows().where(*wanted)
        if cursor is not None:
            statement = statement.where(_behind(cursor))
        statement = statement.order_by(workstreams.c.updated_at.desc(), workstreams.c.id)
        counting = select(func.count()).select_from(workstreams).where(*wanted)
        with self._database.read() as connection:
            total = connection.execute(counting).scalar_one()
            rows = list(connection.execute(statement.limit(limit + 1)))
        rows, more = cut(rows, limit)
        following = encode_cursor((rows[-1].updated_at, rows[-1].id)) if more else None
        return Page(tuple(_view(row) for row in rows), following, total)

    def counts_by_state(self) -> dict[str, int]:
        """How many workstreams are in each state; states that none is in are missing."""
        statement = select(workstreams.c.state, func.count()).group_by(workstreams.c.state)
        with self._database.read() as connection:
            return {state: count for state, count in connection.execute(statement)}

    def totals(self) -> Totals:
        """Sums over all workstreams there are."""
        columns = workstreams.c
        sums = (
            columns.input_tokens,
            columns.output_tokens,
            columns.calls,
            columns.pending_approvals,
        )
        statement = select(
            func.count(),
            func.sum(case((columns.pending, 1), else_=0)),
            *(func.sum(column) for column in sums),
        )
        with self._database.read() as connection:
            row = connection.execute(statement.select_from(workstreams)).one()
        return Totals(*(int(value or 0) for value in row))


def _rows() -> Any:
    alive = func.coalesce(workstreams.c.lease_until > now_seconds(), False)
    return select(workstreams, alive.label("lease_alive"))


def _view(row: Row[Any]) -> WorkstreamRow:
    return WorkstreamRow(
        id=row.id,
        version=row.version,
        created_at=row.created_at,
        updated_at=row.updated_at,
        projection=from_columns(row),
        lease_node=row.lease_node,
        lease_epoch=row.lease_epoch,
        lease_alive=bool(row.lease_alive),
        attempts=row.attempts,
        pending_since=row.pending_since,
    )


def _conditions(filters: WorkstreamFilters) -> list[ColumnElement[bool]]:
    columns = workstreams.c
    conditions: list[ColumnElement[bool]] = []
    if filters.state is not None:
        conditions.append(columns.state == _one_of(RestState, filters.state, "state"))
    if filters.owner is not None:
        conditions.append(columns.owner == storable(filters.owner))
    if filters.node is not None:
        conditions.append(columns.lease_node == storable(filters.node))
    if filters.label is not None:
        conditions.append(contains(columns.labels, encode_json(storable(filters.label))))
    if filters.q is not None:
        conditions.append(contains(columns.search_text, storable(filters.q).casefold()))
    if filters.waiting_for is not None:
        kind = _one_of(WaitKind, filters.waiting_for, "waiting_for")
        conditions.append(contains(columns.waiting_kinds, f",{kind},"))
    return conditions


def _one_of(choices: Any, value: str, field: str) -> str:
    allowed = get_args(choices)
    if value not in allowed:
        raise Invalid(f"{field} must be one of {', '.join(allowed)}", field=field)
    return value


def _behind(cursor: str) -> ColumnElement[bool]:
    updated_at, workstream_id = decode_cursor(cursor, tuple[str, str])
    columns = workstreams.c
    return or_(
        columns.updated_at < storable(updated_at),
        and_(columns.updated_at == storable(updated_at), columns.id > storable(workstream_id)),
    )
