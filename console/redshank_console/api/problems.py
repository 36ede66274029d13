"""Turns every error into an answer of problem+json."""

import logging
from collections.abc import Sequence
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException

from redshank_shared.domain.errors import (
    Conflict,
    Invalid,
    NotAllowed,
    NotFound,
    RedshankError,
    TooMany,
    Unauthenticated,
    Unavailable,
)
from redshank_shared.wire.problems import PROBLEM_TYPE, Problem

logger = logging.getLogger(__name__)

_STATUS: dict[type[RedshankError], int] = {
    Invalid: 422,
    Unauthenticated: 401,
    NotAllowed: 403,
    NotFound: 404,
    Conflict: 409,
    TooMany: 429,
    Unavailable: 503,
}
_HEADERS = {401: {"WWW-Authenticate": 'Bearer realm="redshank"'}, 503: {"Retry-After": "1"}}
_CODES = {400: "bad_request", 404: "no_such_route", 405: "method_not_allowed", 413: "too_large"}


def install(app: FastAPI) -> None:
    """Let the app answer its errors as problems."""
    app.add_exception_handler(RedshankError, _of_ours)
    app.add_exception_handler(RequestValidationError, _of_validation)
    app.add_exception_handler(HTTPException, _of_http)
    app.add_exception_handler(Exception, _of_fault)


def problem(
    status: int,
    code: str,
    detail: str,
    field: str | None = None,
    headers: dict[str, str] | None = None,
) -> Response:
    """The answer of this problem."""
    body = Problem(status=status, code=code, detail=detail, field=field).encoded()
    headers = {**_HEADERS.get(status, {}), **(headers or {})}
    return Response(body, status, headers, PROBLEM_TYPE)


def problem_of(error: RedshankError) -> Response:
    """The answer of one of our errors; one that nobody should have let through is a fault."""
    for kind in type(error).__mro__:
        if kind in _STATUS:
            return problem(_STATUS[kind], error.code, error.detail, error.field, _headers_of(error))
    logger.error("%s came through to the API: %s", type(error).__name__, error.detail)
    return _fault()


def not_taken(method: str, path: str, methods: Sequence[str]) -> Response:
    """The answer where no route takes this method; `methods`: those that the path takes."""
    if not methods:
        return problem(404, _CODES[404], _no_such(path))
    return problem(
        405, _CODES[405], _not_taken(method, path), headers={"Allow": ", ".join(methods)}
    )


def _headers_of(error: RedshankError) -> dict[str, str] | None:
    if isinstance(error, TooMany):
        return {"Retry-After": str(error.retry_after_seconds)}
    return None


async def _of_ours(_request: Request, error: Exception) -> Response:
    assert isinstance(error, RedshankError)
    return problem_of(error)


async def _of_validation(_request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    first: dict[str, Any] = error.errors()[0]
    if first["type"] == "json_invalid":
        at = first["loc"][-1]
        return problem(400, "malformed_json", f"the body is no JSON from character {at} on", "body")
    field = _field(first["loc"])
    code = "bad_character" if first["type"] in ("bad_character", "string_unicode") else "invalid"
    return problem(422, code, f"{field} {_says(first)}", field)


async def _of_http(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    details = {
        400: "the body could not be read; send one JSON object",
        404: _no_such(request.url.path),
        405: _not_taken(request.method, request.url.path),
    }
    code = _CODES.get(error.status_code, "http_error")
    detail = details.get(error.status_code, str(error.detail))
    field = "body" if error.status_code in (400, 413) else None
    return problem(error.status_code, code, detail, field, dict(error.headers or {}))


async def _of_fault(_request: Request, _error: Exception) -> Response:
    return _fault()


def _no_such(path: str) -> str:
    return f"there is no {path}; /openapi.json lists what there is"


def _not_taken(method: str, path: str) -> str:
    return f"{path} does not take {method}; /openapi.json says what it takes"


def _fault() -> Response:
    return problem(500, "fault", "this is a fault of Redshank; the console's log says what failed")


def _field(place: Sequence[str | int]) -> str:
    """`resolutions[0].behavior` for ("body", "resolutions", 0, "behavior")."""
    name = ""
    for part in place[1:] or place:
        name += f"[{part}]" if isinstance(part, int) else f".{part}" if name else part
    return name


def _says(error: dict[str, Any]) -> str:
    """What is wrong, without what was sent: it may be a secret (F12)."""
    context = error.get("ctx", {})
    words = {
        "missing": "is missing",
        "extra_forbidden": "is not known here; leave it out",
        "string_unicode": "holds half of a surrogate pair; leave it out",
        "literal_error": f"must be {context.get('expected')}",
        "model_attributes_type": "must be a JSON object, sent as application/json",
        "dict_type": "must be a JSON object",
    }
    return words.get(error["type"]) or str(error["msg"])
