"""Background tasks: made, changed, kept alive by the node that runs them."""

from typing import Any, Literal

import msgspec
from sqlalchemy import Row, and_, delete, func, select, update

from redshank_shared.domain.errors import NotFound
from redshank_shared.domain.tasks import NODE_STOPPED, Task, TaskState
from redshank_shared.stores.database import Database
from redshank_shared.stores.dialect import now_seconds
from redshank_shared.stores.tables import tasks, workstreams
from redshank_shared.stores.text import storable

_FIELDS = tuple(field.name for field in msgspec.structs.fields(Task))
_WITHOUT_OUTPUT = tuple(tasks.c[name] for name in _FIELDS if name != "output")
# Goes on, is to stop, is to stop with its workstream.
Wish = Literal["on", "stop", "closed"]
_WORKSTREAM = (
    select(workstreams.c.state)
    .where(workstreams.c.id == tasks.c.workstream_id)
    .correlate(tasks)
    .scalar_subquery()
    .label("workstream_state")
)
_RUNS = and_(tasks.c.kind == "shell", tasks.c.state == "in_progress")


class Tasks:
    """The tasks of all workstreams. A shell task belongs to the node that runs it: that node alone
    writes its output, as long as it is seen.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, task: Task) -> None:
        """Keep a new task; one that runs counts as seen now."""
        values = {
            name: storable(value) if isinstance(value, str) else value
            for name, value in msgspec.structs.asdict(task).items()
        }
        with self._database.begin() as connection:
            connection.execute(tasks.insert().values(**values, seen_at=now_seconds()))

    def get(self, workstream_id: str, task_id: str) -> Task:
        """The workstream's task with its output; else NotFound."""
        statement = select(tasks).where(_named(workstream_id, task_id))
        with self._database.read() as connection:
            row = connection.execute(statement).first()
        if row is None:
            raise NotFound(f"there is no task {task_id} here; task_list shows what there is")
        return _task(row)

    def of(self, workstream_id: str) -> list[Task]:
        """All of a workstream's, oldest first, without what they wrote."""
        statement = (
            select(*_WITHOUT_OUTPUT)
            .where(tasks.c.workstream_id == storable(workstream_id))
            .order_by(tasks.c.created_at, tasks.c.task_id)
        )
        with self._database.read() as connection:
            return [_task(row) for row in connection.execute(statement)]

    def count(self, workstream_id: str) -> int:
        """How many a workstream has."""
        statement = (
            select(func.count())
            .select_from(tasks)
            .where(tasks.c.workstream_id == storable(workstream_id))
        )
        with self._database.read() as connection:
            return connection.execute(statement).scalar_one()

    def put(self, task: Task, was: TaskState) -> bool:
        """Write what may change of a task that nobody changed meanwhile; whether that was so."""
        statement = (
            update(tasks)
            .where(_named(task.workstream_id, task.task_id), tasks.c.state == was)
            .values(
                subject=storable(task.subject),
                description=storable(task.description),
                state=task.state,
                reason=storable(task.reason),
                updated_at=task.updated_at,
            )
        )
        with self._database.begin() as connection:
            return connection.execute(statement).rowcount == 1

    def delete(self, workstream_id: str, task_id: str) -> None:
        """Forget a task that does not run, with what it wrote."""
        with self._database.begin() as connection:
            connection.execute(delete(tasks).where(_named(workstream_id, task_id), ~_RUNS))

    def beat(
        self, task_id: str, node_id: str, output: str | None, output_bytes: int
    ) -> Wish | None:
        """Say that the node still runs the task, with what it wrote so far where that is new.

        What is to become of it; None where the task is this node's no more.
        """
        values: dict[str, Any] = {"seen_at": now_seconds(), "output_bytes": output_bytes}
        if output is not None:
            values["output"] = storable(output)
        statement = update(tasks).where(_mine(task_id, node_id)).values(**values)
        with self._database.begin() as connection:
            row = connection.execute(statement.returning(tasks.c.stop_asked, _WORKSTREAM)).first()
        if row is None:
            return None
        return "closed" if row.workstream_state == "closed" else "stop" if row.stop_asked else "on"

    def end(self, task: Task) -> bool:
        """Write how a task ended; False where it was its node's no more."""
        statement = (
            update(tasks)
            .where(_mine(task.task_id, task.node_id))
            .values(
                state=task.state,
                reason=storable(task.reason),
                exit_code=task.exit_code,
                output=storable(task.output),
                output_bytes=task.output_bytes,
                updated_at=task.updated_at,
            )
        )
        with self._database.begin() as connection:
            return connection.execute(statement).rowcount == 1

    def ask_stop(self, workstream_id: str, task_id: str) -> None:
        """Let the node that runs the task know that it is to be stopped."""
        statement = update(tasks).where(_named(workstream_id, task_id), _RUNS)
        with self._database.begin() as connection:
            connection.execute(statement.values(stop_asked=True))

    def fail_unseen(self, by_node: str, for_seconds: float, at: str) -> int:
        """Mark what no other node has said to run for so long: its node died, the command with it.
        How many; what it wrote stays (K-24). A machine that slept does not give up its own.
        """
        old = tasks.c.seen_at < now_seconds() - for_seconds
        unseen = and_(tasks.c.node_id != storable(by_node), old)
        statement = (
            update(tasks)
            .where(_RUNS, unseen)
            .values(state="failed", reason=NODE_STOPPED, updated_at=at)
        )
        with self._database.begin() as connection:
            return connection.execute(statement).rowcount


def _named(workstream_id: str, task_id: str) -> Any:
    return and_(
        tasks.c.task_id == storable(task_id), tasks.c.workstream_id == storable(workstream_id)
    )


def _mine(task_id: str, node_id: str) -> Any:
    return and_(tasks.c.task_id == task_id, tasks.c.node_id == storable(node_id), _RUNS)


def _task(row: Row[Any]) -> Task:
    known = row._mapping
    return Task(**{name: known[name] for name in _FIELDS if name in known})
