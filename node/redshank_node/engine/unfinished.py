"""Closes what a turn leaves unfinished."""

from collections.abc import Sequence

from redshank_node.engine.calls import refusal_result
from redshank_shared.domain.events import (
    AnyFact,
    ApprovalResolved,
    CallInterrupted,
    TurnFailed,
)
from redshank_shared.domain.plan import Rest, plan
from redshank_shared.domain.questions import withdrawn
from redshank_shared.domain.workstream import Call, Workstream


def interrupted(state: Workstream, lost: Sequence[Call]) -> list[AnyFact]:
    """The outcome of calls whose holder is gone: unknown, and not run again (law 2)."""
    facts: list[AnyFact] = []
    for call in lost:
        now = state.calls.get(call.asked.call_id)
        if now is None or now.status != "started" or now.started is None:
            continue
        node = now.started.node
        facts.append(
            CallInterrupted(
                call_id=call.asked.call_id,
                tool=call.asked.tool,
                node=node,
                output=(
                    f"Outcome unknown: node {node} stopped while this ran. "
                    "It was not run again. Look at what it did before you repeat it."
                ),
            )
        )
    return facts


def given_up(state: Workstream, attempts: int, by: str) -> list[AnyFact]:
    """A turn that takes its node along again and again is tried no further (F58)."""
    if isinstance(plan(state), Rest):
        return []
    facts = interrupted(state, state.open_calls)
    facts.extend(
        ApprovalResolved(request_id, waiting.requested.call_id, "cancelled", by)
        for request_id, waiting in state.approvals.items()
    )
    facts.extend(withdrawn(state.questions.values(), by, "cancelled"))
    facts.extend(
        refusal_result(call, "refused", "not run: the turn was given up")
        for call in state.open_calls
        if call.status != "started"
    )
    why = (
        f"taken up {attempts} times without a step forward; look at the nodes' logs, then retry it"
    )
    return [*facts, TurnFailed("dead_letter", why)]
