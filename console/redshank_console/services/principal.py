"""Says who asks, what they may."""

import msgspec

from redshank_shared.domain.access import (
    ALL_SCOPES,
    SCOPES_OF,
    TokenScope,
    in_order,
    least_role,
)
from redshank_shared.domain.errors import NotAllowed


class Principal(msgspec.Struct, frozen=True):
    """`role`: the user's; `scopes`: what is left of it by the token that was shown.

    `token_id`: of that token, or of the one that the session came from; `credential`: the hash of
    what was shown. Both are empty where nobody signs in.
    """

    name: str
    role: str
    scopes: frozenset[TokenScope]
    by_cookie: bool = False
    token_id: str = ""
    credential: str = ""


LOCAL = Principal("local", "admin", ALL_SCOPES)


def require(principal: Principal, scope: TokenScope, what: str) -> None:
    """Return where they may; NotAllowed names the role or the scope that `what` needs (B-33)."""
    if scope in principal.scopes:
        return
    role = least_role(scope)
    if scope in SCOPES_OF.get(principal.role, frozenset()):
        held = ", ".join(in_order(principal.scopes)) or "none"
        raise NotAllowed(
            f"{what} needs a token with the scope {scope}; this one has {held}: use another, or "
            f"ask an admin for one",
            code="scope_needed",
        )
    raise NotAllowed(
        f"{what} needs the role {role}; {principal.name} is {principal.role}: ask an admin",
        code="role_needed",
    )
