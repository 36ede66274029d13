"""Bodies that HTTP clients send to steer who may come in."""

from typing import Annotated

from pydantic import Field

from redshank_shared.domain.access import Role, TokenScope, UserState
from redshank_shared.wire.requests import Body, Word

LONGEST_SECONDS = 10 * 366 * 24 * 3600


class NewUser(Body):
    """A user to create."""

    name: Word
    role: Role = "viewer"


class UserChange(Body):
    """What is to be different: one of the two, or both."""

    role: Role | None = None
    state: UserState | None = None


class NewToken(Body):
    """A token to make. `name`: the user it is for, oneself where empty; `scopes`: null for all that
    both may; `expires_in_seconds`: null for as long as the maker's own.
    """

    name: Word = ""
    scopes: Annotated[tuple[TokenScope, ...], Field(min_length=1, max_length=4)] | None = None
    label: Word = ""
    expires_in_seconds: Annotated[int, Field(ge=1, le=LONGEST_SECONDS)] | None = None


class NewSignInLink(Body):
    """A link to make. `name`: the user it is for, oneself where empty."""

    name: Word = ""
