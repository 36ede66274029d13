"""Turns a refusal of the console into the error that says who must act."""

import msgspec

from redshank_shared.domain.errors import (
    Conflict,
    Invalid,
    NotAllowed,
    NotFound,
    RedshankError,
    Unauthenticated,
    Unavailable,
)

UNREACHABLE = "unreachable"
_BY_STATUS: dict[int, type[RedshankError]] = {
    400: Invalid,
    401: Unauthenticated,
    403: NotAllowed,
    404: NotFound,
    409: Conflict,
    413: Invalid,
    422: Invalid,
}


class _Problem(msgspec.Struct, frozen=True):
    detail: str = ""
    code: str | None = None
    field: str | None = None


def error_from(status: int, body: bytes) -> RedshankError:
    """The error of an answer with this status, with the console's own detail if it gave one."""
    try:
        problem = msgspec.json.decode(body, type=_Problem)
    except msgspec.DecodeError:
        problem = _Problem()
    kind = _BY_STATUS.get(status, Unavailable)
    detail = problem.detail or (
        f"the console answered {status} without a reason: see that the address is a console's"
    )
    return kind(detail, code=problem.code, field=problem.field)


def unreachable(url: str, why: str) -> Unavailable:
    """The console at this address does not answer."""
    return Unavailable(
        f"no console answers at {url} ({why}): start one with `redshank up`, or name another with "
        f"--url or REDSHANK_URL",
        code=UNREACHABLE,
    )
