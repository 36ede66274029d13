"""Routes of what an agent shows beside its conversation."""

from fastapi import APIRouter, Response

from redshank_console.api.documented import answers
from redshank_console.api.parts import Parts
from redshank_console.api.workstreams import workstream_id
from redshank_console.services.previews import previews_of
from redshank_shared.wire.preview_views import OpenedPreview
from redshank_shared.wire.views import PageView


class PreviewRoutes:
    """Thin: the route names a reading."""

    def __init__(self, parts: Parts) -> None:
        self._orders = parts.orders

    def router(self, prefix: str) -> APIRouter:
        """The routes below `prefix`."""
        router = APIRouter(prefix=prefix, tags=[prefix.rpartition("/")[2]])
        page = answers(200, PageView[OpenedPreview])
        router.add_api_route("/{id}/previews", self.previews, methods=["GET"], responses=page)
        return router

    async def previews(self, id: str) -> Response:
        """What the agent shows beside the conversation, the newest first (T-33)."""
        page = previews_of(await self._orders.load(workstream_id(id)))
        return Response(page.model_dump_json(), media_type="application/json")
