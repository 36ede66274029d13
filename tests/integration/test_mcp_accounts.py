"""MCP servers that want a token, on a node: asked with the right one, or not at all."""

import contextlib
import logging
from collections.abc import AsyncIterator
from pathlib import Path

import msgspec
import pytest

from redshank_node.mcp_client.calling import TextContent
from redshank_node.mcp_client.failures import McpFailure
from redshank_node.mcp_client.offered import McpOffer
from redshank_node.mcp_client.supervisor import McpServers
from redshank_node.tools.tool import CallContext, Workspace
from redshank_shared.domain.oauth_failures import NEEDS_SCOPE
from redshank_shared.profiles.profile import shipped_profile
from redshank_shared.settings.mcp_server import McpServer
from redshank_shared.stores.secrets import SecretRow, Secrets
from tests.fakes.authorization_server import AuthorizationServer, ProtectedServer
from tests.fakes.mcp_node import connected, status
from tests.integration.oauth_world import SLOT, OAuthNode, at, login, record

pytest_plugins = ("tests.integration.console_fixtures", "tests.integration.oauth_fixtures")


@contextlib.asynccontextmanager
async def using(node: OAuthNode, folder: Path, *records: McpServer) -> AsyncIterator[McpServers]:
    """The node's servers, started."""
    access = node.access
    async with connected(
        folder,
        *records,
        value=node.live.value,
        redact=node.redactor.of_output,
        authorize=access.authorize,
        refused=access.refused,
        admit=access.admit,
        sleeps=access.sleeps,
    ) as servers:
        yield servers


async def echo(servers: McpServers, text: str, name: str = "acme") -> str:
    called = await servers.call(name, "echo", {"text": text}, 30.0)
    (content,) = called.content
    assert isinstance(content, TextContent)
    return content.text


def revoke(node: OAuthNode, version: int) -> None:
    row = SecretRow(SLOT, "revoked", version, "", "", "ana", at())
    assert Secrets(node.database).put(row)


@pytest.mark.req("K-63")
@pytest.mark.req("K-64")
async def test_a_server_without_a_login_is_asked_nothing_until_there_is_one(
    node: OAuthNode, server: ProtectedServer, tmp_path: Path
) -> None:
    async with using(node, tmp_path, record(server)) as servers:
        shown = status(servers, "acme")
        assert shown.state == "needs_login"
        assert "redshank mcp login acme" in shown.detail
        with pytest.raises(McpFailure) as caught:
            await echo(servers, "hello")
        assert "redshank mcp login acme" in str(caught.value)
        assert (server.calls, server.bearers) == ([], [])
        account = await login(node, server)
        assert await echo(servers, "hello") == "hello"
        assert set(server.bearers) == {account.access_token}
        assert status(servers, "acme").state == "connected"


@pytest.mark.req("K-64")
async def test_each_request_has_the_token_of_that_moment(
    node: OAuthNode, authority: AuthorizationServer, server: ProtectedServer, tmp_path: Path
) -> None:
    first = await login(node, server)
    async with using(node, tmp_path, record(server)) as servers:
        await echo(servers, "one")
        assert set(server.bearers) == {first.access_token}
        node.ahead_seconds = 3590.0
        authority.expires_in = 36_000
        await echo(servers, "two")
        renewed = await node.account()
        assert server.bearers[-1] == renewed.access_token != first.access_token
        revoke(node, (await node.accounts.find(SLOT, "acme")).version + 1)
        sent = len(server.bearers)
        with pytest.raises(McpFailure) as caught:
            await echo(servers, "three")
        assert "revoked" in str(caught.value)
        assert len(server.bearers) == sent
        again = await login(node, server)
        assert await echo(servers, "four") == "four"
        assert server.bearers[-1] == again.access_token


@pytest.mark.fault("F-13")
async def test_a_token_that_the_server_ended_is_renewed_and_the_call_is_made_once(
    node: OAuthNode, authority: AuthorizationServer, server: ProtectedServer, tmp_path: Path
) -> None:
    first = await login(node, server)
    async with using(node, tmp_path, record(server)) as servers:
        await echo(servers, "one")
        authority.alive.discard(first.access_token)
        assert await echo(servers, "two") == "two"
        assert server.calls.count("tools/call") == 2
        assert len(authority.refreshes) == 1
        server.refuses = True
        for _ in range(3):
            with pytest.raises(McpFailure) as caught:
                await echo(servers, "three")
        assert "redshank mcp login acme" in str(caught.value)
        assert status(servers, "acme").state == "needs_login"
        assert len(authority.refreshes) == 1
        assert (await node.account()).spent == ""
        node.monotonic_ahead_seconds = 61.0
        server.refuses = False
        assert await echo(servers, "four") == "four"


@pytest.mark.fault("F-66")
async def test_no_server_gets_the_token_of_another(
    node: OAuthNode, authority: AuthorizationServer, server: ProtectedServer, tmp_path: Path
) -> None:
    await login(node, server)
    async with (
        AuthorizationServer().serving() as elsewhere,
        ProtectedServer(elsewhere).serving() as other,
    ):
        thief = McpServer(name="thief", url=other.url, oauth_slot_ref=SLOT)
        named = McpServer(
            name="named", url=other.url, oauth_slot_ref=SLOT, oauth_resource=server.url
        )
        plain = McpServer(name="plain", url=other.url)
        records = (record(server), thief, named, plain)
        async with using(node, tmp_path, *records) as servers:
            assert await echo(servers, "hello") == "hello"
            for name in ("thief", "named", "plain"):
                with pytest.raises(McpFailure):
                    await echo(servers, "hello", name)
            assert other.bearers == []
            assert "not sent" in status(servers, "thief").detail


@pytest.mark.req("K-63")
@pytest.mark.req("K-64")
async def test_in_a_scoped_profile_only_a_helper_called_in_a_session_wakes_the_server(
    sqlite_url: str, server: ProtectedServer, tmp_path: Path
) -> None:
    assert shipped_profile("kheish").mcp.accounts == "scoped"
    assert shipped_profile("default").mcp.accounts == "boot"
    async with OAuthNode(sqlite_url, scoped_only=True).running() as node:
        account = await login(node, server)
        async with using(node, tmp_path, record(server)) as servers:
            shown = status(servers, "acme")
            assert shown.state == "needs_login"
            assert shown.detail.startswith(NEEDS_SCOPE)
            assert (server.calls, server.bearers) == ([], [])
            offer = McpOffer(servers, str)
            offer.begin(shipped_profile("kheish"))
            tools = {tool.name: tool for tool in offer.offered(shipped_profile("kheish")).tools}
            assert "mcp__acme__echo" not in tools
            lists = tools["list_mcp_resources"]
            workspace = Workspace(tmp_path)
            closed = with_credentials(workspace, credentialed_mcp=False)
            for held, bearers in ((closed, set()), (workspace, {account.access_token})):
                context = CallContext("call_1", held, print_nothing)
                result = await lists.run(lists.prepare({}, held), context)
                assert not result.is_error, result.output
                assert set(server.bearers) == bearers
            assert status(servers, "acme").state == "connected"
            now = {tool.name for tool in offer.offered(shipped_profile("kheish")).tools}
            assert "mcp__acme__echo" in now


@pytest.mark.fault("F-12")
async def test_no_status_failure_or_log_holds_a_token(
    node: OAuthNode,
    authority: AuthorizationServer,
    server: ProtectedServer,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG, "redshank_node")
    account = await login(node, server)
    said: list[str] = []
    async with using(node, tmp_path, record(server)) as servers:
        await echo(servers, "hello")
        server.challenge = f'Bearer error="x", error_description="{account.access_token}"'
        server.refuses = True
        authority.failure = (400, {"error": "x", "error_description": account.refresh_token})
        with pytest.raises(McpFailure) as caught:
            await echo(servers, "hello")
        said.append(str(caught.value))
        authority.failure = (400, {"error": "invalid_grant"})
        with pytest.raises(McpFailure) as caught:
            await echo(servers, "hello")
        said.append(str(caught.value))
        said.append(str(servers.statuses()))
        said.append(repr(servers.record("acme")))
    said += [each.getMessage() for each in caplog.records if each.name.startswith("redshank")]
    assert "canary-" not in " ".join(said)
    assert "redshank mcp login acme" in said[1]


def with_credentials(workspace: Workspace, **credentials: bool) -> Workspace:
    """The same, for an agent with these credentials."""
    boundary = workspace.boundary
    scope = msgspec.structs.replace(boundary.credentials, **credentials)
    narrowed = msgspec.structs.replace(boundary, credentials=scope)
    return msgspec.structs.replace(workspace, boundary=narrowed)


def print_nothing(text: str) -> None:
    """Progress is of no interest here."""
