"""Answers what there is: workstreams, their approvals, audits, transcript."""

from collections.abc import Callable
from typing import TypeVar

from redshank_console.collector.census import Registered
from redshank_console.collector.cluster import Cluster
from redshank_console.services.decisions import audit_view
from redshank_console.services.principal import Principal
from redshank_console.services.views import NOTHING, Pending, Standing, view_of_row
from redshank_console.services.waiting_views import (
    decided_item,
    inbox_item,
    input_of,
    question_item,
)
from redshank_shared.domain.errors import NotFound
from redshank_shared.domain.ids import WorkstreamId
from redshank_shared.domain.messages import AssistantMessage, Message, ResultMessage
from redshank_shared.domain.transcript import transcript
from redshank_shared.domain.workstream import Workstream
from redshank_shared.stores.approvals import Approvals
from redshank_shared.stores.audits import Audits
from redshank_shared.stores.database import Database
from redshank_shared.stores.paging import (
    Page,
    checked_limit,
    cut,
    decode_cursor,
    encode_cursor,
)
from redshank_shared.stores.questions import Questions
from redshank_shared.stores.workstreams import WorkstreamFilters, WorkstreamRow, Workstreams
from redshank_shared.wire.views import (
    AskedView,
    AuditView,
    DecidedItem,
    InboxItem,
    MessageView,
    PageView,
    QuestionItem,
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
        questions: Questions,
        audits: Audits,
        cluster: Cluster,
        now: Callable[[], float],
    ) -> None:
        self._database = database
        self._workstreams = workstreams
        self._approvals = approvals
        self._questions = questions
        self._audits = audits
        self._cluster = cluster
        self._now = now

    async def workstream(self, workstream_id: WorkstreamId) -> WorkstreamView:
        """The view; NotFound."""
        row, pending = await self._database.run(self._row_and_pending, workstream_id)
        return view_of_row(
            row, pending, self._standing(row, await self._cluster.registered()), self._now()
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
        page, pending = await self._database.run(self._page_and_pending, filters, limit, cursor)
        now = self._now()
        return _shown(
            page,
            lambda row: view_of_row(
                row, pending.get(row.id, NOTHING), self._standing(row, registered), now
            ),
        )

    async def standing(self, workstream_id: WorkstreamId) -> Standing:
        """Who works on it now; NotFound."""
        row = await self._database.run(self._row, workstream_id)
        return self._standing(row, await self._cluster.registered())

    async def inbox(
        self, principal: Principal, limit: int, cursor: str | None
    ) -> PageView[InboxItem]:
        """The approvals that wait anywhere, oldest first, with what this person may say."""
        page = await self._database.run(self._approvals.pending, limit, cursor)
        return _shown(page, lambda row: inbox_item(row, principal))

    async def decided(self, limit: int, cursor: str | None) -> PageView[DecidedItem]:
        """The approvals that wait no more anywhere, decided last first."""
        page = await self._database.run(self._approvals.decided, limit, cursor)
        return _shown(page, decided_item)

    async def questions(
        self, principal: Principal, limit: int, cursor: str | None
    ) -> PageView[QuestionItem]:
        """The questions that wait anywhere, oldest first."""
        page = await self._database.run(self._questions.pending, limit, cursor)
        return _shown(page, lambda row: question_item(row, principal))

    async def questions_of(
        self, workstream_id: WorkstreamId, principal: Principal
    ) -> PageView[QuestionItem]:
        """The questions that wait in one workstream, oldest first; NotFound."""
        await self._database.run(self._row, workstream_id)
        rows = await self._database.run(self._questions.of_workstream, workstream_id)
        waiting = tuple(row for row in rows if row.state == "pending")
        return _shown(Page(waiting, None, len(waiting)), lambda row: question_item(row, principal))

    async def audits(
        self, workstream_id: WorkstreamId, limit: int, cursor: str | None
    ) -> PageView[AuditView]:
        """Every decision on a call of the workstream, in order (K46); NotFound."""
        await self._database.run(self._row, workstream_id)
        page = await self._database.run(self._audits.of_workstream, workstream_id, limit, cursor)
        return _shown(page, audit_view)

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

    def _row_and_pending(self, workstream_id: WorkstreamId) -> tuple[WorkstreamRow, Pending]:
        row = self._row(workstream_id)
        return row, self._pending(row)

    def _page_and_pending(
        self, filters: WorkstreamFilters, limit: int, cursor: str | None
    ) -> tuple[Page[WorkstreamRow], dict[str, Pending]]:
        page = self._workstreams.page(filters, limit, cursor)
        return page, {row.id: self._pending(row) for row in page.items}

    def _pending(self, row: WorkstreamRow) -> Pending:
        """Asks only where the row says that something waits."""
        approvals, questions = [], []
        if row.projection.pending_approvals:
            approvals = [
                (each.request, each.requested_at)
                for each in self._approvals.of_workstream(row.id)
                if each.state == "pending"
            ]
        if any(wait.kind == "question" for wait in row.projection.waiting_for):
            questions = [
                (each.request, each.asked_at)
                for each in self._questions.of_workstream(row.id)
                if each.state == "pending"
            ]
        return Pending(tuple(approvals), tuple(questions))

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
