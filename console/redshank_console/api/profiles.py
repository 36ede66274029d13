"""Routes of profiles: list, show."""

from typing import Annotated

from fastapi import APIRouter, Query, Response

from redshank_console.api.documented import answers
from redshank_console.api.listing import Listing
from redshank_console.services.profiles import profile_page, profile_view
from redshank_shared.wire.profile_views import ProfileView
from redshank_shared.wire.views import PageView


class ProfileRoutes:
    """Thin: each route names a reading."""

    def router(self) -> APIRouter:
        """The routes, to stand below /v1."""
        router = APIRouter(prefix="/profiles")
        page = answers(200, PageView[ProfileView])
        view = answers(200, ProfileView)
        router.add_api_route("", self.list, methods=["GET"], responses=page)
        router.add_api_route("/{name}", self.show, methods=["GET"], responses=view)
        return router

    async def list(self, query: Annotated[Listing, Query()]) -> Response:
        """A page of profiles: whose names the tools have, what each does by default."""
        page = profile_page(query.limit, query.cursor)
        return Response(page.model_dump_json(), media_type="application/json")

    async def show(self, name: str) -> Response:
        """One profile with its tools."""
        view = profile_view(name)
        return Response(view.model_dump_json(), media_type="application/json")
