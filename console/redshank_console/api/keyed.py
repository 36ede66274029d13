"""Recognises a write that its sender repeats."""

import contextlib
import hashlib

import msgspec
from fastapi import Request, Response

from redshank_console.api.door import principal_of
from redshank_console.services.orders import Answer
from redshank_shared.domain.errors import Invalid
from redshank_shared.session_commands import KeyedRequest

HEADER = "Idempotency-Key"
_LONGEST_KEY = 255


async def keyed_request(request: Request, key_in_body: str | None = None) -> KeyedRequest | None:
    """The request as its key names it, None without one; Invalid for a key that cannot be one.

    The scope is who asks, the method and the path, so that a key never reaches another's answer.
    """
    key = request.headers.get(HEADER)
    field = HEADER if key is not None else "idempotency_key"
    if key is not None and key_in_body is not None and key != key_in_body:
        raise Invalid(f"{HEADER} and idempotency_key differ; send one", field=HEADER)
    key = key_in_body if key is None else key
    if key is None:
        return None
    if not 1 <= len(key) <= _LONGEST_KEY or not key.isprintable():
        raise Invalid(f"{field} must be 1 to {_LONGEST_KEY} printable characters", field=field)
    path = request.url.path.replace("/v1/sessions", "/v1/workstreams", 1)
    return KeyedRequest(
        scope=f"{principal_of(request.scope).name} {request.method} {path}",
        key=key,
        request_digest=_digest(await request.body()),
    )


def json_answer(answer: Answer) -> Response:
    """The HTTP form of an order's answer."""
    return Response(answer.body, answer.status, media_type="application/json")


def _digest(body: bytes) -> str:
    """Of what the body says beside the key itself, whatever the order of its keys."""
    with contextlib.suppress(msgspec.MsgspecError, UnicodeEncodeError, RecursionError):
        said = msgspec.json.decode(body or b"{}")
        if isinstance(said, dict):
            said.pop("idempotency_key", None)
        body = msgspec.json.encode(said, order="sorted")
    return hashlib.sha256(body).hexdigest()
