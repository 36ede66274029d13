"""Routes of a workstream's log: pages, the live stream, transcript, export, audits."""

from collections.abc import AsyncIterator
from typing import Annotated

from fastapi import APIRouter, Header, Query, Request, Response
from fastapi.responses import StreamingResponse

from redshank_console.api.documented import answers, answers_of_type
from redshank_console.api.event_stream import EventStream
from redshank_console.api.listing import Listing
from redshank_console.api.parts import Parts
from redshank_console.api.workstreams import workstream_id
from redshank_console.services.event_pages import PAGE_EVENTS, Encoded
from redshank_shared.domain.errors import Invalid
from redshank_shared.domain.ids import WorkstreamId
from redshank_shared.wire.views import AuditView, MessageView, PageView

STREAM_TYPE = "text/event-stream"
LINES_TYPE = "application/x-ndjson"


class EventRoutes:
    """Thin: each route names a reading."""

    def __init__(self, parts: Parts) -> None:
        self._orders = parts.orders
        self._reading = parts.reading
        self._pages = parts.pages
        self._feeds = parts.feeds
        self._gauges = parts.gauges
        self._standing = parts.standing

    def router(self, prefix: str) -> APIRouter:
        """The routes below `prefix`."""
        router = APIRouter(prefix=prefix, tags=[prefix.rpartition("/")[2]])
        events = answers_of_type(STREAM_TYPE, "A page, or the stream for who accepts one")
        events[200]["content"]["application/json"] = {}
        audits = answers(200, PageView[AuditView])
        messages = answers(200, PageView[MessageView])
        lines = answers_of_type(LINES_TYPE, "One event a line")
        add = router.add_api_route
        add("/{id}/events", self.events, methods=["GET"], responses=events)
        add("/{id}/permission-audits", self.audits, methods=["GET"], responses=audits)
        add("/{id}/history", self.history, methods=["GET"], responses=messages)
        add("/{id}/export", self.export, methods=["GET"], responses=lines)
        return router

    async def events(  # noqa: PLR0913 - the query as api.md gives it
        self,
        request: Request,
        id: str,
        after: Annotated[int | None, Query()] = None,
        cursor: Annotated[int | None, Query()] = None,
        limit: Annotated[int, Query(ge=1)] = 200,
        last_event_id: Annotated[str | None, Header()] = None,
    ) -> Response:
        """The events with seq > `after` (or `cursor`), in order, as a page of at most 1,000.

        With `Accept: text/event-stream` a stream that begins behind `Last-Event-ID`, else `after`,
        and goes on live.
        """
        ws = workstream_id(id)
        field = "after" if cursor is None else "cursor"
        begin = (after or 0) if cursor is None else cursor
        if STREAM_TYPE not in request.headers.get("accept", ""):
            page = await self._pages.json_page(ws, begin, field, limit)
            return Response(page, media_type="application/json")
        if last_event_id is not None:
            field, begin = "Last-Event-ID", _number(last_event_id)
        feed = await self._feeds.open(ws, begin, field)
        return EventStream(feed, self._gauges, self._standing)

    async def audits(self, id: str, query: Annotated[Listing, Query()]) -> Response:
        """Every decision on a call, in order."""
        page = await self._reading.audits(workstream_id(id), query.limit, query.cursor)
        return Response(page.model_dump_json(), media_type="application/json")

    async def history(self, id: str, query: Annotated[Listing, Query()]) -> Response:
        """The transcript as a model reads it."""
        state = await self._orders.load(workstream_id(id))
        page = self._reading.history(state, query.limit, query.cursor)
        return Response(page.model_dump_json(), media_type="application/json")

    async def export(self, id: str) -> Response:
        """The whole log, one JSON object a line."""
        ws = workstream_id(id)
        first = await self._pages.checked_after(ws, 0, "after")
        name = {"Content-Disposition": f'attachment; filename="{ws}.jsonl"'}
        return StreamingResponse(self._lines(ws, first), media_type=LINES_TYPE, headers=name)

    async def _lines(self, ws: WorkstreamId, page: list[Encoded]) -> AsyncIterator[bytes]:
        while page:
            yield b"".join(event.data + b"\n" for event in page)
            if len(page) < PAGE_EVENTS:
                return
            page = await self._pages.after(ws, page[-1].seq)


def _number(last_event_id: str) -> int:
    # A longer one is beyond any log, and int() would be asked for thousands of digits.
    if not last_event_id.isascii() or not last_event_id.isdigit() or len(last_event_id) > 18:
        raise Invalid(
            "Last-Event-ID must be the id of an event of this stream, a whole number",
            code="bad_cursor",
            field="Last-Event-ID",
        )
    return int(last_event_id)
