"""Routes of users, of tokens, of the record of what admins did."""

from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from redshank_console.api.documented import answers
from redshank_console.api.door import principal_of
from redshank_console.api.keyed import json_answer, keyed_request
from redshank_console.api.listing import Listing
from redshank_console.api.parts import Parts
from redshank_shared.domain.access import UserState
from redshank_shared.wire.access_requests import NewToken, NewUser, UserChange
from redshank_shared.wire.access_views import AdminActView, MintedTokenView, TokenView, UserView
from redshank_shared.wire.views import PageView, View


class UserListing(Listing):
    """Which users: those of one state, or all."""

    state: UserState | None = None


class TokenListing(Listing):
    """Whose tokens: those of one user, by name, or all."""

    name: str | None = None


class AuditListing(Listing):
    """Which acts: those of one person, of one kind, or all."""

    who: str = ""
    act: str = ""


class AccountRoutes:
    """Thin: each route names an act or a reading. A new token's answer carries its secret, so none
    is kept under an idempotency key.
    """

    def __init__(self, parts: Parts) -> None:
        self._accounts = parts.accounts
        self._audit = parts.admin_audit

    def router(self) -> APIRouter:
        """The routes, to stand below /v1."""
        router = APIRouter()
        user, users = answers(200, UserView), answers(200, PageView[UserView])
        new_user, gone = answers(201, UserView, "Created"), answers(204, None, "Gone")
        tokens = answers(200, PageView[TokenView])
        minted = answers(201, MintedTokenView, "The only answer that shows the secret")
        acts = answers(200, PageView[AdminActView])
        add = router.add_api_route
        add("/users", self.users, methods=["GET"], responses=users)
        add("/users", self.add_user, methods=["POST"], status_code=201, responses=new_user)
        add("/users/{name}", self.change_user, methods=["PATCH"], responses=user)
        add(
            "/users/{name}",
            self.remove_user,
            methods=["DELETE"],
            status_code=204,
            responses=gone,
        )
        add("/tokens", self.tokens, methods=["GET"], responses=tokens)
        add("/tokens", self.mint, methods=["POST"], status_code=201, responses=minted)
        add("/tokens/{id}", self.revoke, methods=["DELETE"], status_code=204, responses=gone)
        add("/audit", self.audit, methods=["GET"], responses=acts)
        return router

    async def users(self, query: Annotated[UserListing, Query()]) -> Response:
        """A page of users, by name."""
        return _json(await self._accounts.users(query.state, query.limit, query.cursor))

    async def add_user(self, request: Request, body: NewUser) -> Response:
        """Make a user, who has no token yet (B-33)."""
        by, keyed = principal_of(request.scope), await keyed_request(request)
        return json_answer(await self._accounts.create_user(by, body.name, body.role, keyed))

    async def change_user(self, request: Request, name: str, body: UserChange) -> Response:
        """Give another role, revoke, or let in again; counts from the user's next request on."""
        by = principal_of(request.scope)
        return _json(await self._accounts.change_user(by, name, body.role, body.state))

    async def remove_user(self, request: Request, name: str) -> Response:
        """Take a user out with all tokens, all sessions."""
        await self._accounts.remove_user(principal_of(request.scope), name)
        return Response(status_code=204)

    async def tokens(self, query: Annotated[TokenListing, Query()]) -> Response:
        """A page of API tokens without their secrets, the newest first."""
        return _json(await self._accounts.tokens(query.name, query.limit, query.cursor))

    async def mint(self, request: Request, body: NewToken) -> Response:
        """Make a token that may no more than yours (F71)."""
        view = await self._accounts.mint(
            principal_of(request.scope),
            body.name,
            body.scopes,
            body.label,
            body.expires_in_seconds,
        )
        return _json(view, 201)

    async def revoke(self, request: Request, id: str) -> Response:
        """End a token with every session that came from it (F72)."""
        await self._accounts.revoke(principal_of(request.scope), id)
        return Response(status_code=204)

    async def audit(self, query: Annotated[AuditListing, Query()]) -> Response:
        """What admins did, the newest first."""
        page = await self._audit.page(query.who, query.act, query.limit, query.cursor)
        items = [
            AdminActView(
                id=act.audit_id,
                at=act.at,
                who=act.who,
                act=act.act,
                target=act.target,
                detail=act.detail,
            )
            for act in page.items
        ]
        return _json(PageView(items=items, next_cursor=page.next_cursor, total=page.total))


def _json(view: View, status: int = 200) -> Response:
    headers = {"Cache-Control": "no-store"} if isinstance(view, MintedTokenView) else None
    body = view.model_dump_json()
    return Response(body, status, headers, media_type="application/json")
