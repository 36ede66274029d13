"""Turns every error into an answer of problem+json."""

import logging

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ExceptionHandler

from redshank_shared.domain.errors import (
    Conflict,
    Invalid,
    NotFound,
    RedshankError,
    Unauthenticated,
    Unavailable,
)
from redshank_shared.wire.problems import PROBLEM_TYPE, Problem

logger = logging.getLogger(__name__)

_STATUS: dict[type[RedshankError], int] = {
    Invalid: 400,
    Unauthenticated: 401,
    NotFound: 404,
    Conflict: 409,
    Unavailable: 503,
}
_HEADERS = {401: {"WWW-Authenticate": 'Bearer realm="redshank-gateway"'}}
_CODES = {404: "no_such_route", 405: "method_not_allowed", 413: "too_large"}


def problem(
    status: int,
    code: str,
    detail: str,
    field: str | None = None,
    headers: dict[str, str] | None = None,
) -> Response:
    """The answer of this problem."""
    body = Problem(status=status, code=code, detail=detail, field=field).encoded()
    return Response(body, status, {**_HEADERS.get(status, {}), **(headers or {})}, PROBLEM_TYPE)


async def _of_ours(_: Request, error: Exception) -> Response:
    assert isinstance(error, RedshankError)
    status = _STATUS.get(type(error))
    if status is None:
        logger.error("%s came through to the API: %s", type(error).__name__, error.detail)
        return _fault()
    return problem(status, error.code, error.detail, error.field)


async def _of_http(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    details = {
        404: f"there is no {request.url.path}: here are POST /v1/api/notify, /health, /metrics",
        405: f"{request.url.path} does not take {request.method}",
    }
    detail = details.get(error.status_code, str(error.detail))
    code = _CODES.get(error.status_code, "http_error")
    field = "body" if error.status_code == 413 else None
    return problem(error.status_code, code, detail, field, dict(error.headers or {}))


async def _of_fault(_: Request, __: Exception) -> Response:
    return _fault()


def _fault() -> Response:
    return problem(500, "fault", "this is a fault of Redshank; the gateway's log says what failed")


HANDLERS: dict[type[Exception], ExceptionHandler] = {
    RedshankError: _of_ours,
    HTTPException: _of_http,
    Exception: _of_fault,
}
