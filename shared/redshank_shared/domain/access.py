"""Who may do what: the roles of users, the scopes of tokens."""

from collections.abc import Iterable
from typing import Literal, get_args

Role = Literal["viewer", "operator", "admin"]
TokenScope = Literal["read", "operate", "approve", "admin"]
UserState = Literal["active", "revoked"]

ROLES: tuple[Role, ...] = get_args(Role)
ALL_SCOPES: frozenset[TokenScope] = frozenset(get_args(TokenScope))
# From the least to the most: each role may all that the one before it may (B-33).
SCOPES_OF: dict[str, frozenset[TokenScope]] = {
    "viewer": frozenset(("read",)),
    "operator": frozenset(("read", "operate", "approve")),
    "admin": ALL_SCOPES,
}


def effective(role: str, scopes: Iterable[str]) -> frozenset[TokenScope]:
    """What a token with these scopes may for a user of this role: what both allow (F71).

    No scope allows nothing; an unknown role or scope neither.
    """
    return SCOPES_OF.get(role, frozenset()) & frozenset(scopes)


def least_role(scope: TokenScope) -> Role:
    """The first role that may do what this scope stands for."""
    return next(role for role in ROLES if scope in SCOPES_OF[role])


def in_order(scopes: Iterable[str]) -> list[TokenScope]:
    """The scopes from the least to the most, each once."""
    held = frozenset(scopes)
    return [scope for scope in get_args(TokenScope) if scope in held]
