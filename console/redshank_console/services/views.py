"""Shows a workstream as the API answers it: projection, approvals, who works on it."""

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

import msgspec

from redshank_shared.clock import rfc3339
from redshank_shared.domain.events import ApprovalRequested, Preview
from redshank_shared.domain.plan import project
from redshank_shared.domain.projection import Projection
from redshank_shared.domain.workstream import Workstream
from redshank_shared.stores.workstreams import WorkstreamRow
from redshank_shared.wire.views import (
    ApprovalView,
    PreviewView,
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


Asked = tuple[ApprovalRequested, str]


def view_of_row(
    row: WorkstreamRow, asked: Iterable[Asked], standing: Standing, now: float
) -> WorkstreamView:
    """A row of the list, with the approvals that wait (request, since)."""
    head = (row.id, row.version, row.created_at, row.updated_at)
    return _view(head, row.projection, asked, standing, now)


def view_of_state(state: Workstream, standing: Standing, now: float) -> WorkstreamView:
    """The state behind an append. `now`: seconds since 1970."""
    head = (str(state.id), state.version, state.created_at, state.updated_at)
    asked = [(waiting.requested, waiting.since) for waiting in state.approvals.values()]
    return _view(head, project(state), asked, standing, now)


def approval_fields(requested: ApprovalRequested, since: str) -> dict[str, Any]:
    """An approval's fields as pages and inboxes show them."""
    return {
        "request_id": requested.request_id,
        "call_id": requested.call_id,
        "tool": requested.tool,
        "input": input_of(requested.arguments),
        "preview": _preview(requested.preview),
        "input_digest": requested.input_digest,
        "requested_at": since,
    }


def input_of(arguments: str) -> Any:
    """A call's arguments: the object that they are, or their text where they are no JSON."""
    try:
        return msgspec.json.decode(arguments)
    except msgspec.DecodeError:
        return arguments


def _view(
    head: tuple[str, int, str, str],
    projection: Projection,
    asked: Iterable[Asked],
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
            ApprovalView(**approval_fields(requested, since)) for requested, since in asked
        ],
        pending_questions=[],
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


def _preview(preview: Preview) -> PreviewView:
    return PreviewView(
        title=preview.title,
        kind=preview.kind,
        body=preview.body,
        added=preview.added,
        removed=preview.removed,
    )
