"""A server whose tools want more scopes than its lists: a person is told, a login mends it."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from aiohttp import web

from redshank_node.mcp_client.failures import McpFailure
from tests.fakes.authorization_server import AuthorizationServer, ProtectedServer
from tests.fakes.mcp_node import connected, status
from tests.integration.oauth_world import OAuthNode, login, record

pytest_plugins = ("tests.integration.console_fixtures",)


class Stepped(ProtectedServer):
    """Its tools want the scopes read and write, all else read alone."""

    def __init__(self, authority: AuthorizationServer) -> None:
        super().__init__(authority)
        self.enough: set[str] = set()
        self.says_what_it_wants = True

    async def _asked(self, request: web.Request) -> web.StreamResponse:
        bearer = request.headers.get("Authorization", "").removeprefix("Bearer ")
        if (await request.json())["method"] == "tools/call" and bearer not in self.enough:
            wanted = 'Bearer error="insufficient_scope", scope="read write"'
            headers = {"WWW-Authenticate": wanted} if self.says_what_it_wants else {}
            return web.json_response({"error": "insufficient_scope"}, status=403, headers=headers)
        return await super()._asked(request)


@pytest.fixture
async def server() -> AsyncIterator[Stepped]:
    stepped = Stepped(AuthorizationServer())
    async with stepped.authority.serving(), stepped.serving():
        yield stepped


@pytest.mark.req("B-11")
@pytest.mark.req("K-65")
async def test_a_person_who_logs_in_with_the_scopes_that_are_named_gets_further(
    sqlite_url: str, server: Stepped, tmp_path: Path
) -> None:
    async with OAuthNode(sqlite_url).running() as node:
        await login(node, server, "read")
        access = node.access
        async with connected(
            tmp_path,
            record(server),
            value=node.live.value,
            authorize=access.authorize,
            refused=access.refused,
        ) as servers:
            assert status(servers, "acme").state == "connected"
            with pytest.raises(McpFailure) as caught:
                await servers.call("acme", "echo", {"text": "hello"}, 30.0)
            assert "redshank mcp login acme --scope read --scope write" in str(caught.value)

            server.enough.add((await login(node, server, "read", "write")).access_token)
            await servers.reconnect("acme")
            called = await servers.call("acme", "echo", {"text": "hello"}, 30.0)
            assert not called.is_error

            server.enough.clear()
            server.says_what_it_wants = False
            with pytest.raises(McpFailure, match="HTTP 403"):
                await servers.call("acme", "echo", {"text": "hello"}, 30.0)
