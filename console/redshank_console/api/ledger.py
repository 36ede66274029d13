"""Routes of the ledger of outside effects: records, keys, export, check."""

from typing import Annotated

from fastapi import APIRouter, Query, Response
from fastapi.responses import StreamingResponse
from pydantic import BaseModel, ConfigDict

from redshank_console.api.documented import answers, answers_of_type
from redshank_console.api.events import LINES_TYPE
from redshank_console.api.listing import Listing
from redshank_console.api.parts import Parts
from redshank_shared.domain.ids import checked_id
from redshank_shared.wire.ledger_views import LedgerKeyView, LedgerReportView, RecordView
from redshank_shared.wire.views import PageView


class LedgerListing(Listing):
    """Whose records: those of one workstream, by its id, or all."""

    workstream: str | None = None


class WhoseLedger(BaseModel):
    """One workstream's ledger, by its id, or everyone's."""

    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True)

    workstream: str | None = None


class LedgerRoutes:
    """Thin: each route names a reading (B-8)."""

    def __init__(self, parts: Parts) -> None:
        self._reading = parts.ledger

    def router(self) -> APIRouter:
        """The routes, to stand below /v1."""
        router = APIRouter(prefix="/ledger")
        page = answers(200, PageView[RecordView])
        keys = answers(200, PageView[LedgerKeyView])
        report = answers(200, LedgerReportView)
        lines = answers_of_type(LINES_TYPE, "Keys, records, what the logs tell, then `end`")
        add = router.add_api_route
        add("", self.list, methods=["GET"], responses=page)
        add("/keys", self.keys, methods=["GET"], responses=keys)
        add("/verify", self.verify, methods=["GET"], responses=report)
        add("/export", self.export, methods=["GET"], responses=lines)
        return router

    async def list(self, query: Annotated[LedgerListing, Query()]) -> Response:
        """A page of records, by workstream, then in their order."""
        whose = _checked(query.workstream)
        page = await self._reading.page(whose, query.limit, query.cursor)
        return Response(page.model_dump_json(), media_type="application/json")

    async def keys(self) -> Response:
        """Every key that a node has signed with."""
        page = await self._reading.keys()
        return Response(page.model_dump_json(), media_type="application/json")

    async def verify(self, query: Annotated[WhoseLedger, Query()]) -> Response:
        """Whether records were changed, lost, reordered or put in."""
        report = await self._reading.verify(_checked(query.workstream))
        return Response(report.model_dump_json(), media_type="application/json")

    async def export(self, query: Annotated[WhoseLedger, Query()]) -> Response:
        """All that a check needs, one JSON object a line."""
        lines = self._reading.export(_checked(query.workstream))
        name = {"Content-Disposition": 'attachment; filename="ledger.jsonl"'}
        return StreamingResponse(lines, media_type=LINES_TYPE, headers=name)


def _checked(workstream: str | None) -> str:
    return checked_id("ws", workstream, "workstream") if workstream else ""
