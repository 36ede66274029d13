"""A whole append as one statement, for a database that each statement travels to."""

from typing import Any

import msgspec
from sqlalchemy import (
    CTE,
    Column,
    Insert,
    Table,
    Text,
    Update,
    bindparam,
    cast,
    column,
    func,
    select,
)
from sqlalchemy.dialects.postgresql import JSON
from sqlalchemy.sql.expression import ClauseElement

from redshank_shared.stores.dialect import now_seconds
from redshank_shared.stores.implied import ImpliedRows
from redshank_shared.stores.tables import (
    approvals,
    events,
    idempotency_keys,
    ledger,
    permission_audits,
    workstreams,
)

_encode = msgspec.json.Encoder().encode
_KEY = ("scope", "key", "request_digest", "status", "answer")


def whole_append(move: Update, tables: tuple[Table, ...], *, keyed: bool) -> ClauseElement:
    """Move the workstream; where that went, insert the rows that `whole_values` names.

    It gives one row: how many workstreams were moved, 0 or 1. A key that is there already fails it
    (`duplicate_in` names the table), and nothing is written.
    """
    moved = move.returning(workstreams.c.id).cte("moved")
    parts = [_inserted(table, moved) for table in tables]
    if keyed:
        parts.append(_key_inserted(moved))
    return select(func.count()).select_from(moved).add_cte(*parts)


def rows_by_table(rows: ImpliedRows) -> dict[Table, list[dict[str, Any]]]:
    """The rows that an append inserts, without the tables that get none."""
    found = {
        events: rows.events,
        permission_audits: rows.audits,
        approvals: rows.approvals,
        ledger: rows.ledger,
    }
    return {table: new for table, new in found.items() if new}


def whole_values(inserted: dict[Table, list[dict[str, Any]]]) -> dict[str, str]:
    """The rows as the statement takes them: for each table one JSON array of objects. An array
    of the database's own for each column would have every quote of a fact escaped on its own.
    """
    return {_rows_name(table): _encode(rows).decode() for table, rows in inserted.items()}


def _inserted(table: Table, moved: CTE) -> CTE:
    fields = [field for field in table.c if field.name != "workstream_id" and not field.nullable]
    names = [field.name for field in fields]
    rows = cast(bindparam(_rows_name(table), type_=Text), JSON)
    given = (
        func.json_to_recordset(rows)
        .table_valued(
            *(column(field.name, field.type) for field in fields), name=f"given_{table.name}"
        )
        .render_derived(with_types=True)
    )
    source = select(moved.c.id, *given.c).select_from(moved).select_from(given)
    insert = table.insert().from_select(["workstream_id", *names], source)
    return insert.cte(f"new_{table.name}")


def _key_inserted(moved: CTE) -> CTE:
    columns: list[Column[Any]] = [idempotency_keys.c[name] for name in _KEY]
    values = [bindparam(column.name, type_=column.type) for column in columns]
    source = select(*values, now_seconds()).select_from(moved)
    insert: Insert = idempotency_keys.insert().from_select([*_KEY, "created_at"], source)
    return insert.cte("new_key")


def _rows_name(table: Table) -> str:
    return f"b_{table.name}"
