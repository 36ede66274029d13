"""Routes of schedules: create, list, show, steer."""

from typing import Annotated

from fastapi import APIRouter, Body, Query, Request, Response

from redshank_console.api.documented import answers
from redshank_console.api.door import principal_of
from redshank_console.api.keyed import json_answer, keyed_request
from redshank_console.api.listing import Listing
from redshank_console.api.parts import Parts
from redshank_console.services.principal import require
from redshank_console.services.schedule_orders import Change
from redshank_shared.domain.ids import checked_id
from redshank_shared.wire.requests import Nothing
from redshank_shared.wire.schedule_requests import NewSchedule
from redshank_shared.wire.schedule_views import ScheduleHistoryView, ScheduleView
from redshank_shared.wire.views import PageView

NoBody = Annotated[Nothing | None, Body()]


class ScheduleListing(Listing):
    """Whose schedules: those of one workstream, by its id, or all."""

    workstream: str | None = None


class ScheduleRoutes:
    """Thin: each route names a command or a reading (K-94)."""

    def __init__(self, parts: Parts) -> None:
        self._orders = parts.schedule_orders
        self._reading = parts.schedules

    def router(self) -> APIRouter:
        """The routes, to stand below /v1."""
        router = APIRouter(prefix="/schedules")
        view = answers(200, ScheduleView)
        created = answers(201, ScheduleView, "Created")
        history = answers(200, ScheduleHistoryView)
        page = answers(200, PageView[ScheduleView])
        add = router.add_api_route
        add("", self.create, methods=["POST"], status_code=201, responses=created)
        add("", self.list, methods=["GET"], responses=page)
        add("/{id}", self.show, methods=["GET"], responses=history)
        add("/{id}/pause", self.pause, methods=["POST"], responses=view)
        add("/{id}/resume", self.resume, methods=["POST"], responses=view)
        add("/{id}/cancel", self.cancel, methods=["POST"], responses=view)
        add("/{id}/trigger", self.trigger, methods=["POST"], responses=view)
        return router

    async def create(self, request: Request, body: NewSchedule) -> Response:
        """Make a schedule of a workstream; a watch is one too."""
        checked_id("ws", body.workstream, "workstream")
        if body.watch is not None:
            # Its command runs again and again, and nobody is asked.
            require(principal_of(request.scope), "approve", "a watch")
        by = principal_of(request.scope).name
        return json_answer(await self._orders.create(body, by, await keyed_request(request)))

    async def list(self, query: Annotated[ScheduleListing, Query()]) -> Response:
        """A page of schedules, the newest first."""
        whose = checked_id("ws", query.workstream, "workstream") if query.workstream else ""
        page = await self._reading.page(whose, query.limit, query.cursor)
        return Response(page.model_dump_json(), media_type="application/json")

    async def show(self, id: str) -> Response:
        """One schedule with its last runs."""
        view = await self._reading.schedule(id)
        return Response(view.model_dump_json(), media_type="application/json")

    async def pause(self, request: Request, id: str, body: NoBody = None) -> Response:
        """Stop its clock; what was left is kept."""
        return await self._changed(request, id, "pause")

    async def resume(self, request: Request, id: str, body: NoBody = None) -> Response:
        """Go on with what was left; a cron rejoins its pattern."""
        return await self._changed(request, id, "resume")

    async def cancel(self, request: Request, id: str, body: NoBody = None) -> Response:
        """End it for good."""
        return await self._changed(request, id, "cancel")

    async def trigger(self, request: Request, id: str, body: NoBody = None) -> Response:
        """Let it be due now."""
        return await self._changed(request, id, "trigger")

    async def _changed(self, request: Request, id: str, change: Change) -> Response:
        by = principal_of(request.scope).name
        keyed = await keyed_request(request)
        return json_answer(await self._orders.change(id, change, by, keyed))
