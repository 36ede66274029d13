"""The console's users, tokens, acts over HTTP; unknown fields are passed over."""

from typing import Any
from urllib.parse import quote

import msgspec

from redshank_shared.client.console import ConsoleClient, Query
from redshank_shared.client.views import Page, SigninLink


class Me(msgspec.Struct, frozen=True):
    """Who asks. `scopes`: what the token that was shown may."""

    name: str
    role: str
    scopes: tuple[str, ...] = ()


class UserView(msgspec.Struct, frozen=True):
    name: str
    role: str
    state: str
    created_by: str = ""
    created_at: str = ""
    updated_at: str = ""


class TokenView(msgspec.Struct, frozen=True):
    """An API token. `token`: its secret, only in the answer that made it."""

    id: str
    name: str
    scopes: tuple[str, ...] = ()
    label: str = ""
    created_by: str = ""
    created_at: str = ""
    expires_at: str | None = None
    expired: bool = False
    token: str | msgspec.UnsetType = msgspec.UNSET


class ActView(msgspec.Struct, frozen=True):
    """What an admin did."""

    id: str
    at: str
    who: str
    act: str
    target: str = ""
    detail: str = ""


class NewToken(msgspec.Struct, frozen=True, omit_defaults=True):
    """A token to make; what is empty is left to the console."""

    name: str = ""
    scopes: tuple[str, ...] | None = None
    label: str = ""
    expires_in_seconds: int | None = None


class AccessClient:
    """Raises as `ConsoleClient` does."""

    def __init__(self, console: ConsoleClient) -> None:
        self._console = console

    def me(self) -> Me:
        """Who asks."""
        return self._console.read("/v1/me", Me)

    def users(self, query: Query) -> Page[UserView]:
        """A page of users, by name."""
        return self._console.read("/v1/users", Page[UserView], query)

    def add_user(self, name: str, role: str) -> UserView:
        """A new user; Conflict where there is one of this name."""
        return self._console.write("POST", "/v1/users", {"name": name, "role": role}, UserView)

    def change_user(self, name: str, **changed: str) -> UserView:
        """The user with another `role` or `state`; Conflict for the last active admin."""
        return self._console.write("PATCH", _user(name), changed, UserView)

    def remove_user(self, name: str) -> None:
        """Take the user out; Conflict for the last active admin."""
        self._console.delete(_user(name))

    def tokens(self, query: Query) -> Page[TokenView]:
        """A page of API tokens, the newest first, of one `name` or of all."""
        return self._console.read("/v1/tokens", Page[TokenView], query)

    def mint(self, new: NewToken) -> TokenView:
        """A new token with its secret; NotAllowed where it would be wider than one's own."""
        return self._console.write("POST", "/v1/tokens", new, TokenView)

    def revoke(self, token_id: str) -> None:
        """End a token; NotFound where there is none."""
        self._console.delete(f"/v1/tokens/{quote(token_id, safe='')}")

    def acts(self, query: Query) -> Page[ActView]:
        """A page of what admins did, the newest first, by `who`, by `act`."""
        return self._console.read("/v1/audit", Page[ActView], query)

    def signin_link(self, name: str) -> SigninLink:
        """A link that signs one browser in, once, as the user of this name."""
        body: dict[str, Any] = {"name": name}
        return self._console.write("POST", "/v1/signin-links", body, SigninLink)


def _user(name: str) -> str:
    return f"/v1/users/{quote(name, safe='')}"
