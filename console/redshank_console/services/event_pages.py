"""Reads pages of a workstream's log in the form in which clients get it."""

import msgspec

from redshank_shared.domain.errors import Invalid, NotFound
from redshank_shared.domain.ids import WorkstreamId
from redshank_shared.stores.database import Database
from redshank_shared.stores.event_log import EventLog

PAGE_EVENTS = 500
LARGEST_PAGE = 1000
_LARGEST_SEQ = 2**53


class Encoded(msgspec.Struct, frozen=True):
    """An event as it is sent: its number, its kind, its JSON bytes."""

    seq: int
    kind: str
    data: bytes


class EventPages:
    """Reads only."""

    def __init__(self, database: Database, log: EventLog) -> None:
        self._database = database
        self._log = log

    async def after(
        self, workstream_id: WorkstreamId, after: int, limit: int = PAGE_EVENTS
    ) -> list[Encoded]:
        """At most `limit` events with seq > `after`, in order."""
        rows = await self._database.run(self._log.read_encoded, workstream_id, after, limit)
        return [Encoded(seq, kind, data) for seq, kind, data in rows]

    async def checked_after(
        self, workstream_id: WorkstreamId, after: int, field: str, limit: int = PAGE_EVENTS
    ) -> list[Encoded]:
        """`after`, for a cursor that came from outside: Invalid beyond the log's end; NotFound."""
        if not 0 <= after <= _LARGEST_SEQ:
            raise beyond(field, None)
        page = await self.after(workstream_id, after, limit)
        if not page:
            last_seq = await self.total(workstream_id)
            if after > last_seq:
                raise beyond(field, last_seq)
        return page

    async def total(self, workstream_id: WorkstreamId) -> int:
        """How many events there are; NotFound where there is no such workstream."""
        count = await self._database.run(self._log.count, workstream_id)
        if count == 0:
            raise NotFound(
                f"there is no workstream {workstream_id}; list them with GET /v1/workstreams",
                code="workstream_not_found",
                field="id",
            )
        return count

    async def json_page(
        self, workstream_id: WorkstreamId, after: int, field: str, limit: int
    ) -> bytes:
        """`{items, next_cursor, total}` of what has seq > `after`; at most 1,000 of them."""
        limit = min(limit, LARGEST_PAGE)
        page = await self.checked_after(workstream_id, after, field, limit + 1)
        total = await self.total(workstream_id)
        cursor = b'"%d"' % page[limit - 1].seq if len(page) > limit else b"null"
        items = b",".join(event.data for event in page[:limit])
        return b'{"items":[%s],"next_cursor":%s,"total":%d}' % (items, cursor, total)


def beyond(field: str, last_seq: int | None) -> Invalid:
    """The refusal of a cursor that is no place in the log."""
    upto = "its last one" if last_seq is None else str(last_seq)
    return Invalid(
        f"{field} must be a sequence number of this log, 0 to {upto}",
        code="bad_cursor",
        field=field,
    )
