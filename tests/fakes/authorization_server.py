"""An authorization server on loopback whose refresh tokens are good for once only."""

import asyncio
import base64
import contextlib
import hashlib
import secrets
from collections.abc import AsyncGenerator
from typing import Any
from urllib.parse import unquote, urlencode

from aiohttp import web


class AuthorizationServer:
    """Approves whoever comes. A refresh token that comes a second time ends its whole family, as
    OAuth 2.1 has it.

    `metadata` is laid over its own; `granted` is the scope that it says it granted, None for what
    was asked; `failure` what the token endpoint answers with instead, (status, body); `hold` makes
    it wait with its answers; `access` is the only access token that it ever gives, if it is one of
    these. `asked` holds the fields of each token request.
    """

    def __init__(self, path: str = "") -> None:
        self.path = path
        self.metadata: dict[str, Any] = {}
        self.metadata_at = "/.well-known/oauth-authorization-server"
        self.expires_in: int | None = 3600
        self.granted: str | None = None
        self.rotates = True
        self.access = ""
        self.iss: str | None = None
        self.failure: tuple[int, dict[str, str]] | None = None
        self.hold: asyncio.Event | None = None
        self.registered: list[dict[str, Any]] = []
        self.authorized: list[dict[str, str]] = []
        self.asked: list[dict[str, str]] = []
        self.authorizations: list[str] = []
        self.revoked: list[str] = []
        self.looked_at: list[str] = []
        self.alive: set[str] = set()
        self.clients: dict[str, str] = {}
        self._codes: dict[str, dict[str, str]] = {}
        self._families: dict[str, set[str]] = {}
        self._spent: set[str] = set()
        self.url = ""

    @property
    def issuer(self) -> str:
        return f"{self.url}{self.path}"

    @property
    def refreshes(self) -> list[dict[str, str]]:
        """The requests that used a refresh token."""
        return [each for each in self.asked if each["grant_type"] == "refresh_token"]

    @contextlib.asynccontextmanager
    async def serving(self) -> AsyncGenerator["AuthorizationServer"]:
        application = web.Application()
        router = application.router
        router.add_get("/authorize", self._authorize)
        router.add_post("/register", self._register)
        router.add_post("/token", self._token)
        router.add_post("/revoke", self._revoke)
        router.add_get("/{place:.*}", self._described)
        runner = web.AppRunner(application)
        await runner.setup()
        try:
            await web.TCPSite(runner, "127.0.0.1", 0).start()
            self.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
            yield self
        finally:
            if self.hold is not None:
                self.hold.set()
            await runner.cleanup()

    async def _described(self, request: web.Request) -> web.StreamResponse:
        self.looked_at.append(request.path)
        if request.path != self.metadata_at:
            return web.Response(status=404)
        return web.json_response(self.described())

    def described(self) -> dict[str, Any]:
        """Its metadata."""
        described = {
            "issuer": self.issuer,
            "authorization_endpoint": f"{self.url}/authorize",
            "token_endpoint": f"{self.url}/token",
            "registration_endpoint": f"{self.url}/register",
            "revocation_endpoint": f"{self.url}/revoke",
            "code_challenge_methods_supported": ["S256"],
            "token_endpoint_auth_methods_supported": ["none"],
            "response_types_supported": ["code"],
            **self.metadata,
        }
        return {name: value for name, value in described.items() if value is not None}

    async def _register(self, request: web.Request) -> web.StreamResponse:
        asked = await request.json()
        self.registered.append(asked)
        made = {"client_id": f"client-{len(self.registered)}"}
        if asked["token_endpoint_auth_method"] != "none":
            made["client_secret"] = f"canary-client-secret-{secrets.token_hex(8)}"
        self.clients[made["client_id"]] = made.get("client_secret", "")
        return web.json_response({**asked, **made}, status=201)

    async def _authorize(self, request: web.Request) -> web.StreamResponse:
        asked = dict(request.query)
        self.authorized.append(asked)
        assert asked["code_challenge_method"] == "S256"
        code = f"canary-code-{secrets.token_hex(12)}"
        self._codes[code] = asked
        answer = {"code": code, "state": asked["state"]}
        if self.metadata.get("authorization_response_iss_parameter_supported") or self.iss:
            answer["iss"] = self.iss or self.issuer
        return web.Response(
            status=302, headers={"location": f"{asked['redirect_uri']}?{urlencode(answer)}"}
        )

    async def _token(self, request: web.Request) -> web.StreamResponse:
        fields = {name: str(value) for name, value in (await request.post()).items()}
        self.asked.append(fields)
        self.authorizations.append(request.headers.get("Authorization", ""))
        if self.hold is not None:
            await self.hold.wait()
        if self.failure is not None:
            status, body = self.failure
            return web.json_response(body, status=status)
        if not self._knows_client(fields, self.authorizations[-1]):
            return web.json_response({"error": "invalid_client"}, status=401)
        if fields["grant_type"] == "refresh_token":
            return self._refreshed(fields)
        return self._exchanged(fields)

    def _knows_client(self, fields: dict[str, str], authorization: str) -> bool:
        client, secret = fields.get("client_id", ""), fields.get("client_secret", "")
        if authorization.startswith("Basic "):
            client, secret = map(
                unquote, base64.b64decode(authorization[6:]).decode().split(":", 1)
            )
        return self.clients.get(client) == secret

    def _exchanged(self, fields: dict[str, str]) -> web.StreamResponse:
        asked = self._codes.pop(fields["code"], None)
        digest = hashlib.sha256(fields["code_verifier"].encode()).digest()
        challenge = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
        if asked is None or challenge != asked["code_challenge"]:
            return web.json_response({"error": "invalid_grant"}, status=400)
        if fields["redirect_uri"] != asked["redirect_uri"]:
            return web.json_response({"error": "invalid_grant"}, status=400)
        return self._issued(secrets.token_hex(4), asked.get("scope", ""))

    def _refreshed(self, fields: dict[str, str]) -> web.StreamResponse:
        token = fields["refresh_token"]
        family = token.split(".")[1] if "." in token else ""
        if token in self._spent or token not in self.alive:
            for each in self._families.pop(family, set()):
                self.alive.discard(each)
            return web.json_response({"error": "invalid_grant"}, status=400)
        if self.rotates:
            self._spent.add(token)
            self.alive.discard(token)
        return self._issued(family, "")

    def _issued(self, family: str, scope: str) -> web.StreamResponse:
        access = self.access or f"canary-access.{family}.{secrets.token_hex(8)}"
        refresh = f"canary-refresh.{family}.{secrets.token_hex(8)}"
        self.alive |= {access, refresh}
        self._families.setdefault(family, set()).update((access, refresh))
        granted = scope if self.granted is None else self.granted
        body: dict[str, Any] = {"access_token": access, "token_type": "bearer"}
        if self.expires_in is not None:
            body["expires_in"] = self.expires_in
        if self.rotates:
            body["refresh_token"] = refresh
        return web.json_response({**body, "scope": granted} if granted else body)

    async def _revoke(self, request: web.Request) -> web.StreamResponse:
        fields = await request.post()
        self.revoked.append(str(fields["token"]))
        self.alive.discard(str(fields["token"]))
        return web.Response()


class ProtectedServer:
    """An MCP server over HTTP that wants a token of `authority`. `bearers` holds what it was sent;
    `resource` is what it calls itself, None for its address; `metadata_at` where it says so, None
    for nowhere. `is_own_issuer`: it says at its own origin who gives its tokens, as in the
    specification of 2025-03-26. `refuses` makes it refuse every token.
    """

    def __init__(self, authority: AuthorizationServer) -> None:
        self.authority = authority
        self.issuer: str | None = None
        self.resource: str | None = None
        self.metadata_at: str | None = "/.well-known/oauth-protected-resource/mcp"
        self.metadata: dict[str, Any] = {"scopes_supported": ["read", "write"]}
        self.tells_place = True
        self.is_own_issuer = False
        self.challenge = ""
        self.refuses = False
        self.bearers: list[str] = []
        self.calls: list[str] = []
        self.url = ""

    @contextlib.asynccontextmanager
    async def serving(self) -> AsyncGenerator["ProtectedServer"]:
        application = web.Application()
        application.router.add_post("/mcp", self._asked)
        application.router.add_get("/mcp", self._no_stream)
        application.router.add_delete("/mcp", self._no_stream)
        application.router.add_get("/{place:.*}", self._described)
        runner = web.AppRunner(application)
        await runner.setup()
        try:
            await web.TCPSite(runner, "127.0.0.1", 0).start()
            self.url = f"http://127.0.0.1:{runner.addresses[0][1]}/mcp"
            yield self
        finally:
            await runner.cleanup()

    async def _no_stream(self, request: web.Request) -> web.StreamResponse:
        return web.Response(status=405)

    async def _described(self, request: web.Request) -> web.StreamResponse:
        if self.is_own_issuer and request.path == self.authority.metadata_at:
            issuer = self.url.removesuffix("/mcp")
            return web.json_response({**self.authority.described(), "issuer": issuer})
        if request.path != self.metadata_at:
            return web.Response(status=404)
        resource = self.url if self.resource is None else self.resource
        issuer = self.authority.issuer if self.issuer is None else self.issuer
        return web.json_response(
            {"resource": resource, "authorization_servers": [issuer], **self.metadata}
        )

    async def _asked(self, request: web.Request) -> web.StreamResponse:
        bearer = request.headers.get("Authorization", "").removeprefix("Bearer ")
        if bearer:
            self.bearers.append(bearer)
        if self.refuses or bearer not in self.authority.alive:
            return web.Response(status=401, headers={"WWW-Authenticate": self._challenged()})
        message = await request.json()
        self.calls.append(message["method"])
        if "id" not in message:
            return web.Response(status=202)
        answered = _answer(message)
        if answered is None:
            failed = {"code": -32601, "message": "unknown method"}
            return web.json_response({"jsonrpc": "2.0", "id": message["id"], "error": failed})
        return web.json_response({"jsonrpc": "2.0", "id": message["id"], "result": answered})

    def _challenged(self) -> str:
        if self.challenge:
            return self.challenge
        if not self.tells_place or self.metadata_at is None:
            return "Bearer"
        place = self.url.removesuffix("/mcp") + self.metadata_at
        return f'Bearer error="invalid_token", resource_metadata="{place}"'


def _answer(message: dict[str, Any]) -> dict[str, Any] | None:
    """What the server says to a request of the handshake era; None for an unknown one."""
    echo = {
        "name": "echo",
        "description": "says it again",
        "inputSchema": {"type": "object", "properties": {"text": {"type": "string"}}},
    }
    match message["method"]:
        case "initialize":
            return {
                "protocolVersion": "2025-11-25",
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "protected", "version": "1"},
            }
        case "tools/list":
            return {"tools": [echo]}
        case "tools/call":
            text = str(message["params"]["arguments"].get("text", ""))
            return {"content": [{"type": "text", "text": text}]}
        case "ping":
            return {}
    return None
