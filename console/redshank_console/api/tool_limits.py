"""Routes of runtime limits: show, set."""

from fastapi import APIRouter, Request, Response

from redshank_console.api.documented import answers
from redshank_console.api.door import principal_of
from redshank_console.api.keyed import json_answer, keyed_request
from redshank_console.services.tool_limits import ToolLimitOrders
from redshank_shared.wire.limit_requests import NewToolLimits
from redshank_shared.wire.limit_views import ToolLimitsView


class ToolLimitRoutes:
    """The same under two addresses (K-84)."""

    def __init__(self, orders: ToolLimitOrders) -> None:
        self._orders = orders

    def router(self) -> APIRouter:
        """The routes, to stand below /v1."""
        router = APIRouter()
        view = answers(200, ToolLimitsView)
        for path, method in (("/tool-limits", "PUT"), ("/runtime/tool-limits", "POST")):
            router.add_api_route(path, self.show, methods=["GET"], responses=view)
            router.add_api_route(path, self.set, methods=[method], responses=view)
        return router

    async def show(self) -> Response:
        """The limits in force."""
        view = await self._orders.current()
        return Response(view.model_dump_json(), media_type="application/json")

    async def set(self, request: Request, body: NewToolLimits) -> Response:
        """Change limits, from the next batch of calls on."""
        by = principal_of(request.scope).name
        return json_answer(await self._orders.set(body, by, await keyed_request(request)))
