"""The log of every workstream: append with the version that was read, read in order."""

from collections.abc import Sequence
from typing import Any

import msgspec
from sqlalchemy import func, select
from sqlalchemy.engine.interfaces import DBAPICursor

from redshank_shared.domain.errors import Conflict, Fenced, NotFound, RedshankError, VersionMoved
from redshank_shared.domain.events import AnyFact, Recorded, decode
from redshank_shared.domain.projection import Projection
from redshank_shared.stores.database import Database
from redshank_shared.stores.dialect import DRIVER_ERRORS, duplicate_in
from redshank_shared.stores.hot import Move
from redshank_shared.stores.idempotency import (
    IdempotencyEntry,
    entry_values,
    lost_race,
    write_entry,
)
from redshank_shared.stores.implied import ImpliedRows, imply
from redshank_shared.stores.permission_rules import AllowedAlways, PermissionRules
from redshank_shared.stores.tables import events, idempotency_keys
from redshank_shared.stores.whole_append import rows_by_table, whole_values
from redshank_shared.stores.workstream_row import to_columns

NO_LIMIT = 1 << 40


class Append(msgspec.Struct, frozen=True):
    """Facts for the log, behind `expected_version`.

    A lease holder names its `epoch` and `node_id`; anyone else leaves both None.
    `release` gives the lease back in the same transaction. `at` is RFC 3339 UTC. `always`: rules
    that the facts make, written with them.
    """

    workstream_id: str
    expected_version: int
    facts: tuple[AnyFact, ...]
    at: str
    projection: Projection
    epoch: int | None = None
    node_id: str | None = None
    release: bool = False
    idempotency: IdempotencyEntry | None = None
    always: tuple[AllowedAlways, ...] = ()


class EventLog:
    """Append-only. What a transaction of it wrote is there as a whole or not at all."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._rules = PermissionRules(database)

    def append(self, entry: Append) -> int:
        """Write the facts, the projection, what they imply; the new version.

        VersionMoved, Fenced, NotFound, Conflict (an approval or question is resolved already),
        IdempotencyRace: nothing was written. Unavailable: unknown, load to see.
        """
        version = entry.expected_version + len(entry.facts)
        rows = imply(entry.workstream_id, entry.expected_version, entry.at, entry.facts)
        move, values = _move(entry, version)
        if entry.always:
            with self._database.begin() as connection:
                self._append(connection.connection.cursor(), entry, move, values, rows)
                for allowed in entry.always:
                    self._rules.allow_always(connection, allowed)
        elif not self._database.dialect.is_in_process and rows.only_inserts:
            self._append_whole(entry, move, values, rows)
        else:
            with self._database.hot_transaction() as cursor:
                self._append(cursor, entry, move, values, rows)
        return version

    def create(
        self,
        workstream_id: str,
        facts: Sequence[AnyFact],
        at: str,
        projection: Projection,
        idempotency: IdempotencyEntry | None = None,
    ) -> int:
        """Begin a workstream with these facts; its version.

        Conflict (the id is taken), IdempotencyRace: nothing was written.
        """
        rows = imply(workstream_id, 0, at, facts)
        columns = _columns(projection, at)
        columns.update(id=workstream_id, version=len(facts), created_at=at)
        with self._database.hot_transaction() as cursor:
            if self._database.hot.create.execute(cursor, columns).rowcount == 0:
                raise Conflict(
                    f"there is a workstream {workstream_id} already: create one under a new id",
                    code="duplicate",
                )
            self._insert(cursor, rows)
            if idempotency is not None:
                write_entry(self._database, cursor, idempotency)
        return len(facts)

    def read(self, workstream_id: str, after: int = 0, limit: int | None = None) -> list[Recorded]:
        """The facts with seq > `after`, in order, at most `limit`."""
        with self._database.hot_statement() as cursor:
            return read_recorded(self._database, cursor, workstream_id, after, limit)

    def read_encoded(
        self, workstream_id: str, after: int = 0, limit: int | None = None
    ) -> list[tuple[int, str, bytes]]:
        """(seq, kind, a stream event's `data`) of the same facts, none of them decoded."""
        with self._database.hot_statement() as cursor:
            rows = _select(self._database, cursor, workstream_id, after, limit)
        return [
            (seq, kind, b'{"seq":%d,"at":"%s",%s' % (seq, at.encode(), fact[1:].encode()))
            for seq, kind, at, fact in rows
        ]

    def count(self, workstream_id: str) -> int:
        """How many facts the log of this workstream has; 0 if there is none."""
        with self._database.read() as connection:
            statement = select(func.count()).where(events.c.workstream_id == workstream_id)
            return connection.execute(statement).scalar_one()

    def _append(
        self,
        cursor: DBAPICursor,
        entry: Append,
        move: Move,
        values: dict[str, Any],
        rows: ImpliedRows,
    ) -> None:
        if self._database.hot.move[move].execute(cursor, values).rowcount == 0:
            raise self._refusal(cursor, entry)
        self._insert(cursor, rows)
        if entry.idempotency is not None:
            write_entry(self._database, cursor, entry.idempotency)

    def _append_whole(
        self, entry: Append, move: Move, values: dict[str, Any], rows: ImpliedRows
    ) -> None:
        inserted = rows_by_table(rows)
        key = entry.idempotency
        hot = self._database.hot
        statement = hot.whole_append(move, tuple(inserted), keyed=key is not None)
        values.update(whole_values(inserted))
        if key is not None:
            values.update(entry_values(key))
        with self._database.hot_write() as cursor:
            try:
                (moved,) = statement.execute(cursor, values).fetchall()[0]
            except DRIVER_ERRORS as error:
                if key is not None and duplicate_in(error) == idempotency_keys.name:
                    raise lost_race(key) from error
                raise
            if not moved:
                raise self._refusal(cursor, entry)

    def _refusal(self, cursor: DBAPICursor, entry: Append) -> RedshankError:
        holder = self._database.hot.holder.execute(cursor, {"b_id": entry.workstream_id})
        return _refusal(entry, holder.fetchone())

    def _insert(self, cursor: DBAPICursor, rows: ImpliedRows) -> None:
        hot = self._database.hot
        hot.insert_event.execute_many(cursor, rows.events)
        hot.insert_audit.execute_many(cursor, rows.audits)
        hot.insert_approval.execute_many(cursor, rows.approvals)
        hot.insert_schedule.execute_many(cursor, rows.schedules)
        hot.insert_run.execute_many(cursor, rows.schedule_runs)
        hot.insert_delivery.execute_many(cursor, rows.deliveries)
        hot.remove_delivery.execute_many(cursor, rows.settled)
        hot.insert_record.execute_many(cursor, rows.ledger)
        hot.insert_question.execute_many(cursor, rows.questions)
        hot.insert_reference.execute_many(cursor, rows.references)
        for change in rows.schedule_changes:
            hot.change_schedule.execute(cursor, change)
        for resolution in rows.resolutions:
            if hot.resolve_approval.execute(cursor, resolution).rowcount == 0:
                raise Conflict(
                    f"approval {resolution['b_request_id']} waits no more: load the workstream "
                    "to see who resolved it",
                    code="approval_resolved",
                    field="request_id",
                )
        for answer in rows.answers:
            if hot.answer_question.execute(cursor, answer).rowcount == 0:
                raise Conflict(
                    f"question {answer['b_request_id']} waits no more: load the workstream to see "
                    "who answered it",
                    code="question_resolved",
                    field="request_id",
                )


def read_recorded(
    database: Database,
    cursor: DBAPICursor,
    workstream_id: str,
    after: int = 0,
    limit: int | None = None,
) -> list[Recorded]:
    """`EventLog.read` in the transaction at hand."""
    return [
        Recorded(seq, at, decode(kind, fact))
        for seq, kind, at, fact in _select(database, cursor, workstream_id, after, limit)
    ]


def _select(
    database: Database, cursor: DBAPICursor, workstream_id: str, after: int, limit: int | None
) -> Sequence[Any]:
    values = {
        "b_id": workstream_id,
        "b_after": after,
        "b_limit": NO_LIMIT if limit is None else limit,
    }
    return database.hot.read_events.execute(cursor, values).fetchall()


def _move(entry: Append, version: int) -> tuple[Move, dict[str, Any]]:
    columns = to_columns(entry.projection)
    values = {f"b_{name}": value for name, value in columns.items()}
    values.update(
        b_updated_at=entry.at,
        b_id=entry.workstream_id,
        b_expected=entry.expected_version,
        b_version=version,
    )
    if entry.epoch is None:
        return "outside", values
    values.update(b_epoch=entry.epoch, b_node=entry.node_id)
    return "releasing" if entry.release else "holding", values


def _columns(projection: Projection, at: str) -> dict[str, Any]:
    columns = to_columns(projection)
    columns.update(updated_at=at, b_pending=projection.pending)
    return columns


def _refusal(entry: Append, row: Sequence[Any] | None) -> RedshankError:
    if row is None:
        return NotFound(f"there is no workstream {entry.workstream_id}", field="workstream")
    version, node, epoch = row
    if entry.epoch is not None and (epoch != entry.epoch or node != entry.node_id):
        return Fenced(
            f"the lease of {entry.workstream_id} went on to epoch {epoch}: drop epoch {entry.epoch}"
        )
    return VersionMoved(
        f"{entry.workstream_id} is at {version}, not {entry.expected_version}: load, decide again"
    )
