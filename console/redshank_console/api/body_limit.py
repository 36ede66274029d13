"""Refuses bodies that are too large, before they are read wherever they say so."""

from fastapi import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from redshank_console.api.problems import problem

MAX_BODY_BYTES = 16 * 1024 * 1024
_DETAIL = f"the body has more than {MAX_BODY_BYTES} bytes; send less, or put the rest in a file"


class BodyLimit:
    """Wraps the app."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer 413, or let the request through with its body counted."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        declared = _declared(scope)
        if declared is None:
            receive = _counted(receive)
        elif declared > MAX_BODY_BYTES:
            await problem(413, "too_large", _DETAIL, "body")(scope, receive, send)
            return
        await self._app(scope, receive, send)


def _declared(scope: Scope) -> int | None:
    """The content length, which the server lets no body exceed."""
    for name, value in scope["headers"]:
        if name == b"content-length":
            return int(value) if value.isdigit() else None
    return None


def _counted(receive: Receive) -> Receive:
    size = 0

    async def counting() -> Message:
        nonlocal size
        message = await receive()
        size += len(message.get("body", b""))
        if size > MAX_BODY_BYTES:
            raise HTTPException(413, _DETAIL)
        return message

    return counting
