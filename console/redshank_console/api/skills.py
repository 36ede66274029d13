"""Routes of skills: list, show, add, change, remove."""

from typing import Annotated, Literal

from fastapi import APIRouter, Query, Request, Response
from pydantic import Field

from redshank_console.api.documented import answers
from redshank_console.api.door import principal_of
from redshank_console.api.keyed import json_answer, keyed_request
from redshank_console.api.listing import Listing
from redshank_console.services.skills import SkillOrders
from redshank_shared.stores.skills import SkillFilters
from redshank_shared.wire.skill_requests import ChangedSkill, NewSkill
from redshank_shared.wire.skill_views import SkillView
from redshank_shared.wire.views import PageView, View


class SkillListing(Listing):
    """Which skills: of one origin, of one MCP server, or all."""

    origin: Literal["manual", "mcp"] | None = None
    server: Annotated[str | None, Field(max_length=200)] = None


class SkillRoutes:
    """Thin: each route names an order or a reading (T-77)."""

    def __init__(self, skills: SkillOrders) -> None:
        self._skills = skills

    def router(self) -> APIRouter:
        """The routes, to stand below /v1."""
        router = APIRouter(prefix="/skills")
        view, page = answers(200, SkillView), answers(200, PageView[SkillView])
        created = answers(201, SkillView, "Created")
        add = router.add_api_route
        add("", self.list, methods=["GET"], responses=page)
        add("", self.add, methods=["POST"], status_code=201, responses=created)
        add("/{name}", self.show, methods=["GET"], responses=view)
        add("/{name}", self.change, methods=["PUT"], responses=view)
        add("/{name}", self.remove, methods=["DELETE"], responses=view)
        return router

    async def list(self, query: Annotated[SkillListing, Query()]) -> Response:
        """Skills by name, those of MCP servers among them."""
        filters = SkillFilters(query.origin or "", query.server or "")
        return _json(await self._skills.page(filters, query.limit, query.cursor))

    async def show(self, name: str) -> Response:
        """The skill that counts under this name."""
        return _json(await self._skills.skill(name))

    async def add(self, request: Request, body: NewSkill) -> Response:
        """Make a manual skill; it wins over an MCP server's prompt of its name."""
        by = principal_of(request.scope).name
        return json_answer(await self._skills.add(body, by, await keyed_request(request)))

    async def change(self, request: Request, name: str, body: ChangedSkill) -> Response:
        """Change a manual skill; 403 for one that is an MCP server's prompt."""
        return _json(await self._skills.change(name, body, principal_of(request.scope).name))

    async def remove(self, request: Request, name: str) -> Response:
        """Remove a manual skill; 403 for one that is an MCP server's prompt."""
        return _json(await self._skills.remove(name, principal_of(request.scope).name))


def _json(view: View) -> Response:
    return Response(view.model_dump_json(), media_type="application/json")
