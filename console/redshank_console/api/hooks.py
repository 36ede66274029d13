"""Routes of hooks: those that gave no answer."""

from typing import Annotated

from fastapi import APIRouter, Query, Response

from redshank_console.api.documented import answers
from redshank_console.api.listing import Listing
from redshank_console.services.hook_dead_letters import DeadLetterReading
from redshank_shared.wire.hook_views import DeadLetterView
from redshank_shared.wire.views import PageView


class HookRoutes:
    """Thin: each route names a reading."""

    def __init__(self, dead_letters: DeadLetterReading) -> None:
        self._dead_letters = dead_letters

    def router(self) -> APIRouter:
        """The routes, to stand below /v1."""
        router = APIRouter(prefix="/hooks")
        page = answers(200, PageView[DeadLetterView])
        router.add_api_route("/dead-letters", self.list, methods=["GET"], responses=page)
        return router

    async def list(self, query: Annotated[Listing, Query()]) -> Response:
        """A page of the hooks that failed after all their attempts, the newest first (K-80)."""
        page = await self._dead_letters.page(query.limit, query.cursor)
        return Response(page.model_dump_json(), media_type="application/json")
