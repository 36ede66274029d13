"""Schedules: what is due, each due time taken once, the runs with their outcome."""

from collections.abc import Callable, Collection, Sequence
from typing import Any, Literal

import msgspec
from sqlalchemy import Connection, Delete, Row, and_, delete, func, or_, select, update

from redshank_shared.domain.cadence import Cadence
from redshank_shared.domain.due_events import ScheduleCreated
from redshank_shared.domain.recurrence import Policy, Recurrence, due, trigger
from redshank_shared.stores.database import Database
from redshank_shared.stores.dialect import now_seconds
from redshank_shared.stores.paging import Page, checked_limit, cut, decode_cursor, encode_cursor
from redshank_shared.stores.tables import schedule_runs, schedules
from redshank_shared.stores.text import storable

RunKind = Literal["fire", "poll", "push"]
RunState = Literal["triggered", "queued", "handed", "started", "done", "skipped", "lost"]

_decode_spec = msgspec.json.Decoder(ScheduleCreated).decode
_decode_cadence = msgspec.json.Decoder(Cadence).decode
_RUNS_KEPT = 50
_STANDING = (schedules.c.spec, schedules.c.cadence, schedules.c.runs, schedules.c.next_due)
_UNDER_WAY = ("queued", "handed", "started")
_STATES: dict[str, RunState] = {"claimed": "handed", "queued": "queued", "skipped": "skipped"}


class Run(msgspec.Struct, frozen=True):
    """One due time of a schedule. `due_at`, `began_at`: seconds since 1970 by the database's clock;
    `node`: the one that polled.
    """

    run_id: str
    schedule_id: str
    workstream_id: str
    kind: RunKind
    due_at: float
    state: RunState
    detail: str = ""
    node: str = ""
    began_at: float | None = None


class ScheduleRow(msgspec.Struct, frozen=True):
    """A schedule as lists show it. `spec` is as it was made, `cadence` the one that counts."""

    schedule_id: str
    workstream_id: str
    kind: str
    state: str
    spec: ScheduleCreated
    cadence: Cadence
    next_due: float | None
    runs: int
    last_output: str | None
    created_at: str
    detail: str


class Schedules:
    """Rows come and change with an append; here due times are taken and runs go on."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def take_due(self, new_run_id: Callable[[], str], limit: int = 200) -> list[Run]:
        """Take what is due, each due time once: its run is written with the next due time, in one
        transaction (F41). The runs to hand over.
        """
        with self._database.begin() as connection:
            now = connection.execute(select(now_seconds())).scalar_one()
            rows = connection.execute(
                select(schedules)
                .where(schedules.c.state == "active", schedules.c.next_due <= now)
                .order_by(schedules.c.next_due)
                .limit(limit)
                .with_for_update(skip_locked=True)
            ).all()
            under_way = _under_way(connection, [row.schedule_id for row in rows])
            taken = [
                run
                for row in rows
                for run in self._taken(
                    connection, row, now, under_way.get(row.schedule_id, set()), new_run_id
                )
            ]
            return taken + self._triggered(connection, limit)

    def seconds_to_next(self) -> float | None:
        """How long until something is due, by the database's clock; None if nothing will be."""
        statement = select(func.min(schedules.c.next_due) - now_seconds()).where(
            schedules.c.state == "active"
        )
        with self._database.read() as connection:
            seconds: float | None = connection.execute(statement).scalar_one()
        return seconds

    def not_taken_up(self, idle_seconds: float, limit: int = 200) -> list[Run]:
        """Runs that were handed over longer ago than this and never begun, oldest first."""
        columns = schedule_runs.c
        statement = (
            select(schedule_runs)
            .where(columns.state == "handed", columns.handed_at < now_seconds() - idle_seconds)
            .order_by(columns.handed_at)
            .limit(limit)
        )
        with self._database.read() as connection:
            return [_run(row) for row in connection.execute(statement)]

    def abandon(self, after_seconds: float) -> int:
        """Runs begun longer ago than this died with their node: recorded as lost, never repeated.

        How many schedules they were of; a run that waited for one of them gets its turn.
        """
        columns = schedule_runs.c
        statement = (
            update(schedule_runs)
            .where(columns.state == "started", columns.handed_at < now_seconds() - after_seconds)
            .values(state="lost", detail="its node stopped while it ran; it was not run again")
        )
        with self._database.begin() as connection:
            lost = set(connection.execute(statement.returning(columns.schedule_id)).scalars())
            _give_turns(connection, lost)
        return len(lost)

    def handed_again(self, run_id: str) -> None:
        """Note that a run was handed over anew."""
        with self._database.begin() as connection:
            connection.execute(
                update(schedule_runs)
                .where(schedule_runs.c.run_id == run_id)
                .values(handed_at=now_seconds())
            )

    def run(self, run_id: str) -> Run | None:
        """The run of this id, if there is one."""
        statement = select(schedule_runs).where(schedule_runs.c.run_id == run_id)
        with self._database.read() as connection:
            row = connection.execute(statement).first()
        return None if row is None else _run(row)

    def begin_run(self, run_id: str, node: str) -> bool:
        """Journal that a run is begun; False if somebody did so before (an effect never happens
        twice).
        """
        statement = (
            update(schedule_runs)
            .where(schedule_runs.c.run_id == run_id, schedule_runs.c.state == "handed")
            .values(
                state="started",
                node=storable(node),
                handed_at=now_seconds(),
                began_at=now_seconds(),
            )
        )
        with self._database.begin() as connection:
            return connection.execute(statement).rowcount == 1

    def end_run(
        self,
        run_id: str,
        state: RunState,
        detail: str,
        *,
        last_output: str | None = None,
    ) -> None:
        """Write a run's outcome; `last_output` is what the next poll of its watch compares with. A
        run that was taken for lost while it went on is what it comes to.
        """
        columns = schedule_runs.c
        ending = (
            update(schedule_runs)
            .where(columns.run_id == run_id)
            .values(
                state=state,
                detail=storable(detail),
                began_at=func.coalesce(columns.began_at, now_seconds()),
            )
            .returning(columns.schedule_id)
        )
        with self._database.begin() as connection:
            open_run = ending.where(columns.state.in_(("handed", "started")))
            ended = connection.execute(open_run).first()
            if ended is not None:
                _give_turns(connection, {ended.schedule_id})
            elif state == "done":
                # Who waited for it got the turn when it was called lost.
                ended = connection.execute(ending.where(columns.state == "lost")).first()
            if ended is None:
                return
            if last_output is not None:
                connection.execute(
                    update(schedules)
                    .where(schedules.c.schedule_id == ended.schedule_id)
                    .values(last_output=storable(last_output))
                )

    def get(self, schedule_id: str) -> ScheduleRow | None:
        """The schedule of this id, if there is one."""
        statement = select(schedules).where(schedules.c.schedule_id == schedule_id)
        with self._database.read() as connection:
            row = connection.execute(statement).first()
        return None if row is None else _schedule(row)

    def page(
        self, workstream_id: str = "", limit: int = 50, cursor: str | None = None
    ) -> Page[ScheduleRow]:
        """All schedules, or one workstream's: newest first; Invalid names `limit` or `cursor`."""
        limit = checked_limit(limit)
        columns = schedules.c
        mine = columns.workstream_id == storable(workstream_id) if workstream_id else None
        statement = select(schedules)
        counting = select(func.count()).select_from(schedules)
        if mine is not None:
            statement, counting = statement.where(mine), counting.where(mine)
        if cursor is not None:
            at, schedule_id = map(storable, decode_cursor(cursor, tuple[str, str]))
            same = and_(columns.created_at == at, columns.schedule_id < schedule_id)
            statement = statement.where(or_(columns.created_at < at, same))
        statement = statement.order_by(columns.created_at.desc(), columns.schedule_id.desc())
        with self._database.read() as connection:
            total = connection.execute(counting).scalar_one()
            rows = list(connection.execute(statement.limit(limit + 1)))
        rows, more = cut(rows, limit)
        following = encode_cursor((rows[-1].created_at, rows[-1].schedule_id)) if more else None
        return Page(tuple(_schedule(row) for row in rows), following, total)

    def runs_of(self, schedule_id: str) -> tuple[Run, ...]:
        """The last fifty runs of a schedule, newest first (K-91)."""
        statement = (
            select(schedule_runs)
            .where(schedule_runs.c.schedule_id == schedule_id)
            .order_by(schedule_runs.c.due_at.desc())
            .limit(_RUNS_KEPT)
        )
        with self._database.read() as connection:
            return tuple(_run(row) for row in connection.execute(statement))

    def _triggered(self, connection: Connection, limit: int) -> list[Run]:
        """Runs that somebody asked for, as the overlap policy lets them (K-89)."""
        rows = connection.execute(
            select(schedule_runs, *_STANDING)
            .join(schedules, schedules.c.schedule_id == schedule_runs.c.schedule_id)
            .where(schedule_runs.c.state == "triggered")
            .order_by(schedule_runs.c.due_at)
            .limit(limit)
            .with_for_update(skip_locked=True, of=schedule_runs)
        ).all()
        handed = []
        for row in rows:
            standing = _standing(row)
            under_way = _under_way(connection, [row.schedule_id]).get(row.schedule_id, set())
            step = trigger(standing, row.due_at, **_overlap(under_way))
            planned = step.runs[0]
            state = _STATES[planned.outcome]
            connection.execute(
                update(schedule_runs)
                .where(schedule_runs.c.run_id == row.run_id)
                .values(state=state, detail=planned.reason, handed_at=now_seconds())
            )
            if state != "skipped":
                connection.execute(
                    update(schedules)
                    .where(schedules.c.schedule_id == row.schedule_id)
                    .values(runs=schedules.c.runs + 1)
                )
            if state == "handed":
                handed.append(msgspec.structs.replace(_run(row), state="handed"))
        return handed

    def _taken(
        self,
        connection: Connection,
        row: Row[Any],
        now: float,
        under_way: set[str],
        new_run_id: Callable[[], str],
    ) -> list[Run]:
        step = due(_standing(row), now, **_overlap(under_way))
        kind: RunKind = "poll" if row.kind == "watch" else "fire"
        runs = [
            Run(
                run_id=new_run_id(),
                schedule_id=row.schedule_id,
                workstream_id=row.workstream_id,
                kind=kind,
                due_at=planned.due_at,
                state=_STATES[planned.outcome],
                detail=planned.reason,
            )
            for planned in step.runs
        ]
        new = [run for run in runs if self._recorded(connection, run)]
        connection.execute(
            update(schedules)
            .where(schedules.c.schedule_id == row.schedule_id)
            .values(next_due=step.after.next_due, runs=step.after.executions)
        )
        if step.after.next_due is not None:
            connection.execute(forget_old_runs(row.schedule_id))
        return [run for run in new if run.state == "handed"]

    def _recorded(self, connection: Connection, run: Run) -> bool:
        """Whether this due time had no run yet."""
        insert = self._database.dialect.insert(schedule_runs).values(
            **msgspec.structs.asdict(run), handed_at=now_seconds()
        )
        fresh = insert.on_conflict_do_nothing().returning(schedule_runs.c.run_id)
        return connection.execute(fresh).first() is not None


def forget_old_runs(schedule_id: str) -> Delete:
    """The last fifty runs of a schedule are kept, with what is under way (K-91)."""
    columns = schedule_runs.c
    oldest_kept = (
        select(columns.due_at)
        .where(columns.schedule_id == schedule_id)
        .order_by(columns.due_at.desc())
        .offset(_RUNS_KEPT - 1)
        .limit(1)
        .scalar_subquery()
    )
    over = columns.state.in_(("done", "skipped", "lost"))
    return delete(schedule_runs).where(
        columns.schedule_id == schedule_id, over, columns.due_at < oldest_kept
    )


def _standing(row: Row[Any]) -> Recurrence:
    spec = _decode_spec(row.spec)
    return Recurrence(
        cadence=_decode_cadence(row.cadence),
        policy=Policy(spec.overlap, spec.misfire, spec.max_executions or None),
        next_due=row.next_due,
        executions=row.runs,
    )


def _overlap(under_way: set[str]) -> dict[str, bool]:
    return {"open_run": bool(under_way - {"queued"}), "queued_run": "queued" in under_way}


def _under_way(connection: Connection, schedule_ids: Sequence[str]) -> dict[str, set[str]]:
    """The states of the runs that are not over, by schedule."""
    statement = select(schedule_runs.c.schedule_id, schedule_runs.c.state).where(
        schedule_runs.c.schedule_id.in_(schedule_ids), schedule_runs.c.state.in_(_UNDER_WAY)
    )
    found: dict[str, set[str]] = {}
    for schedule_id, state in connection.execute(statement) if schedule_ids else ():
        found.setdefault(schedule_id, set()).add(state)
    return found


def _give_turns(connection: Connection, schedule_ids: Collection[str]) -> None:
    """Runs that waited for one of these schedules' are handed over by the clock."""
    if schedule_ids:
        connection.execute(
            update(schedule_runs)
            .where(schedule_runs.c.schedule_id.in_(schedule_ids), schedule_runs.c.state == "queued")
            .values(state="handed", handed_at=0.0)
        )


def _run(row: Row[Any]) -> Run:
    return Run(
        run_id=row.run_id,
        schedule_id=row.schedule_id,
        workstream_id=row.workstream_id,
        kind=row.kind,
        due_at=row.due_at,
        state=row.state,
        detail=row.detail,
        node=row.node,
        began_at=row.began_at,
    )


def _schedule(row: Row[Any]) -> ScheduleRow:
    return ScheduleRow(
        schedule_id=row.schedule_id,
        workstream_id=row.workstream_id,
        kind=row.kind,
        state=row.state,
        spec=_decode_spec(row.spec),
        cadence=_decode_cadence(row.cadence),
        next_due=row.next_due,
        runs=row.runs,
        last_output=row.last_output,
        created_at=row.created_at,
        detail=row.detail,
    )
