"""Routes of approvals: the inbox, answers."""

from typing import Annotated

import msgspec
from fastapi import APIRouter, Query, Request, Response

from redshank_console.api.documented import answers
from redshank_console.api.door import principal_of
from redshank_console.api.keyed import json_answer, keyed_request
from redshank_console.api.listing import Listing
from redshank_console.api.parts import Parts
from redshank_console.api.workstreams import workstream_id
from redshank_console.services.waiting_views import run_view
from redshank_shared.domain.commands import Resolution, RevokeGrant
from redshank_shared.domain.errors import Invalid
from redshank_shared.domain.ids import checked_id
from redshank_shared.wire.requests import NewResolution, NewResolutions, RevokedGrant
from redshank_shared.wire.views import DecidedItem, InboxItem, PageView, RunView, WorkstreamView


class ApprovalRoutes:
    """Thin: each route names a command or a reading."""

    def __init__(self, parts: Parts) -> None:
        self._answers = parts.answers
        self._orders = parts.orders
        self._reading = parts.reading

    def router(self, prefix: str) -> APIRouter:
        """The routes below `prefix`."""
        router = APIRouter(prefix=prefix, tags=[prefix.rpartition("/")[2]])
        add = router.add_api_route
        view, run = answers(200, WorkstreamView), answers(202, RunView, "Goes on")
        add("/{id}/approvals", self.resolve, methods=["POST"], responses=view)
        add("/{id}/revoke-grant", self.revoke_grant, methods=["POST"], responses=view)
        add("/{id}/approval-runs", self.run_on, methods=["POST"], status_code=202, responses=run)
        return router

    def run_router(self) -> APIRouter:
        """Runs, to stand below /v1: a workstream's run has its id (K-52)."""
        router = APIRouter(prefix="/runs", tags=["runs"])
        add = router.add_api_route
        run = answers(202, RunView, "Goes on")
        add("/{id}", self.run, methods=["GET"], responses=answers(200, RunView))
        add("/{id}/approvals", self.run_on, methods=["POST"], status_code=202, responses=run)
        return router

    def inbox_router(self) -> APIRouter:
        """The inbox, to stand below /v1."""
        router = APIRouter()
        responses = answers(200, PageView[InboxItem])
        router.add_api_route("/approvals", self.inbox, methods=["GET"], responses=responses)
        responses = answers(200, PageView[DecidedItem])
        router.add_api_route(
            "/approvals/decided", self.decided, methods=["GET"], responses=responses
        )
        return router

    async def resolve(self, request: Request, id: str, body: NewResolutions) -> Response:
        """Answer approvals, all or none (K53). The first answer counts; later ones learn whose."""
        return await self._resolved(request, id, body, as_run=False)

    async def run_on(self, request: Request, id: str, body: NewResolutions) -> Response:
        """Answer approvals as above; the run that goes on is answered (K52)."""
        return await self._resolved(request, id, body, as_run=True)

    async def revoke_grant(self, request: Request, id: str, body: RevokedGrant) -> Response:
        """Take back what was allowed for a workstream; its next such call asks again."""
        command = RevokeGrant(body.pattern, principal_of(request.scope).name)
        keyed = await keyed_request(request)
        return json_answer(await self._orders.order(workstream_id(id), command, keyed))

    async def run(self, id: str) -> Response:
        """What a workstream does now, for what it waits."""
        view = run_view(await self._reading.workstream(workstream_id(id)))
        return Response(view.model_dump_json(), media_type="application/json")

    async def inbox(self, request: Request, query: Annotated[Listing, Query()]) -> Response:
        """Every approval that waits, oldest first, with how far your word may reach."""
        principal = principal_of(request.scope)
        page = await self._reading.inbox(principal, query.limit, query.cursor)
        return Response(page.model_dump_json(), media_type="application/json")

    async def decided(self, query: Annotated[Listing, Query()]) -> Response:
        """Every approval that waits no more, decided last first, with who decided."""
        page = await self._reading.decided(query.limit, query.cursor)
        return Response(page.model_dump_json(), media_type="application/json")

    async def _resolved(
        self, request: Request, id: str, body: NewResolutions, *, as_run: bool
    ) -> Response:
        resolutions = tuple(
            _resolution(index, resolution) for index, resolution in enumerate(body.resolutions)
        )
        principal = principal_of(request.scope)
        keyed = await keyed_request(request, body.idempotency_key)
        return json_answer(
            await self._answers.resolve(
                workstream_id(id), resolutions, principal, keyed, as_run=as_run
            )
        )


def _resolution(index: int, asked: NewResolution) -> Resolution:
    return Resolution(
        request_id=checked_id("apr", asked.request_id, f"resolutions[{index}].request_id"),
        behavior=asked.behavior,
        scope=asked.scope,
        updated_arguments=_arguments(index, asked),
        justification=asked.justification,
        reason=asked.reason,
    )


def _arguments(index: int, asked: NewResolution) -> str:
    if asked.updated_input is None:
        return ""
    try:
        return msgspec.json.encode(asked.updated_input).decode()
    except (UnicodeEncodeError, OverflowError, RecursionError, TypeError) as error:
        raise Invalid(
            "updated_input holds what JSON cannot carry, such as half of a surrogate pair",
            code="bad_character",
            field=f"resolutions[{index}].updated_input",
        ) from error
