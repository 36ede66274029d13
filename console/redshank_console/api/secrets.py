"""Routes of secrets: list, set, revoke, rotate; no answer holds a value."""

from typing import Annotated

from fastapi import APIRouter, Body, Query, Request, Response

from redshank_console.api.documented import answers
from redshank_console.api.door import principal_of
from redshank_console.api.listing import Listing
from redshank_console.api.parts import Parts
from redshank_shared.wire.requests import Nothing
from redshank_shared.wire.secret_views import NewSecret, RotationView, SecretView
from redshank_shared.wire.views import PageView, View

NoBody = Annotated[Nothing | None, Body()]


class SecretRoutes:
    """Thin: each route names what is kept. Each change is a new version, so none needs a key to be
    sent again.
    """

    def __init__(self, parts: Parts) -> None:
        self._keeping = parts.secrets
        self._audit = parts.admin_audit

    def router(self) -> APIRouter:
        """The routes, to stand below /v1."""
        router = APIRouter(prefix="/secrets")
        view, rotation = answers(200, SecretView), answers(200, RotationView)
        page = answers(200, PageView[SecretView])
        add = router.add_api_route
        add("", self.list, methods=["GET"], responses=page)
        add("/rotate", self.rotate, methods=["POST"], responses=rotation)
        add("/{slot}", self.put, methods=["PUT"], responses=view)
        add("/{slot}/revoke", self.revoke, methods=["POST"], responses=view)
        return router

    async def list(self, query: Annotated[Listing, Query()]) -> Response:
        """A page of slots by name, with their state."""
        return _json(await self._keeping.page(query.limit, query.cursor))

    async def put(self, request: Request, slot: str, body: NewSecret) -> Response:
        """Fill a slot; the next use takes the new value."""
        by = principal_of(request.scope).name
        return _json(await self._keeping.put(slot, body.value, by))

    async def revoke(self, request: Request, slot: str, body: NoBody = None) -> Response:
        """Erase a slot's value; the next use is refused."""
        by = principal_of(request.scope).name
        return _json(await self._keeping.revoke(slot, by))

    async def rotate(self, request: Request, body: NoBody = None) -> Response:
        """Seal every value anew under the active master key."""
        by = principal_of(request.scope).name
        view = await self._keeping.rotate()
        await self._audit.record(by, "secrets.rotated", view.key_id, f"{len(view.resealed)} slots")
        return _json(view)


def _json(view: View) -> Response:
    return Response(view.model_dump_json(), media_type="application/json")
