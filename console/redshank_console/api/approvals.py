"""Routes of what waits for a person: the inbox, answers to approvals, to questions."""

from typing import Annotated

import msgspec
from fastapi import APIRouter, Query, Request, Response

from redshank_console.api.documented import answers
from redshank_console.api.door import principal_of
from redshank_console.api.keyed import json_answer, keyed_request
from redshank_console.api.listing import Listing
from redshank_console.api.parts import Parts
from redshank_console.api.workstreams import workstream_id
from redshank_shared.domain.commands import Resolution
from redshank_shared.domain.errors import Invalid, NotFound
from redshank_shared.domain.ids import checked_id
from redshank_shared.wire.requests import NewAnswers, NewResolution, NewResolutions
from redshank_shared.wire.views import InboxItem, PageView, WorkstreamView


class ApprovalRoutes:
    """Thin: each route names a command or a reading."""

    def __init__(self, parts: Parts) -> None:
        self._orders = parts.orders
        self._reading = parts.reading

    def router(self, prefix: str) -> APIRouter:
        """The routes below `prefix`."""
        router = APIRouter(prefix=prefix, tags=[prefix.rpartition("/")[2]])
        view = answers(200, WorkstreamView)
        add = router.add_api_route
        add("/{id}/approvals", self.resolve, methods=["POST"], responses=view)
        add("/{id}/questions", self.answer, methods=["POST"], responses=view)
        return router

    def inbox_router(self) -> APIRouter:
        """The inbox, to stand below /v1."""
        router = APIRouter()
        responses = answers(200, PageView[InboxItem])
        router.add_api_route("/approvals", self.inbox, methods=["GET"], responses=responses)
        return router

    async def resolve(self, request: Request, id: str, body: NewResolutions) -> Response:
        """Answer approvals, all or none (K53). The first answer counts; later ones learn whose."""
        resolutions = tuple(
            _resolution(index, resolution) for index, resolution in enumerate(body.resolutions)
        )
        by = principal_of(request.scope).name
        keyed = await keyed_request(request, body.idempotency_key)
        return json_answer(await self._orders.resolve(workstream_id(id), resolutions, by, keyed))

    async def answer(self, id: str, body: NewAnswers) -> Response:
        """Answer questions. No agent can ask one yet, so none waits."""
        await self._orders.load(workstream_id(id))
        raise NotFound(
            f"no question {body.answers[0].question_id} waits in this workstream",
            code="question_not_waiting",
            field="answers[0].question_id",
        )

    async def inbox(self, query: Annotated[Listing, Query()]) -> Response:
        """Every approval that waits, oldest first."""
        page = await self._reading.inbox(query.limit, query.cursor)
        return Response(page.model_dump_json(), media_type="application/json")


def _resolution(index: int, asked: NewResolution) -> Resolution:
    if asked.scope == "always":
        raise Invalid(
            "always comes with permission rules; use workstream",
            code="scope_not_kept",
            field=f"resolutions[{index}].scope",
        )
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
