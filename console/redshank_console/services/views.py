"""Shows a workstream as the API answers it: projection, approvals, who works on it."""

from datetime import UTC, datetime

import msgspec

from redshank_console.services.waiting_views import approval_fields, question_fields
from redshank_shared.clock import rfc3339
from redshank_shared.domain.events import ApprovalRequested
from redshank_shared.domain.plan import project
from redshank_shared.domain.projection import Projection
from redshank_shared.domain.question_events import QuestionAsked
from redshank_shared.domain.workstream import Workstream
from redshank_shared.stores.workstreams import WorkstreamRow
from redshank_shared.wire.views import (
    ApprovalView,
    QuestionView,
    UsageView,
    WaitView,
    WorkstreamView,
)

UNTAKEN_SECONDS = 1.0


class Standing(msgspec.Struct, frozen=True):
    """Who works on a workstream: the name of the lease's holder, or since when it waits for one.

    `pending_since`: seconds since 1970. `nodes_up`: how many nodes could take it.
    """

    holder: str = ""
    pending_since: float | None = None
    nodes_up: int = 0


class Pending(msgspec.Struct, frozen=True):
    """What waits for a person in a workstream: each request with its time (RFC 3339 UTC)."""

    approvals: tuple[tuple[ApprovalRequested, str], ...] = ()
    questions: tuple[tuple[QuestionAsked, str], ...] = ()


NOTHING = Pending()


def view_of_row(
    row: WorkstreamRow, pending: Pending, standing: Standing, now: float
) -> WorkstreamView:
    """A row of the list, with what waits for a person."""
    head = (row.id, row.version, row.created_at, row.updated_at)
    return _view(head, row.projection, pending, standing, now)


def view_of_state(state: Workstream, standing: Standing, now: float) -> WorkstreamView:
    """The state behind an append. `now`: seconds since 1970."""
    head = (str(state.id), state.version, state.created_at, state.updated_at)
    pending = Pending(
        tuple((waiting.requested, waiting.since) for waiting in state.approvals.values()),
        tuple((waiting.asked, waiting.since) for waiting in state.questions.values()),
    )
    return _view(head, project(state), pending, standing, now)


def _view(
    head: tuple[str, int, str, str],
    projection: Projection,
    pending: Pending,
    standing: Standing,
    now: float,
) -> WorkstreamView:
    waits = [
        WaitView(kind=wait.kind, since=wait.since, detail=wait.detail)
        for wait in projection.waiting_for
    ]
    untaken = _untaken(projection, standing, now)
    workstream_id, version, created_at, updated_at = head
    return WorkstreamView(
        id=workstream_id,
        name=projection.name,
        title=projection.title,
        state="waiting" if untaken else projection.state,
        waiting_for=[untaken] if untaken else waits,
        node=standing.holder,
        profile=projection.profile,
        persona=projection.persona,
        mode=projection.mode,
        model=projection.model,
        owner=projection.owner,
        labels=list(projection.labels),
        parent=projection.parent,
        usage=UsageView(
            input_tokens=projection.input_tokens,
            output_tokens=projection.output_tokens,
            calls=projection.calls,
        ),
        pending_approvals=[
            ApprovalView(**approval_fields(requested, since))
            for requested, since in pending.approvals
        ],
        pending_questions=[
            QuestionView(**question_fields(asked, since)) for asked, since in pending.questions
        ],
        last_seq=version,
        detail=projection.detail,
        created_at=created_at,
        updated_at=updated_at,
    )


def _untaken(projection: Projection, standing: Standing, now: float) -> WaitView | None:
    """The wait of a workstream that has work, and no node took it for more than a second."""
    since = standing.pending_since
    if not projection.pending or standing.holder or since is None:
        return None
    if now - since <= UNTAKEN_SECONDS:
        return None
    detail = "no node has a free slot" if standing.nodes_up else "no node is up"
    if projection.directed_to:
        detail = f"no node that answers to {projection.directed_to} took it"
    return WaitView(kind="queue", since=rfc3339(datetime.fromtimestamp(since, UTC)), detail=detail)
