"""Routes by which a person signs in or out."""

from datetime import UTC, datetime
from typing import Annotated

from fastapi import APIRouter, Body, Request, Response

from redshank_console.api.documented import answers
from redshank_console.api.door import COOKIE, cookie_of, principal_of
from redshank_console.api.parts import Parts
from redshank_console.services.principal import Principal
from redshank_console.services.sign_in import SESSION_SECONDS
from redshank_shared.clock import rfc3339
from redshank_shared.domain.access import in_order
from redshank_shared.wire.access_requests import NewSignInLink
from redshank_shared.wire.requests import Credential
from redshank_shared.wire.views import MeView, SignInLinkView


class SignInRoutes:
    """Answers here carry secrets: none is kept under an idempotency key."""

    def __init__(self, parts: Parts) -> None:
        self._sign_in = parts.sign_in
        self._address = parts.address

    def router(self) -> APIRouter:
        """The routes, to stand below /v1."""
        router = APIRouter()
        me, link = (
            answers(200, MeView, "Who you are"),
            answers(201, SignInLinkView, "Good for once"),
        )
        add = router.add_api_route
        add("/me", self.me, methods=["GET"], responses=me)
        add("/signin", self.sign_in, methods=["POST"], responses=me)
        add("/signout", self.sign_out, methods=["POST"], status_code=204)
        add("/signin-links", self.link, methods=["POST"], status_code=201, responses=link)
        return router

    async def me(self, request: Request) -> Response:
        """Who asks."""
        view = _me(principal_of(request.scope))
        return Response(view.model_dump_json(), media_type="application/json")

    async def sign_in(self, request: Request, body: Credential) -> Response:
        """Give this browser a session for a link's code or a token."""
        secret, principal = await self._sign_in.redeem(body.code, body.token)
        view = _me(principal)
        response = Response(view.model_dump_json(), media_type="application/json")
        response.set_cookie(
            COOKIE,
            secret,
            max_age=SESSION_SECONDS,
            httponly=True,
            samesite="strict",
            secure=self._over_tls(request),
        )
        return response

    async def sign_out(self, request: Request) -> Response:
        """End this browser's session."""
        secret = cookie_of(request.scope)
        if secret is not None:
            await self._sign_in.sign_out(secret)
        response = Response(status_code=204)
        response.delete_cookie(
            COOKIE, httponly=True, samesite="strict", secure=self._over_tls(request)
        )
        return response

    async def link(
        self, request: Request, body: Annotated[NewSignInLink | None, Body()] = None
    ) -> Response:
        """A link that signs one browser in, once, within 15 minutes: as oneself, or as another
        user. It ends with the token by which it was asked for.
        """
        name = body.name if body is not None else ""
        code, ends = await self._sign_in.new_link_code(principal_of(request.scope), name)
        expires_at = rfc3339(datetime.fromtimestamp(ends, UTC))
        view = SignInLinkView(url=f"{self._address}/#/signin?code={code}", expires_at=expires_at)
        return Response(view.model_dump_json(), 201, media_type="application/json")

    def _over_tls(self, request: Request) -> bool:
        return request.url.scheme == "https" or self._address.startswith("https://")


def _me(principal: Principal) -> MeView:
    scopes = in_order(principal.scopes)
    return MeView(name=principal.name, role=principal.role, scopes=scopes)
