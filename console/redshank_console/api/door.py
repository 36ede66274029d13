"""Lets in who may come: checks host, origin, token or cookie, rights before any route."""

from collections.abc import Mapping
from urllib.parse import urlsplit

import msgspec
from starlette.types import ASGIApp, Receive, Scope, Send

from redshank_console.api.problems import not_taken, problem_of
from redshank_console.api.routing import Place, Routing
from redshank_console.services.principal import LOCAL, Principal, require
from redshank_console.services.sign_in import SIGN_IN_MEND, SignIn
from redshank_shared.domain.errors import NotAllowed, RedshankError, Unauthenticated
from redshank_shared.metrics import may_scrape

COOKIE = "redshank_session"
_PRINCIPAL = "redshank.principal"
_PLACE = "redshank.place"
_READS = ("GET", "HEAD", "OPTIONS")
_LOOPBACK = ("127.0.0.1", "localhost", "::1")


class DoorRules(msgspec.Struct, frozen=True):
    """`hosts`: the names under which this console answers, None for any. `open_paths`: beside the
    routes that are open by their own need, what needs no sign-in; one that ends in a slash stands
    for all below it.
    `metrics_token`: lets in to /metrics alone, where there is one.
    """

    authenticates: bool
    hosts: frozenset[str] | None
    public_url: str = ""
    open_paths: tuple[str, ...] = ()
    metrics_token: str = ""


def rules(
    host: str, auth: str, public_url: str, open_paths: tuple[str, ...], metrics_token: str = ""
) -> DoorRules:
    """The rules of a console bound to `host`. On loopback only its own names are answered, so that
    a page elsewhere cannot reach it under a name of its own (DNS rebinding).
    """
    hosts = None
    if host in _LOOPBACK:
        public = urlsplit(public_url).hostname if public_url else None
        hosts = frozenset((*_LOOPBACK, *((public,) if public else ())))
    return DoorRules(auth != "off", hosts, public_url.rstrip("/"), open_paths, metrics_token)


def principal_of(scope: Mapping[str, object]) -> Principal:
    """Who made this request; the door has let them in."""
    principal = scope[_PRINCIPAL]
    assert isinstance(principal, Principal)
    return principal


def place_of(scope: Mapping[str, object]) -> Place | None:
    """The route of this request, None where the door is open for it."""
    place = scope.get(_PLACE)
    assert place is None or isinstance(place, Place)
    return place


def cookie_of(scope: Scope) -> str | None:
    """The page's cookie, if the request carries one."""
    for name, value in scope["headers"]:
        if name == b"cookie":
            for part in value.decode("latin-1").split(";"):
                key, _, secret = part.strip().partition("=")
                if key == COOKIE:
                    return str(secret)
    return None


class Door:
    """Wraps the app."""

    def __init__(
        self, app: ASGIApp, routing: Routing, sign_in: SignIn, door_rules: DoorRules
    ) -> None:
        self._app = app
        self._routing = routing
        self._sign_in = sign_in
        self._rules = door_rules

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a problem, or let the request through with its principal."""
        if scope["type"] == "http":
            try:
                admits = await self._admit(scope)
            except RedshankError as refusal:
                await problem_of(refusal)(scope, receive, send)
                return
            if not admits:
                methods = self._routing.methods(scope["path"])
                await not_taken(scope["method"], scope["path"], methods)(scope, receive, send)
                return
        await self._app(scope, receive, send)

    async def _admit(self, scope: Scope) -> bool:
        """Whether there is such a route, once who asks is known to be let in to it."""
        headers = {name: value.decode("latin-1") for name, value in scope["headers"]}
        host = headers.get(b"host", "")
        self._check_host(host)
        writes = scope["method"] not in _READS
        if writes:
            self._check_origin(headers.get(b"origin"), host)
        place = self._routing.find(scope["method"], scope["path"])
        if self._is_open(scope["path"], place) or self._is_scrape(scope, headers):
            return True
        principal = await self._principal(scope, headers)
        if writes and principal.by_cookie and headers.get(b"x-redshank") != "1":
            raise NotAllowed(
                "a write with the page's cookie needs the header `X-Redshank: 1`",
                code="cross_site",
                field="X-Redshank",
            )
        if place is None:
            return False
        if place.need != "signed_in" and place.need != "open":
            require(principal, place.need, f"{place.method} {place.path}")
        scope[_PRINCIPAL], scope[_PLACE] = principal, place
        return True

    def _is_open(self, path: str, place: Place | None) -> bool:
        if place is not None and place.need == "open":
            return True
        return any(
            path == known or (known.endswith("/") and path.startswith(known))
            for known in self._rules.open_paths
        )

    def _is_scrape(self, scope: Scope, headers: Mapping[bytes, str]) -> bool:
        token = self._rules.metrics_token
        if not token or scope["path"] != "/metrics" or scope["method"] != "GET":
            return False
        return may_scrape(headers.get(b"authorization", ""), token)

    def _check_host(self, host: str) -> None:
        if self._rules.hosts is None:
            return
        name = host[1:].partition("]")[0] if host.startswith("[") else host.partition(":")[0]
        if name.lower() not in self._rules.hosts:
            raise NotAllowed(
                "this console does not answer under that host name; open it as 127.0.0.1, "
                "or set console.public_url to the address that people use",
                code="host_not_allowed",
                field="Host",
            )

    def _check_origin(self, origin: str | None, host: str) -> None:
        if origin is None or origin == self._rules.public_url:
            return
        if urlsplit(origin).netloc.lower() != host.lower():
            raise NotAllowed(
                "this write comes from a page of another site; open the console's own page, "
                "or set console.public_url to the address that people use",
                code="cross_site",
                field="Origin",
            )

    async def _principal(self, scope: Scope, headers: Mapping[bytes, str]) -> Principal:
        if not self._rules.authenticates:
            return LOCAL
        scheme, _, token = headers.get(b"authorization", "").partition(" ")
        principal = None
        if scheme:
            if scheme.lower() == "bearer":
                principal = await self._sign_in.bearer(token.strip())
        elif cookie := cookie_of(scope):
            principal = await self._sign_in.session(cookie)
        if principal is None:
            raise Unauthenticated(SIGN_IN_MEND)
        return principal
