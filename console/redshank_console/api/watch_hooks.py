"""Routes by which a watch is pushed from outside: made, revoked, used."""

from typing import Annotated, Any

from fastapi import APIRouter, Body, HTTPException, Path, Request, Response

from redshank_console.api.documented import answers
from redshank_console.api.parts import Parts
from redshank_shared.domain.errors import Invalid
from redshank_shared.wire.requests import Nothing
from redshank_shared.wire.schedule_views import PushedView, WatchHookView

MOST_BYTES = 64 * 1024
_TOO_LARGE = f"what is pushed has more than {MOST_BYTES} bytes; push what the condition needs"
_ANY_TEXT: dict[str, Any] = {
    "requestBody": {"content": {"text/plain": {"schema": {"type": "string"}}}}
}


class WatchHookRoutes:
    """The door leaves the pushing path open: the token in it is the right (B-10)."""

    def __init__(self, parts: Parts) -> None:
        self._hooks = parts.watch_hooks

    def router(self) -> APIRouter:
        """The routes, to stand below /v1."""
        router = APIRouter()
        made = answers(201, WatchHookView, "Told this once")
        pushed = answers(202, PushedView, "Kept")
        add = router.add_api_route
        hook = "/schedules/{id}/hook"
        add(hook, self.make, methods=["POST"], status_code=201, responses=made)
        add(hook, self.revoke, methods=["DELETE"], status_code=204, responses=answers(204, None))
        add(
            "/hooks/watch/{token}",
            self.push,
            methods=["POST"],
            status_code=202,
            responses=pushed,
            openapi_extra=_ANY_TEXT,
        )
        return router

    async def make(self, id: str, body: Annotated[Nothing | None, Body()] = None) -> Response:
        """An address to push this watch; the one that was made before ends."""
        view = await self._hooks.make(id)
        return Response(view.model_dump_json(), 201, media_type="application/json")

    async def revoke(self, id: str) -> Response:
        """Nobody may push this watch any more."""
        await self._hooks.revoke(id)
        return Response(status_code=204)

    async def push(self, request: Request, token: Annotated[str, Path(max_length=200)]) -> Response:
        """The body, text or JSON of at most 64 KiB, becomes what the watch sees, as if a poll had
        printed it; at most 60 a minute.
        """
        view = await self._hooks.push(token, await _text_of(request))
        return Response(view.model_dump_json(), 202, media_type="application/json")


async def _text_of(request: Request) -> str:
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > MOST_BYTES:
            raise HTTPException(413, _TOO_LARGE)
    try:
        return body.decode()
    except UnicodeDecodeError as error:
        raise Invalid("the body is no text in UTF-8; push text or JSON", field="body") from error
