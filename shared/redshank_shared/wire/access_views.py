"""Answers about users, tokens, administrative acts. Times are RFC 3339 UTC."""

from redshank_shared.domain.access import Role, TokenScope, UserState
from redshank_shared.wire.views import View


class UserView(View):
    """A user; one who is revoked may not come in."""

    name: str
    role: Role
    state: UserState
    created_by: str
    created_at: str
    updated_at: str


class TokenView(View):
    """An API token without its secret. `scopes`: the most it may, as far as the user's role goes;
    `expires_at`: null for never.
    """

    id: str
    name: str
    scopes: list[TokenScope]
    label: str
    created_by: str
    created_at: str
    expires_at: str | None
    expired: bool


class MintedTokenView(TokenView):
    """A new token. `token`: its secret, which no later answer shows."""

    token: str


class AdminActView(View):
    """What an admin did."""

    id: str
    at: str
    who: str
    act: str
    target: str
    detail: str
