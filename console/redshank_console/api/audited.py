"""Sees to it that no administrative act goes unrecorded."""

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from redshank_console.api.door import place_of, principal_of
from redshank_console.services.admin_audit import AdminAudit, begin_request

_READS = ("GET", "HEAD", "OPTIONS")


class Audited:
    """Wraps the app. A write that only admins may do, was done, yet was not recorded by who did it,
    is recorded by its route before the answer begins (B-33).
    """

    def __init__(self, app: ASGIApp, audit: AdminAudit) -> None:
        self._app = app
        self._audit = audit

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let the request through."""
        place = place_of(scope) if scope["type"] == "http" else None
        if place is None or place.need != "admin" or place.method in _READS:
            await self._app(scope, receive, send)
            return
        acts = begin_request()

        async def recording(message: Message) -> None:
            begins = message["type"] == "http.response.start"
            if begins and message["status"] < 400 and not acts:
                who = principal_of(scope).name
                act = f"{place.method} {place.path}"
                await self._audit.record(who, act, scope["path"])
            await send(message)

        await self._app(scope, receive, recording)
