"""Answers what there is: workstreams, their approvals, audits, transcript."""

from collections.abc import Callable
from typing import TypeVar

from redshank_console.collector.census import Registered
from redshank_console.collector.cluster import Cluster
from redshank_console.services.views import (
    Asked,
    Standing,
    approval_fields,
    input_of,
    view_of_row,
)
from redshank_shared.domain.errors import NotFound
from redshank_shared.domain.ids import WorkstreamId
from redshank_shared.domain.messages import AssistantMessage, Message, ResultMessage
from redshank_shared.domain.transcript import transcript
from redshank_shared.domain.workstream import Workstream
from redshank_shared.stores.approvals import Approvals
from redshank_shared.stores.audits import AuditRow, Audits
from redshank_shared.stores.database import Database
from redshank_shared.stores.paging import (
    Page,
    checked_limit,
    cut,
    decode_cursor,
    encode_cursor,
)
from redshank_shared.stores.workstreams import WorkstreamFilters, WorkstreamRow, Workstreams
from redshank_shared.wire.views import (
    AskedView,
    AuditView,
    InboxItem,
    MessageView,
    PageView,
    WorkstreamView,
)

Item = TypeVar("Item")
Shown = TypeVar("Shown")


class Reading:
    """Reads only. Every method raises Unavailable while the database does not answer."""

    def __init__(
        self,
        database: Database,
        workstreams: Workstreams,
        approvals: Approvals,
        audits: Audits,
        cluster: Cluster,
        now: Callable[[], float],
    ) -> None:
        self._database = database
        self._workstreams = workstreams
        self._approvals = approvals
        self._audits = audits
        self._cluster = cluster
        self._now = now

    async def workstream(self, workstream_id: WorkstreamId) -> WorkstreamView:
        """The view; NotFound."""
        row, asked = await self._database.run(self._row_and_asked, workstream_id)
        return view_of_row(
            row, asked, self._standing(row, await self._cluster.registered()), self._now()
        )

    async def workstreams(
        self, filters: WorkstreamFilters, node: str | None, limit: int, cursor: str | None
    ) -> PageView[WorkstreamView]:
        """A page of views, the last updated first. `node`: the name or id of the node at work.

        Invalid names the filter, limit or cursor to blame (F69).
        """
        registered = await self._cluster.registered()
        if node is not None:
            filters = _at_node(filters, node, registered)
        page, asked = await self._database.run(self._page_and_asked, filters, limit, cursor)
        now = self._now()
        return _shown(
            page,
            lambda row: view_of_row(
                row, asked.get(row.id, []), self._standing(row, registered), now
            ),
        )

    async def standing(self, workstream_id: WorkstreamId) -> Standing:
        """Who works on it now; NotFound."""
        row = await self._database.run(self._row, workstream_id)
        return self._standing(row, await self._cluster.registered())

    async def inbox(self, limit: int, cursor: str | None) -> PageView[InboxItem]:
        """What waits for a person anywhere, oldest first."""
        page = await self._database.run(self._approvals.pending, limit, cursor)
        return _shown(
            page,
            lambda row: InboxItem(
                workstream_id=row.workstream_id, **approval_fields(row.request, row.requested_at)
            ),
        )

    async def audits(
        self, workstream_id: WorkstreamId, limit: int, cursor: str | None
    ) -> PageView[AuditView]:
        """Every decision on a call of the workstream, in order (K46); NotFound."""
        await self._database.run(self._row, workstream_id)
        page = await self._database.run(self._audits.of_workstream, workstream_id, limit, cursor)
        return _shown(page, _audit)

    def history(self, state: Workstream, limit: int, cursor: str | None) -> PageView[MessageView]:
        """A page of the transcript as a model reads it, from its beginning."""
        limit = checked_limit(limit)
        messages = transcript(state)
        begin = max(decode_cursor(cursor, int), 0) if cursor else 0
        items, more = cut(list(messages[begin : begin + limit + 1]), limit)
        following = encode_cursor(begin + limit) if more else None
        return _shown(Page(tuple(items), following, len(messages)), _message)

    def _row(self, workstream_id: WorkstreamId) -> WorkstreamRow:
        row = self._workstreams.get(workstream_id)
        if row is None:
            raise NotFound(
                f"there is no workstream {workstream_id}; list them with GET /v1/workstreams",
                code="workstream_not_found",
                field="id",
            )
        return row

    def _row_and_asked(self, workstream_id: WorkstreamId) -> tuple[WorkstreamRow, list[Asked]]:
        row = self._row(workstream_id)
        return row, self._asked(row)

    def _page_and_asked(
        self, filters: WorkstreamFilters, limit: int, cursor: str | None
    ) -> tuple[Page[WorkstreamRow], dict[str, list[Asked]]]:
        page = self._workstreams.page(filters, limit, cursor)
        return page, {row.id: self._asked(row) for row in page.items}

    def _asked(self, row: WorkstreamRow) -> list[Asked]:
        if not row.projection.pending_approvals:
            return []
        return [
            (approval.request, approval.requested_at)
            for approval in self._approvals.of_workstream(row.id)
            if approval.state == "pending"
        ]

    def _standing(self, row: WorkstreamRow, registered: Registered) -> Standing:
        holder = row.lease_node if row.lease_alive and row.lease_node else ""
        return Standing(
            holder=registered.names.get(holder, holder),
            pending_since=row.pending_since,
            nodes_up=sum(node.state == "up" for node in registered.nodes),
        )


def _at_node(filters: WorkstreamFilters, node: str, registered: Registered) -> WorkstreamFilters:
    by_name = {known.name: known.id for known in registered.nodes}
    return WorkstreamFilters(
        state=filters.state,
        owner=filters.owner,
        node=by_name.get(node, node),
        label=filters.label,
        q=filters.q,
        waiting_for=filters.waiting_for,
    )


def _shown(page: Page[Item], show: Callable[[Item], Shown]) -> PageView[Shown]:
    return PageView(
        items=[show(item) for item in page.items],
        next_cursor=page.next_cursor,
        total=page.total,
    )


def _audit(row: AuditRow) -> AuditView:
    decided = row.decided
    return AuditView(
        seq=row.seq,
        at=row.at,
        call_id=decided.call_id,
        tool=decided.tool,
        canonical=decided.canonical,
        effect=decided.effect,
        decision=decided.decision,
        base_decision=decided.base_decision,
        effective_mode=decided.effective_mode,
        mode_effect=decided.mode_effect,
        pattern=decided.pattern,
        scope=decided.scope,
        origin=decided.origin,
        why=decided.why,
        input_digest=decided.input_digest,
    )


def _message(message: Message) -> MessageView:
    if isinstance(message, ResultMessage):
        return MessageView(
            seq=message.seq,
            role="tool",
            text=message.output,
            call_id=message.call_id,
            tool=message.tool,
            is_error=message.is_error,
        )
    if isinstance(message, AssistantMessage):
        calls = [
            AskedView(call_id=call.call_id, tool=call.tool, input=input_of(call.arguments))
            for call in message.calls
        ]
        return MessageView(seq=message.seq, role="assistant", text=message.text, calls=calls)
    return MessageView(seq=message.seq, role="user", text=message.text)
