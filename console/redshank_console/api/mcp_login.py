"""Routes by which people log in to MCP servers, out of them."""

import html
import secrets
from typing import Annotated

from fastapi import APIRouter, Body, Query, Request, Response
from fastapi.responses import HTMLResponse, JSONResponse
from pydantic import BaseModel, ConfigDict, Field

from redshank_console.api.documented import answers, answers_of_type
from redshank_console.api.door import principal_of
from redshank_console.api.parts import Parts
from redshank_console.api.problems import problem_of
from redshank_console.services.mcp_login import redirect_addresses
from redshank_shared.domain.errors import NotFound, RedshankError
from redshank_shared.domain.oauth_flow import CallbackAnswer, client_document
from redshank_shared.wire.mcp_login_views import (
    McpAccountView,
    McpLoginAnswer,
    McpLoginView,
    McpLogoutView,
    NewMcpLogin,
)
from redshank_shared.wire.requests import Nothing
from redshank_shared.wire.views import PageView, View

COOKIE = "redshank_mcp_login"
_COOKIE_PATH = "/v1/mcp"
_COOKIE_SECONDS = 600
_LONGEST_COOKIE = 100
_SAFE = {
    "Content-Security-Policy": "default-src 'none'; base-uri 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    # The address of this page holds the code.
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}
_PAGE = """<!doctype html><html lang="en"><meta charset="utf-8">
<meta name="viewport" content="width=device-width"><title>{title} - Redshank</title>
<h1>{title}</h1>
<p>{text}</p></html>
"""


class Callback(BaseModel):
    """What an authorization server may send along with the browser; unknown names are passed over,
    so that one with more to say does not fail.
    """

    model_config = ConfigDict(hide_input_in_errors=True)

    state: Annotated[str, Field(max_length=200)] = ""
    code: Annotated[str, Field(max_length=16384)] = ""
    iss: Annotated[str, Field(max_length=2048)] = ""
    error: str = ""
    error_description: str = ""


class McpLoginRoutes:
    """Answers here carry a login's state: none is kept under an idempotency key."""

    def __init__(self, parts: Parts) -> None:
        self._login = parts.mcp_login
        self._address = parts.address
        self._redact = parts.redactor.of_output

    def router(self) -> APIRouter:
        """The routes, to stand below /v1."""
        router = APIRouter(prefix="/mcp")
        add, account = router.add_api_route, answers(200, McpAccountView)
        named = "/servers/{name}"
        begun = answers(201, McpLoginView, "Good for 10 minutes, once")
        add(f"{named}/login", self.begin, methods=["POST"], status_code=201, responses=begun)
        add(f"{named}/login", self.account, methods=["GET"], responses=account)
        add(f"{named}/login/refresh", self.renew, methods=["POST"], responses=account)
        out = answers(200, McpLogoutView)
        add(f"{named}/logout", self.log_out, methods=["POST"], responses=out)
        page = answers(200, PageView[McpAccountView])
        add("/accounts", self.accounts, methods=["GET"], responses=page)
        add("/oauth/complete", self.complete, methods=["POST"], responses=account)
        shown = answers_of_type("text/html", "A page for the person")
        add("/oauth/callback", self.callback, methods=["GET"], responses=shown)
        document = answers_of_type("application/json", "Our client metadata")
        add("/oauth/client.json", self.document, methods=["GET"], responses=document)
        return router

    async def begin(
        self, request: Request, name: str, body: Annotated[NewMcpLogin | None, Body()] = None
    ) -> Response:
        """Begin a login; the browser that asked, or the command line, must finish it."""
        asked, by = body or NewMcpLogin(), principal_of(request.scope).name
        browser = request.cookies.get(COOKIE, "")[:_LONGEST_COOKIE] or secrets.token_urlsafe(24)
        response = _json(await self._login.begin(name, asked, by, browser), 201)
        if not asked.redirect_uri:
            # Lax: the browser comes back from another site. Strict would keep the cookie from us.
            response.set_cookie(
                COOKIE,
                browser,
                max_age=_COOKIE_SECONDS,
                path=_COOKIE_PATH,
                httponly=True,
                samesite="lax",
                secure=self._address.startswith("https://"),
            )
        return response

    async def account(self, name: str) -> Response:
        """A server's account, without its tokens."""
        return _json(await self._login.account(name))

    async def accounts(self) -> Response:
        """The accounts of all servers that have one, or could."""
        items = await self._login.accounts()
        return _json(PageView(items=items, next_cursor=None, total=len(items)))

    async def renew(
        self, request: Request, name: str, body: Annotated[Nothing | None, Body()] = None
    ) -> Response:
        """Renew an account's token now."""
        return _json(await self._login.renew(name, principal_of(request.scope).name))

    async def log_out(
        self, request: Request, name: str, body: Annotated[Nothing | None, Body()] = None
    ) -> Response:
        """End a server's account."""
        return _json(await self._login.log_out(name, principal_of(request.scope).name))

    async def complete(self, request: Request, body: McpLoginAnswer) -> Response:
        """Finish a login that came back to a command line."""
        answer = CallbackAnswer(body.code, body.iss, body.error, body.error_description)
        by = principal_of(request.scope).name
        return _json(await self._login.complete(body.state, answer, by))

    async def callback(self, request: Request, query: Annotated[Callback, Query()]) -> Response:
        """Where a browser comes back from the authorization server."""
        answer = CallbackAnswer(query.code, query.iss, query.error, query.error_description)
        browser = request.cookies.get(COOKIE, "")
        try:
            view = await self._login.come_back(query.state, answer, browser)
        except RedshankError as error:
            text = self._redact(error.detail)
            return _page("The login failed", text, problem_of(error).status_code)
        text = f"Redshank is logged in to the MCP server {view.server}. You can close this window."
        return _page("Logged in", text, 200)

    async def document(self) -> Response:
        """Who we are, for authorization servers that take an address as client id."""
        address = self._login.document_address
        if not address:
            raise NotFound("this console has no public https address, so nobody could fetch this")
        document = client_document(address, redirect_addresses(self._address))
        return JSONResponse(document)


def _page(title: str, text: str, status: int) -> Response:
    content = _PAGE.format(title=html.escape(title), text=html.escape(text))
    return HTMLResponse(content, status, headers=_SAFE)


def _json(view: View, status: int = 200) -> Response:
    return Response(view.model_dump_json(), status, media_type="application/json")
