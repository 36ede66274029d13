"""Exit codes: what a script learns without reading a word."""

from redshank_shared.client.problems import UNREACHABLE
from redshank_shared.domain.errors import (
    Conflict,
    Invalid,
    Misconfigured,
    NotAllowed,
    NotFound,
    RedshankError,
    Unauthenticated,
)

OK = 0
FAILED = 1
USAGE = 2
NOT_FOUND = 3
REFUSED = 4
UNREACHED = 5
WAITS_FOR_A_PERSON = 6

_BY_KIND: tuple[tuple[type[RedshankError], int], ...] = (
    (NotFound, NOT_FOUND),
    (Invalid, USAGE),
    (Misconfigured, USAGE),
    (Conflict, REFUSED),
    (NotAllowed, REFUSED),
    (Unauthenticated, REFUSED),
)


def code_of(error: RedshankError) -> int:
    """The exit code that this error ends a command with."""
    if error.code == UNREACHABLE:
        return UNREACHED
    return next((code for kind, code in _BY_KIND if isinstance(error, kind)), FAILED)
