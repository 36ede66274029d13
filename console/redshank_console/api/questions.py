"""Routes of questions: the inbox, answers, cancels."""

from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from redshank_console.api.documented import answers
from redshank_console.api.door import principal_of
from redshank_console.api.keyed import json_answer, keyed_request
from redshank_console.api.listing import Listing
from redshank_console.api.parts import Parts
from redshank_console.api.workstreams import NoBody, workstream_id
from redshank_shared.domain.ids import checked_id
from redshank_shared.domain.question_events import Answer
from redshank_shared.wire.requests import NewAnswers
from redshank_shared.wire.views import PageView, QuestionItem, RunView, WorkstreamView


class QuestionRoutes:
    """Thin: each route names a command or a reading."""

    def __init__(self, parts: Parts) -> None:
        self._answers = parts.answers
        self._reading = parts.reading

    def router(self, prefix: str) -> APIRouter:
        """The routes below `prefix`."""
        router = APIRouter(prefix=prefix, tags=[prefix.rpartition("/")[2]])
        add = router.add_api_route
        view, page = answers(200, WorkstreamView), answers(200, PageView[QuestionItem])
        add("/{id}/questions", self.answer, methods=["POST"], responses=view)
        add("/{id}/questions", self.of_workstream, methods=["GET"], responses=page)
        add("/{id}/questions/{rid}/cancel", self.cancel, methods=["POST"], responses=view)
        return router

    def run_router(self) -> APIRouter:
        """The same for runs, to stand below /v1 (K-54)."""
        router = APIRouter(prefix="/runs", tags=["runs"])
        add = router.add_api_route
        run = answers(202, RunView, "Goes on")
        cancel = "/{id}/questions/{rid}/cancel"
        add("/{id}/questions", self.answer_run, methods=["POST"], status_code=202, responses=run)
        add(cancel, self.cancel_run, methods=["POST"], status_code=202, responses=run)
        return router

    def inbox_router(self) -> APIRouter:
        """The inbox, to stand below /v1."""
        router = APIRouter()
        responses = answers(200, PageView[QuestionItem])
        router.add_api_route("/questions", self.inbox, methods=["GET"], responses=responses)
        return router

    async def answer(self, request: Request, id: str, body: NewAnswers) -> Response:
        """Answer all questions of a request. The first answer counts; later ones learn whose."""
        return await self._answered(request, id, body, as_run=False)

    async def answer_run(self, request: Request, id: str, body: NewAnswers) -> Response:
        """Answer as above; the run that goes on is answered."""
        return await self._answered(request, id, body, as_run=True)

    async def cancel(self, request: Request, id: str, rid: str, body: NoBody = None) -> Response:
        """Nobody will answer: the agent goes on without."""
        return await self._cancelled(request, id, rid, as_run=False)

    async def cancel_run(
        self, request: Request, id: str, rid: str, body: NoBody = None
    ) -> Response:
        """Cancel as above; the run that goes on is answered."""
        return await self._cancelled(request, id, rid, as_run=True)

    async def of_workstream(self, request: Request, id: str) -> Response:
        """The questions that wait in one workstream."""
        page = await self._reading.questions_of(workstream_id(id), principal_of(request.scope))
        return Response(page.model_dump_json(), media_type="application/json")

    async def inbox(self, request: Request, query: Annotated[Listing, Query()]) -> Response:
        """Every question that waits, oldest first."""
        principal = principal_of(request.scope)
        page = await self._reading.questions(principal, query.limit, query.cursor)
        return Response(page.model_dump_json(), media_type="application/json")

    async def _answered(
        self, request: Request, id: str, body: NewAnswers, *, as_run: bool
    ) -> Response:
        given = tuple(Answer(each.question_id, each.option_ids, each.text) for each in body.answers)
        principal = principal_of(request.scope)
        keyed = await keyed_request(request, body.idempotency_key)
        return json_answer(
            await self._answers.answer(workstream_id(id), given, principal, keyed, as_run=as_run)
        )

    async def _cancelled(self, request: Request, id: str, rid: str, *, as_run: bool) -> Response:
        request_id = checked_id("qst", rid, "rid")
        principal = principal_of(request.scope)
        keyed = await keyed_request(request)
        return json_answer(
            await self._answers.cancel(
                workstream_id(id), request_id, principal, keyed, as_run=as_run
            )
        )
