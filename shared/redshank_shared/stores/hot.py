"""The statements of a turn's path, compiled once per database, run through the driver's cursor."""

from collections.abc import Callable, Sequence
from typing import Any, Literal

from sqlalchemy import Table, and_, bindparam, case, delete, func, null, or_, select, update
from sqlalchemy.engine.interfaces import DBAPICursor
from sqlalchemy.engine.interfaces import Dialect as Compiler
from sqlalchemy.sql.dml import ReturningUpdate
from sqlalchemy.sql.expression import ClauseElement, ColumnElement, Update

from redshank_shared.stores.dialect import Dialect, now_seconds
from redshank_shared.stores.tables import (
    RULES,
    approvals,
    asset_references,
    events,
    idempotency_keys,
    ledger,
    outbox,
    permission_audits,
    policy_revisions,
    questions,
    schedule_runs,
    schedules,
    workstreams,
)
from redshank_shared.stores.token_holders import find_holder
from redshank_shared.stores.whole_append import whole_append
from redshank_shared.stores.workstream_row import PROJECTED

# How an append moves its workstream: from outside, under a lease, giving that lease back.
Move = Literal["outside", "holding", "releasing"]
MOVED = (*PROJECTED, "updated_at")


class Statement:
    """One statement's text with the values that never change."""

    def __init__(
        self, clause: ClauseElement, compiler: Compiler, column_keys: Sequence[str] | None = None
    ) -> None:
        compiled = clause.compile(dialect=compiler, column_keys=column_keys)
        self._text = str(compiled)
        params = compiled.params or {}
        self._fixed = {name: value for name, value in params.items() if value is not None}

    def execute(self, cursor: DBAPICursor, values: dict[str, Any]) -> DBAPICursor:
        """Run it once; the cursor holds the rows it returned."""
        cursor.execute(self._text, {**self._fixed, **values} if self._fixed else values)
        return cursor

    def execute_many(self, cursor: DBAPICursor, rows: Sequence[dict[str, Any]]) -> None:
        """Run it for each row; nothing for none."""
        if len(rows) == 1:
            self.execute(cursor, rows[0])
        elif rows:
            cursor.executemany(self._text, [{**self._fixed, **row} for row in rows])


class HotStatements:
    """The dozen statements that a turn runs. A value that is no column's has a name in `b_`."""

    def __init__(self, dialect: Dialect, compiler: Compiler) -> None:
        self._compiler = compiler
        self._whole: dict[tuple[Move, tuple[Table, ...], bool], Statement] = {}
        self.move = {move: Statement(make(), compiler) for move, make in _MOVES.items()}
        self.holder = Statement(_holder(), compiler)
        self.create = Statement(_create(dialect), compiler, [*MOVED, "id", "version", "created_at"])
        self.insert_event = Statement(events.insert(), compiler)
        self.insert_audit = Statement(permission_audits.insert(), compiler)
        self.insert_approval = Statement(
            approvals.insert(),
            compiler,
            ["request_id", "workstream_id", "state", "requested_at", "request", "expires_at"],
        )
        self.resolve_approval = Statement(
            _resolve_approval(),
            compiler,
            ["state", "resolved_at", "resolved_by", "scope", "reason"],
        )
        self.insert_question = Statement(
            questions.insert(),
            compiler,
            ["request_id", "workstream_id", "kind", "state", "asked_at", "request", "expires_at"],
        )
        self.answer_question = Statement(
            _answer_question(), compiler, ["state", "answered_at", "answered_by", "answers"]
        )
        self.insert_schedule = Statement(schedules.insert(), compiler)
        self.insert_run = Statement(schedule_runs.insert(), compiler)
        self.insert_delivery = Statement(outbox.insert(), compiler)
        self.insert_record = Statement(ledger.insert(), compiler)
        self.insert_reference = Statement(
            dialect.insert(asset_references).on_conflict_do_nothing(),
            compiler,
            ["workstream_id", "digest"],
        )
        self.remove_delivery = Statement(
            delete(outbox).where(outbox.c.delivery_id == bindparam("b_delivery_id")), compiler
        )
        self.change_schedule = Statement(
            _change_schedule(), compiler, ["state", "next_due", "updated_at", "detail"]
        )
        self.insert_key = Statement(
            dialect.insert(idempotency_keys)
            .values(created_at=now_seconds())
            .on_conflict_do_nothing(),
            compiler,
            ["scope", "key", "request_digest", "status", "answer"],
        )
        self.find_key = Statement(_find_key(), compiler)
        self.find_holder = Statement(find_holder(), compiler)
        self.read_events = Statement(_read_events(), compiler)
        self.claim = Statement(_claim(), compiler)
        self.claim_with_facts = Statement(_claim_with_facts(), compiler)
        self.renew = Statement(_renew(), compiler)
        self.release = Statement(_release(), compiler)

    def whole_append(self, move: Move, tables: tuple[Table, ...], *, keyed: bool) -> Statement:
        """The one statement that moves and inserts into these tables, compiled when first asked."""
        form = (move, tables, keyed)
        if form not in self._whole:
            clause = whole_append(_MOVES[move](), tables, keyed=keyed)
            self._whole[form] = Statement(clause, self._compiler)
        return self._whole[form]


def _append() -> Update:
    rising = case(
        (bindparam("b_pending", type_=workstreams.c.pending.type).is_(False), null()),
        (workstreams.c.pending, workstreams.c.pending_since),
        else_=now_seconds(),
    )
    return (
        update(workstreams)
        .where(workstreams.c.id == bindparam("b_id"))
        .where(workstreams.c.version == bindparam("b_expected"))
        .values(version=bindparam("b_version"), pending_since=rising)
        .values({name: bindparam(f"b_{name}", type_=workstreams.c[name].type) for name in MOVED})
    )


def _append_holding() -> Update:
    return _held(_append().values(attempts=0))


def _append_and_release() -> Update:
    pending = bindparam("b_pending", type_=workstreams.c.pending.type)
    return _held(
        _append().values(
            lease_node=null(),
            lease_until=null(),
            attempts=0,
            pending_since=case((pending.is_(True), now_seconds()), else_=null()),
        )
    )


def _held(statement: Update) -> Update:
    return statement.where(workstreams.c.lease_epoch == bindparam("b_epoch")).where(
        workstreams.c.lease_node == bindparam("b_node")
    )


_MOVES: dict[Move, Callable[[], Update]] = {
    "outside": _append,
    "holding": _append_holding,
    "releasing": _append_and_release,
}


def _holder() -> ClauseElement:
    columns = (workstreams.c.version, workstreams.c.lease_node, workstreams.c.lease_epoch)
    return select(*columns).where(workstreams.c.id == bindparam("b_id"))


def _create(dialect: Dialect) -> ClauseElement:
    pending = bindparam("b_pending", type_=workstreams.c.pending.type)
    return (
        dialect.insert(workstreams)
        .values(
            pending_since=case((pending.is_(True), now_seconds()), else_=null()),
            lease_epoch=0,
            attempts=0,
        )
        .on_conflict_do_nothing()
    )


def _resolve_approval() -> Update:
    return (
        update(approvals)
        .where(approvals.c.request_id == bindparam("b_request_id"))
        .where(approvals.c.workstream_id == bindparam("b_id"))
        .where(approvals.c.state == "pending")
    )


def _answer_question() -> Update:
    return (
        update(questions)
        .where(questions.c.request_id == bindparam("b_request_id"))
        .where(questions.c.workstream_id == bindparam("b_id"))
        .where(questions.c.state == "pending")
    )


def _change_schedule() -> Update:
    cadence = bindparam("b_cadence", type_=schedules.c.cadence.type)
    return (
        update(schedules)
        .where(schedules.c.schedule_id == bindparam("b_schedule_id"))
        .where(or_(schedules.c.state == "active", schedules.c.state == "paused"))
        .values(cadence=func.coalesce(cadence, schedules.c.cadence))
    )


def _find_key() -> ClauseElement:
    keys = idempotency_keys.c
    return select(keys.request_digest, keys.status, keys.answer).where(
        keys.scope == bindparam("b_scope"), keys.key == bindparam("b_key")
    )


def _read_events() -> ClauseElement:
    return (
        select(events.c.seq, events.c.kind, events.c.at, events.c.fact)
        .where(events.c.workstream_id == bindparam("b_id"))
        .where(events.c.seq > bindparam("b_after"))
        .order_by(events.c.seq)
        .limit(bindparam("b_limit"))
    )


def _lease_end() -> ColumnElement[float]:
    return now_seconds() + bindparam("b_seconds", type_=workstreams.c.lease_until.type)


def _claim_with_facts() -> ClauseElement:
    """For a database that writes in a WITH clause."""
    claimed = _claim().cte("claimed")
    newer = and_(events.c.workstream_id == bindparam("b_id"), events.c.seq > bindparam("b_after"))
    return (
        select(claimed, events.c.seq, events.c.kind, events.c.at, events.c.fact)
        .select_from(claimed.outerjoin(events, newer))
        .order_by(events.c.seq)
    )


def _claim() -> ReturningUpdate[Any]:
    columns = workstreams.c
    free = or_(columns.lease_node.is_(None), columns.lease_until < now_seconds())
    return (
        update(workstreams)
        .where(columns.id == bindparam("b_id"))
        .where(columns.pending)
        .where(free)
        .values(
            lease_epoch=columns.lease_epoch + 1,
            # A release clears lease_node, so that what stands here is a holder whose lease ran out.
            lease_previous=columns.lease_node,
            lease_node=bindparam("b_node"),
            lease_until=_lease_end(),
            attempts=columns.attempts + 1,
        )
        .returning(
            columns.version,
            columns.lease_epoch,
            columns.attempts,
            columns.lease_previous,
            _rules_revision(),
        )
    )


def _rules_revision() -> ColumnElement[int]:
    """Told with a claim, so that its first decisions go by the rules as they are."""
    columns = policy_revisions.c
    revision = select(columns.revision).where(columns.name == RULES).scalar_subquery()
    return func.coalesce(revision, 0).label("rules_revision")


def _renew() -> ClauseElement:
    columns = workstreams.c
    return (
        update(workstreams)
        .where(columns.lease_node == bindparam("b_node"))
        .values(lease_until=_lease_end())
        .returning(columns.id, columns.lease_epoch, columns.version)
    )


def _release() -> ClauseElement:
    columns = workstreams.c
    released = func.coalesce(case((columns.pending, now_seconds())), columns.pending_since)
    return _held(
        update(workstreams)
        .where(columns.id == bindparam("b_id"))
        .values(lease_node=null(), lease_until=null(), pending_since=released)
    )
