"""Reads the body of a request for a notification."""

import re

import msgspec
from starlette.exceptions import HTTPException
from starlette.requests import Request

from redshank_shared.domain.errors import Invalid
from redshank_shared.wire.notify import NotifyRequest, check_request

# The longest message, title, names have a third of this when every character is escaped.
MAX_BODY_BYTES = 64 * 1024
_NAMED = re.compile(r"`\$\.(\w+)|field `(\w+)`")


async def limited_body(request: Request) -> bytes:
    """The body; status 413 as soon as it has more than 64 KiB."""
    body = bytearray()
    async for piece in request.stream():
        body += piece
        if len(body) > MAX_BODY_BYTES:
            raise HTTPException(413, f"the body has more than {MAX_BODY_BYTES} bytes; send less")
    return bytes(body)


def request_of(body: bytes) -> NotifyRequest:
    """What the body asks for; Invalid names the field that is to blame."""
    try:
        asked = msgspec.json.decode(body, type=NotifyRequest)
    except msgspec.ValidationError as error:
        named = _NAMED.search(str(error))
        field = (named[1] or named[2]) if named else "body"
        raise Invalid(f"{field} is wrong: {error}", field=field) from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise Invalid(
            f"the body is no JSON object: {error}", code="malformed_json", field="body"
        ) from error
    check_request(asked)
    return asked
