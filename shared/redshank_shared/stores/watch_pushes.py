"""What was pushed to watches from outside: who may, what waits to be judged."""

from typing import Any

import msgspec
from sqlalchemy import Connection, Row, delete, exists, func, select, update

from redshank_shared.domain.errors import Conflict, NotFound, RedshankError, TooMany
from redshank_shared.stores.database import Database
from redshank_shared.stores.dialect import now_seconds
from redshank_shared.stores.schedules import Run, forget_old_runs
from redshank_shared.stores.tables import schedule_runs, schedules, watch_pushes, watch_tokens
from redshank_shared.stores.text import storable

WINDOW_SECONDS = 60
MOST_PUSHES = 60
_UNDER_WAY = ("queued", "handed", "started")
_OVER = ("done", "skipped", "lost")
_LEAST_STEP = 0.001


class WatchToken(msgspec.Struct, frozen=True):
    """The right to push to one watch. `token_hash`: the hex SHA-256 of the secret, which is kept
    nowhere; `created_at`: RFC 3339 UTC.
    """

    token_hash: str
    schedule_id: str
    workstream_id: str
    created_at: str


class WatchPushes:
    """A push is durable once `accept` returned; then it is judged once, in its turn (B-10)."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def put_token(self, token: WatchToken) -> None:
        """Let this token push; the watch's earlier one ends."""
        values: dict[str, Any] = {**msgspec.structs.asdict(token), "window_at": 0.0, "pushes": 0}
        insert = self._database.dialect.insert(watch_tokens).values(values)
        with self._database.begin() as connection:
            connection.execute(
                insert.on_conflict_do_update(
                    index_elements=[watch_tokens.c.schedule_id], set_=values
                )
            )

    def revoke_token(self, schedule_id: str) -> bool:
        """Let nobody push to this watch any more; False if nobody could."""
        statement = delete(watch_tokens).where(watch_tokens.c.schedule_id == storable(schedule_id))
        with self._database.begin() as connection:
            return connection.execute(statement).rowcount == 1

    def accept(self, token_hash: str, run_id: str, output: str) -> str:
        """Keep what was pushed as the run that it will be; its workstream.

        NotFound for a token that is none, or whose watch is over; Conflict while the watch is
        paused; TooMany above 60 pushes a minute.
        """
        with self._database.begin() as connection:
            token = connection.execute(
                select(watch_tokens)
                .where(watch_tokens.c.token_hash == token_hash)
                .with_for_update()
            ).first()
            refusal = _refusal(connection, token)
            if token is not None and refusal is None:
                now = connection.execute(select(now_seconds())).scalar_one()
                _count(connection, token, now)
                connection.execute(
                    watch_pushes.insert().values(
                        run_id=run_id,
                        schedule_id=token.schedule_id,
                        workstream_id=token.workstream_id,
                        pushed_at=_behind_others(connection, token.schedule_id, now),
                        output=storable(output),
                    )
                )
        if token is None or refusal is not None:
            raise refusal or _no_such_hook()
        workstream: str = token.workstream_id
        return workstream

    def take(self, limit: int = 200) -> list[Run]:
        """The oldest push of each watch of which no run is under way, as a run to hand over: it
        counts as a poll.
        """
        columns, runs = watch_pushes.c, schedule_runs.c
        busy = exists().where(runs.schedule_id == columns.schedule_id, runs.state.in_(_UNDER_WAY))
        statement = (
            select(watch_pushes)
            .where(~busy)
            .order_by(columns.pushed_at, columns.run_id)
            .limit(limit)
            .with_for_update(skip_locked=True)
        )
        with self._database.read() as connection:
            if connection.execute(select(columns.run_id).where(~busy).limit(1)).first() is None:
                return []
        taken: dict[str, Run] = {}
        with self._database.begin() as connection:
            for row in connection.execute(statement).all():
                if row.schedule_id not in taken:
                    run = self._taken(connection, row)
                    if run is not None:
                        taken[row.schedule_id] = run
        return list(taken.values())

    def output(self, run_id: str) -> str | None:
        """What was pushed as this run; None where that was settled."""
        statement = select(watch_pushes.c.output).where(watch_pushes.c.run_id == run_id)
        with self._database.read() as connection:
            return connection.execute(statement).scalar_one_or_none()

    def settle(self, run_id: str) -> None:
        """What was pushed as this run was judged: it is needed no more."""
        with self._database.begin() as connection:
            connection.execute(delete(watch_pushes).where(watch_pushes.c.run_id == run_id))

    def _taken(self, connection: Connection, row: Row[Any]) -> Run | None:
        run = Run(
            run_id=row.run_id,
            schedule_id=row.schedule_id,
            workstream_id=row.workstream_id,
            kind="push",
            due_at=row.pushed_at,
            state="handed",
        )
        insert = self._database.dialect.insert(schedule_runs).values(
            **msgspec.structs.asdict(run), handed_at=now_seconds()
        )
        fresh = insert.on_conflict_do_nothing().returning(schedule_runs.c.run_id)
        if connection.execute(fresh).first() is None:
            _out_of_the_way(connection, row)
            return None
        connection.execute(
            update(schedules)
            .where(schedules.c.schedule_id == row.schedule_id)
            .values(runs=schedules.c.runs + 1)
        )
        connection.execute(forget_old_runs(row.schedule_id))
        return run


def _refusal(connection: Connection, token: Row[Any] | None) -> RedshankError | None:
    """Why this token may not push now; that of a watch that is over ends here."""
    if token is None:
        return _no_such_hook()
    statement = select(schedules.c.state).where(schedules.c.schedule_id == token.schedule_id)
    state = connection.execute(statement).scalar_one_or_none()
    if state == "active":
        return None
    if state == "paused":
        return Conflict(
            "the watch is paused: nothing was kept, push again once it is resumed",
            code="watch_paused",
        )
    connection.execute(delete(watch_tokens).where(watch_tokens.c.schedule_id == token.schedule_id))
    return _no_such_hook()


def _no_such_hook() -> NotFound:
    return NotFound("there is no such hook", code="no_such_hook")


def _count(connection: Connection, token: Row[Any], now: float) -> None:
    begins = now - token.window_at >= WINDOW_SECONDS
    if not begins and token.pushes >= MOST_PUSHES:
        wait = max(1, round(token.window_at + WINDOW_SECONDS - now))
        raise TooMany(
            f"more than {MOST_PUSHES} pushes in {WINDOW_SECONDS} s: push again in {wait} s", wait
        )
    connection.execute(
        update(watch_tokens)
        .where(watch_tokens.c.token_hash == token.token_hash)
        .values(
            window_at=now if begins else token.window_at,
            pushes=1 if begins else token.pushes + 1,
        )
    )


def _behind_others(connection: Connection, schedule_id: str, now: float) -> float:
    """A time of its own: pushes are judged in the order in which they came."""
    latest = select(func.max(watch_pushes.c.pushed_at)).where(
        watch_pushes.c.schedule_id == schedule_id
    )
    last: float | None = connection.execute(latest).scalar_one()
    return now if last is None else max(now, last + _LEAST_STEP)


def _out_of_the_way(connection: Connection, row: Row[Any]) -> None:
    """The run is over, its push was left by a node that died; or another was due in that moment."""
    mine = watch_pushes.c.run_id == row.run_id
    state = connection.execute(
        select(schedule_runs.c.state).where(schedule_runs.c.run_id == row.run_id)
    ).scalar_one_or_none()
    if state is None:
        later = row.pushed_at + _LEAST_STEP
        connection.execute(update(watch_pushes).where(mine).values(pushed_at=later))
    elif state in _OVER:
        connection.execute(delete(watch_pushes).where(mine))
