"""Routes of MCP servers: list, add, replace, remove, refresh, reconnect, accept."""

from typing import Annotated

from fastapi import APIRouter, Body, Query, Request, Response

from redshank_console.api.documented import answers
from redshank_console.api.door import principal_of
from redshank_console.api.keyed import json_answer, keyed_request
from redshank_console.api.listing import Listing
from redshank_console.services.mcp import Mcp
from redshank_console.services.mcp_catalog import (
    catalog_entry,
    catalog_page,
    profile_entry,
    profile_page,
)
from redshank_console.services.mcp_rounds import is_answered
from redshank_shared.wire.mcp_requests import (
    AcceptedChange,
    AcceptedToolChange,
    McpOrderName,
    McpServerRecord,
    NewMcpServer,
)
from redshank_shared.wire.mcp_views import (
    McpCatalogEntryView,
    McpOrdersView,
    McpOrderView,
    McpProfileView,
    McpServerDetailView,
    McpServersView,
    McpServerView,
    McpSlotView,
)
from redshank_shared.wire.requests import Nothing
from redshank_shared.wire.views import PageView, View

NoBody = Annotated[Nothing | None, Body()]


class McpRoutes:
    """Thin: each route names an order or a reading."""

    def __init__(self, mcp: Mcp) -> None:
        self._reading = mcp.reading
        self._orders = mcp.orders
        self._rounds = mcp.rounds
        self._slots = mcp.slots

    def router(self) -> APIRouter:
        """The routes, to stand below /v1."""
        router = APIRouter(prefix="/mcp")
        server, detail = answers(200, McpServerView), answers(200, McpServerDetailView)
        added = answers(201, McpServerView, "Added")
        add, servers, named = router.add_api_route, "/servers", "/servers/{name}"
        add(servers, self.list, methods=["GET"], responses=answers(200, McpServersView))
        add(servers, self.add, methods=["POST"], status_code=201, responses=added)
        add(named, self.show, methods=["GET"], responses=detail)
        add(named, self.replace, methods=["PUT"], responses=server)
        add(named, self.remove, methods=["DELETE"], responses=server)
        done = "What each node did; as 202 while a node is silent"
        order = answers(200, McpOrderView, done)
        add(f"{named}/refresh", self.refresh, methods=["POST"], responses=order)
        add(f"{named}/reconnect", self.reconnect, methods=["POST"], responses=order)
        everywhere = answers(200, McpOrdersView, done)
        add("/refresh", self.refresh_all, methods=["POST"], responses=everywhere)
        accept = f"{named}/tools/{{tool}}/accept"
        add(accept, self.accept, methods=["POST"], responses=detail)
        add(f"{named}/tools/accept", self.accept_named, methods=["POST"], responses=detail)
        self._add_lists(router)
        return router

    def _add_lists(self, router: APIRouter) -> None:
        add = router.add_api_route
        entry, profile = answers(200, McpCatalogEntryView), answers(200, McpProfileView)
        entries = answers(200, PageView[McpCatalogEntryView])
        profiles = answers(200, PageView[McpProfileView])
        add("/catalog", self.catalog, methods=["GET"], responses=entries)
        add("/catalog/{name}", self.catalog_entry, methods=["GET"], responses=entry)
        add("/profiles", self.profiles, methods=["GET"], responses=profiles)
        add("/profiles/{name}", self.profile, methods=["GET"], responses=profile)
        slots = answers(200, PageView[McpSlotView])
        add("/slots", self.slots, methods=["GET"], responses=slots)

    async def list(self, query: Annotated[Listing, Query()]) -> Response:
        """A page of servers by name, each with its nodes; the totals of all."""
        return _json(await self._reading.page(query.limit, query.cursor))

    async def add(self, request: Request, body: NewMcpServer) -> Response:
        """Add a server to every node; it stays over restarts."""
        by = principal_of(request.scope).name
        return json_answer(await self._orders.add(body, by, await keyed_request(request)))

    async def show(self, request: Request, name: str) -> Response:
        """One server with all that it offers."""
        return _json(await self._reading.server(name, principal_of(request.scope).name))

    async def replace(self, request: Request, name: str, body: McpServerRecord) -> Response:
        """Give a server that was added another record; every node connects to it anew."""
        by, keyed = principal_of(request.scope).name, await keyed_request(request)
        return json_answer(await self._orders.replace(name, body, by, keyed))

    async def remove(self, request: Request, name: str) -> Response:
        """Remove a server that was added from every node."""
        by, keyed = principal_of(request.scope).name, await keyed_request(request)
        return json_answer(await self._orders.remove(name, by, keyed))

    async def refresh(self, request: Request, name: str, body: NoBody = None) -> Response:
        """Have every node ask the server again; 202 where a node is silent for 10 s."""
        return await self._round(request, name, "refresh")

    async def reconnect(self, request: Request, name: str, body: NoBody = None) -> Response:
        """Have every node connect to the server anew; 202 where a node is silent for 10 s."""
        return await self._round(request, name, "reconnect")

    async def refresh_all(self, request: Request, body: NoBody = None) -> Response:
        """Have every node ask every server again; 202 where a node is silent for 10 s."""
        views = await self._rounds.of_all("refresh", principal_of(request.scope).name)
        return _json(McpOrdersView(items=views), _status(*views))

    async def accept(
        self, request: Request, name: str, tool: str, body: AcceptedChange
    ) -> Response:
        """Accept what a tool changed to; it is allowed again where it was."""
        by = principal_of(request.scope).name
        return _json(await self._orders.accept(name, tool, body.digest, by))

    async def accept_named(self, request: Request, name: str, body: AcceptedToolChange) -> Response:
        """Accept what a tool changed to, its name in the body: no path takes every name."""
        by = principal_of(request.scope).name
        return _json(await self._orders.accept(name, body.tool, body.digest, by))

    async def catalog(self, query: Annotated[Listing, Query()]) -> Response:
        """Servers that Redshank knows how to start, by name."""
        return _json(catalog_page(query.limit, query.cursor))

    async def catalog_entry(self, name: str) -> Response:
        """One of them."""
        return _json(catalog_entry(name))

    async def profiles(self, query: Annotated[Listing, Query()]) -> Response:
        """Sets of servers of the catalog, by name."""
        return _json(profile_page(query.limit, query.cursor))

    async def profile(self, name: str) -> Response:
        """One of them."""
        return _json(profile_entry(name))

    async def slots(self) -> Response:
        """Every slot that a server names, and what is in it: never a value."""
        items = await self._slots.all()
        return _json(PageView(items=items, next_cursor=None, total=len(items)))

    async def _round(self, request: Request, name: str, order: McpOrderName) -> Response:
        by = principal_of(request.scope).name
        view = await self._rounds.of_server(name, order, by)
        return _json(view, _status(view))


def _status(*views: McpOrderView) -> int:
    return 200 if all(map(is_answered, views)) else 202


def _json(view: View, status: int = 200) -> Response:
    return Response(view.model_dump_json(), status, media_type="application/json")
