"""Background work of a workstream: what a task is, which state may follow which (K-24)."""

from typing import Literal, get_args

import msgspec

from redshank_shared.domain.errors import Conflict, Invalid

TaskKind = Literal["plain", "shell"]
TaskState = Literal["pending", "in_progress", "blocked", "completed", "failed", "cancelled"]
TASK_STATES: tuple[TaskState, ...] = get_args(TaskState)
ENDED: frozenset[TaskState] = frozenset({"completed", "failed", "cancelled"})
NODE_STOPPED = "node_stopped"

_OPEN: frozenset[TaskState] = frozenset({"pending", "in_progress", "blocked"})
# An ended task is taken up again as in_progress only: what it was before is over.
_FOLLOWS: dict[TaskState, frozenset[TaskState]] = {
    "pending": frozenset(TASK_STATES),
    "in_progress": frozenset(TASK_STATES),
    "blocked": frozenset(TASK_STATES),
    "completed": frozenset({"completed", "in_progress"}),
    "failed": frozenset({"failed", "in_progress"}),
    "cancelled": frozenset({"cancelled", "in_progress"}),
}


class Task(msgspec.Struct, frozen=True):
    """A piece of work. A `shell` task is a command that runs beyond its turn: `node_id` runs it,
    `output` holds the beginning with the end of what it wrote so far, `output_bytes` all that it
    wrote, `exit_code` is negative for a signal. `reason` says why it is in its state, where there
    is more to say; `stop_asked`: somebody wants it stopped. Times are RFC 3339 UTC.
    """

    task_id: str
    workstream_id: str
    kind: TaskKind
    subject: str
    created_at: str
    updated_at: str
    state: TaskState = "pending"
    description: str = ""
    reason: str = ""
    command: str = ""
    exit_code: int | None = None
    node_id: str = ""
    output: str = ""
    output_bytes: int = 0
    stop_asked: bool = False


class TaskChange(msgspec.Struct, frozen=True):
    """What is to be different; None stays as it is."""

    subject: str | None = None
    description: str | None = None
    state: TaskState | None = None
    reason: str | None = None


def changed(task: Task, change: TaskChange, at: str) -> Task:
    """The task as it is after the change. Conflict where its state may not follow; Invalid where
    nothing is to change.
    """
    wanted = {
        name: value for name, value in msgspec.structs.asdict(change).items() if value is not None
    }
    if not wanted:
        raise Invalid("nothing is to change: give state, subject, description or reason")
    state = change.state or task.state
    if task.kind == "shell" and state != task.state:
        raise Conflict(
            f"{task.task_id} is a command: its state follows the command; task_stop stops it"
        )
    if state not in _FOLLOWS[task.state]:
        raise Conflict(
            f"{task.task_id} is {task.state}, {state} cannot follow; "
            "set it in_progress, or create a new task"
        )
    if state != task.state:
        wanted.setdefault("reason", "")
    return msgspec.structs.replace(task, **wanted, updated_at=at)


def ended_state(exit_code: int | None) -> TaskState:
    """The state of a command that ended by itself."""
    return "completed" if exit_code == 0 else "failed"


def checked_deletable(task: Task) -> None:
    """Conflict for a command that runs."""
    if task.kind == "shell" and task.state in _OPEN:
        raise Conflict(f"{task.task_id} still runs; task_stop stops it, then delete it")
