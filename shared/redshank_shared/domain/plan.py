"""What a turn must do next: state -> step."""

import msgspec

from redshank_shared.domain.events import AnyFact, Recorded, RestState, StateChanged, WaitFor
from redshank_shared.domain.projection import Projection
from redshank_shared.domain.workstream import Call, Workstream, advance


class Settle(msgspec.Struct, frozen=True):
    """These calls were started and have no outcome: whoever runs them records it, else they were
    interrupted.
    """

    calls: tuple[Call, ...]


class Decide(msgspec.Struct, frozen=True):
    """These calls of the batch are not decided; nothing of the batch runs before all are (O9)."""

    calls: tuple[Call, ...]


class Run(msgspec.Struct, frozen=True):
    """Every call of the batch is decided and nothing waits for a person: these may start, in this
    order.
    """

    calls: tuple[Call, ...]


class Ask(msgspec.Struct, frozen=True):
    """The model owes an answer to what it has not read."""


class Compact(msgspec.Struct, frozen=True):
    """Somebody asked that the model's context be made shorter, and nothing else is in hand."""


class Rest(msgspec.Struct, frozen=True):
    """Nothing to do for a node: idle, waiting for a person, failed or closed."""

    state: RestState
    waiting_for: tuple[WaitFor, ...] = ()
    detail: str = ""


Step = Settle | Decide | Run | Ask | Compact | Rest


def plan(state: Workstream) -> Step:
    """The next step. Pure: the same state gives the same step on every node."""
    calls = state.open_calls
    if calls:
        return _with_calls(state, calls)
    if state.closed:
        return Rest("closed")
    if state.failed is not None:
        return Rest("failed", detail=state.failed.detail)
    if state.owes:
        return Ask()
    if state.compact_requested:
        return Compact()
    return Rest("idle")


def awaits_answer(state: Workstream, read: int) -> bool:
    """Whether what the model was asked at version `read` is still to be answered: an answer for a
    turn that was stopped since is dropped, its calls never run.
    """
    return isinstance(plan(state), Ask) and state.cancelled_at <= read


def _with_calls(state: Workstream, calls: list[Call]) -> Step:
    if started := tuple(call for call in calls if call.status == "started"):
        return Settle(started)
    if undecided := tuple(call for call in calls if call.status in ("asked", "edited", "denied")):
        return Decide(undecided)
    if state.approvals or state.questions:
        return Rest("waiting", tuple(_wait(state)))
    return Run(tuple(calls))


def _wait(state: Workstream) -> list[WaitFor]:
    return [
        WaitFor(
            "approval",
            waiting.since,
            f"{waiting.requested.tool} {waiting.requested.preview.title}".strip(),
        )
        for waiting in state.approvals.values()
    ] + [
        WaitFor("question", waiting.since, waiting.asked.questions[0].text)
        for waiting in state.questions.values()
    ]


def with_state(state: Workstream, facts: list[AnyFact], at: str) -> list[AnyFact]:
    """The facts, and behind them the `state` that a watcher should see now, if it is another than
    was shown last.
    """
    after = advance(state, number(state.version, at, facts))
    rest = plan(after)
    shown = (
        StateChanged(rest.state, rest.waiting_for, rest.detail)
        if isinstance(rest, Rest)
        else StateChanged("running")
    )
    return facts if after.shown == shown else [*facts, shown]


def number(version: int, at: str, facts: list[AnyFact]) -> list[Recorded]:
    """The facts in their places behind `version`, all at one time."""
    return [Recorded(version + offset, at, fact) for offset, fact in enumerate(facts, start=1)]


def project(state: Workstream) -> Projection:
    """What lists and counts need of this state."""
    step = plan(state)
    rest = step if isinstance(step, Rest) else Rest("running")
    created = state.created
    return Projection(
        name=created.name,
        owner=created.owner,
        state=rest.state,
        pending=not isinstance(step, Rest),
        title=state.title,
        profile=created.profile,
        persona=created.persona,
        mode=state.mode,
        model=created.model,
        labels=created.labels,
        parent=created.parent,
        directed_to=created.node,
        waiting_for=rest.waiting_for,
        input_tokens=state.input_tokens,
        output_tokens=state.output_tokens,
        calls=state.call_count,
        detail=rest.detail,
        pending_approvals=len(state.approvals),
    )
