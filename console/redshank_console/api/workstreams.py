"""Routes of workstreams: create, list, show, speak, steer."""

from typing import Annotated

from fastapi import APIRouter, Body, Query, Request, Response

from redshank_console.api.documented import answers
from redshank_console.api.door import principal_of
from redshank_console.api.keyed import json_answer, keyed_request
from redshank_console.api.listing import WorkstreamListing
from redshank_console.api.parts import Parts
from redshank_console.services.orders import Wanted
from redshank_shared.domain.commands import (
    CancelTurn,
    ChangeMode,
    CloseWorkstream,
    Command,
    PostMessage,
    RequestCompaction,
    RetryTurn,
)
from redshank_shared.domain.errors import Invalid
from redshank_shared.domain.ids import WorkstreamId, checked_id
from redshank_shared.stores.workstreams import WorkstreamFilters
from redshank_shared.wire.boundary_requests import delegation
from redshank_shared.wire.requests import NewFork, NewMessage, NewMode, NewWorkstream, Nothing
from redshank_shared.wire.views import PageView, PostedView, WorkstreamView

NoBody = Annotated[Nothing | None, Body()]


def workstream_id(text: str) -> WorkstreamId:
    """The id in a path; Invalid shows the shape."""
    return WorkstreamId(checked_id("ws", text, "id"))


class WorkstreamRoutes:
    """Thin: each route names a command or a reading."""

    def __init__(self, parts: Parts) -> None:
        self._orders = parts.orders
        self._reading = parts.reading

    def router(self, prefix: str) -> APIRouter:
        """The routes below `prefix`."""
        router = APIRouter(prefix=prefix, tags=[prefix.rpartition("/")[2]])
        view = answers(200, WorkstreamView)
        created = answers(201, WorkstreamView, "Created")
        posted = answers(202, PostedView, "In the log")
        page = answers(200, PageView[WorkstreamView])
        add = router.add_api_route
        # First, because routes are tried in order, and this one is called most.
        add("/{id}/messages", self.post, methods=["POST"], status_code=202, responses=posted)
        add("", self.create, methods=["POST"], status_code=201, responses=created)
        add("", self.list, methods=["GET"], responses=page)
        add("/{id}", self.show, methods=["GET"], responses=view)
        add("/{id}/cancel", self.cancel, methods=["POST"], responses=view)
        add("/{id}/close", self.close, methods=["POST"], responses=view)
        add("/{id}/retry", self.retry, methods=["POST"], responses=view)
        add("/{id}/compact", self.compact, methods=["POST"], responses=view)
        add("/{id}/mode", self.mode, methods=["POST"], responses=view)
        add("/{id}/fork", self.fork, methods=["POST"], status_code=201, responses=created)
        return router

    async def create(self, request: Request, body: NewWorkstream) -> Response:
        """Create a workstream; with `message` it begins to work at once."""
        by = principal_of(request.scope)
        if body.budget is not None:
            raise Invalid("budgets are not kept yet; leave budget out", field="budget")
        wanted = Wanted(
            owner=by.name,
            name=body.name.strip(),
            profile=body.profile,
            persona=body.persona,
            mode=body.mode,
            model=body.model,
            message=body.message,
            node=body.node,
            labels=body.labels,
            parent=checked_id("ws", body.parent, "parent") if body.parent else "",
            delegation=delegation(
                body.mode,
                body.allowed_tools,
                body.blocked_tools,
                body.capability_scope,
                body.credential_scope,
            ),
        )
        return json_answer(await self._orders.create(wanted, by, await keyed_request(request)))

    async def list(self, query: Annotated[WorkstreamListing, Query()]) -> Response:
        """A page of workstreams, the last updated first."""
        filters = WorkstreamFilters(
            state=query.state,
            owner=query.owner,
            label=query.label,
            q=query.q,
            waiting_for=query.waiting_for,
        )
        page = await self._reading.workstreams(filters, query.node, query.limit, query.cursor)
        return Response(page.model_dump_json(), media_type="application/json")

    async def show(self, id: str) -> Response:
        """One workstream."""
        view = await self._reading.workstream(workstream_id(id))
        return Response(view.model_dump_json(), media_type="application/json")

    async def post(self, request: Request, id: str, body: NewMessage) -> Response:
        """Say something to the agent. Once answered, it is in the log for good."""
        if body.attachments:
            raise Invalid(
                "attachments are not kept yet; put the words into text",
                field="attachments",
            )
        by = principal_of(request.scope).name
        message = PostMessage(text=body.text, author=by, when=body.when)
        keyed = await keyed_request(request, body.idempotency_key)
        return json_answer(await self._orders.post(workstream_id(id), message, keyed))

    async def cancel(self, request: Request, id: str, body: NoBody = None) -> Response:
        """Stop what the workstream does now; what waits for a person is cancelled."""
        return await self._ordered(request, id, CancelTurn(principal_of(request.scope).name))

    async def close(self, request: Request, id: str, body: NoBody = None) -> Response:
        """Close it for good; what waits for a person is cancelled."""
        return await self._ordered(request, id, CloseWorkstream(principal_of(request.scope).name))

    async def retry(self, request: Request, id: str, body: NoBody = None) -> Response:
        """Take a failed turn up again."""
        return await self._ordered(request, id, RetryTurn(principal_of(request.scope).name))

    async def compact(self, request: Request, id: str, body: NoBody = None) -> Response:
        """Shorten what the model reads; the log stays whole."""
        command = RequestCompaction(principal_of(request.scope).name)
        return await self._ordered(request, id, command)

    async def mode(self, request: Request, id: str, body: NewMode) -> Response:
        """Change the mode; calls that are decided already stay so."""
        command = ChangeMode(body.mode, principal_of(request.scope).name)
        return await self._ordered(request, id, command)

    async def fork(self, request: Request, id: str, body: NewFork) -> Response:
        """A new workstream that shares the log up to `after`; it rests until somebody speaks."""
        by = principal_of(request.scope)
        keyed = await keyed_request(request)
        return json_answer(await self._orders.fork(workstream_id(id), body.after, by, keyed))

    async def _ordered(self, request: Request, id: str, command: Command) -> Response:
        keyed = await keyed_request(request)
        return json_answer(await self._orders.order(workstream_id(id), command, keyed))
