"""One account in a cluster: each request gets a live token, one refresh serves all (F13)."""

import asyncio
import contextlib
from collections.abc import AsyncIterator

import msgspec
import pytest

from redshank_shared.domain.oauth_failures import LoginNeeded, ScopedUseOnly, TokensUnavailable
from redshank_shared.oauth.renewal import HOLD_SECONDS
from redshank_shared.stores.secrets import SecretRow, Secrets
from tests.fakes.authorization_server import AuthorizationServer, ProtectedServer
from tests.integration.oauth_world import SLOT, OAuthNode, at, login, record

pytest_plugins = ("tests.integration.console_fixtures", "tests.integration.oauth_fixtures")

DEADLINE_SECONDS = 30.0


@contextlib.asynccontextmanager
async def three(database_url: str) -> AsyncIterator[list[OAuthNode]]:
    """Three processes' worth of nodes."""
    async with contextlib.AsyncExitStack() as stack:
        names = ("nd_1", "nd_2", "nd_3")
        yield [
            await stack.enter_async_context(OAuthNode(database_url, name).running())
            for name in names
        ]


async def until_asked(authority: AuthorizationServer, refreshes: int) -> None:
    async with asyncio.timeout(DEADLINE_SECONDS):
        while len(authority.refreshes) < refreshes:
            await asyncio.sleep(0.01)


@pytest.mark.req("K-64")
async def test_a_live_token_is_given_without_asking_for_another(
    node: OAuthNode, authority: AuthorizationServer, server: ProtectedServer
) -> None:
    account = await login(node, server)
    assert await node.access.authorize(record(server)) == account.access_token
    assert authority.refreshes == []
    assert (account.scopes, account.logged_in_by) == (("read", "write"), "ana")


@pytest.mark.fault("F-13")
async def test_twenty_tasks_on_three_nodes_make_one_refresh(
    database_url: str, authority: AuthorizationServer, server: ProtectedServer
) -> None:
    async with three(database_url) as nodes:
        old = await login(nodes[0], server)
        for each in nodes:
            each.ahead_seconds = 3590.0
        authority.hold = asyncio.Event()
        async with asyncio.TaskGroup() as group:
            given = [
                group.create_task(each.access.authorize(record(server)))
                for each in nodes
                for _ in range(20)
            ]
            await until_asked(authority, 1)
            authority.hold.set()
        tokens = {each.result() for each in given}
        assert len(tokens) == 1
        assert tokens.isdisjoint({old.access_token})
        assert tokens <= authority.alive
        assert [each["refresh_token"] for each in authority.refreshes] == [old.refresh_token]
        assert (await nodes[2].account()).refresh_token in authority.alive


@pytest.mark.fault("F-13")
@pytest.mark.parametrize("failure", [(503, {}), (400, {"error": "invalid_request"}), None])
async def test_a_passing_trouble_keeps_the_account(
    node: OAuthNode,
    authority: AuthorizationServer,
    server: ProtectedServer,
    failure: tuple[int, dict[str, str]] | None,
) -> None:
    account = await login(node, server)
    address = authority.url
    if failure is None:
        gone = msgspec.structs.replace(account, token_endpoint="http://127.0.0.1:1/token")
        await node.accounts.put(SLOT, gone, "ana")
    else:
        authority.failure = failure
    node.ahead_seconds = 3590.0
    # It lives for ten seconds yet.
    assert await node.access.authorize(record(server)) == account.access_token
    node.ahead_seconds = 3700.0
    with pytest.raises(TokensUnavailable):
        await node.access.authorize(record(server))
    kept = await node.account()
    assert (kept.refresh_token, kept.spent, kept.refreshing) == (account.refresh_token, "", "")
    authority.failure = None
    mended = msgspec.structs.replace(kept, token_endpoint=f"{address}/token")
    await node.accounts.put(SLOT, mended, "ana")
    assert await node.access.authorize(record(server)) in authority.alive


@pytest.mark.fault("F-13")
async def test_invalid_grant_asks_for_a_login_and_deletes_nothing(
    node: OAuthNode, authority: AuthorizationServer, server: ProtectedServer
) -> None:
    account = await login(node, server)
    authority.failure = (400, {"error": "invalid_grant", "error_description": "too old"})
    node.ahead_seconds = 3700.0
    with pytest.raises(LoginNeeded) as caught:
        await node.access.authorize(record(server))
    assert "redshank mcp login acme" in caught.value.detail
    assert "too old" in caught.value.detail
    kept = await node.account()
    assert (kept.access_token, kept.refresh_token) == (account.access_token, account.refresh_token)
    asked = len(authority.refreshes)
    with pytest.raises(LoginNeeded):
        await node.access.authorize(record(server))
    assert len(authority.refreshes) == asked
    authority.failure = None
    node.ahead_seconds = 0.0
    again = await login(node, server)
    assert await node.access.authorize(record(server)) == again.access_token


@pytest.mark.fault("F-13")
async def test_a_cancelled_call_loses_no_token(
    node: OAuthNode, authority: AuthorizationServer, server: ProtectedServer
) -> None:
    await login(node, server)
    node.ahead_seconds = 3590.0
    authority.hold = asyncio.Event()
    async with asyncio.TaskGroup() as group:
        call = group.create_task(node.access.authorize(record(server)))
        await until_asked(authority, 1)
        call.cancel()
        authority.hold.set()
    assert await node.access.authorize(record(server)) in authority.alive
    assert len(authority.refreshes) == 1


@pytest.mark.fault("F-13")
async def test_a_node_that_died_over_a_refresh_is_followed_by_another(
    node: OAuthNode, authority: AuthorizationServer, server: ProtectedServer
) -> None:
    account = await login(node, server)
    held = msgspec.structs.replace(account, refreshing="nd_that_died")
    await node.accounts.put(SLOT, held, "ana")
    node.ahead_seconds = 3590.0
    async with asyncio.TaskGroup() as group:
        call = group.create_task(node.access.authorize(record(server)))
        await asyncio.sleep(0.5)
        assert authority.refreshes == []
        node.monotonic_ahead_seconds = HOLD_SECONDS + 1
    assert call.result() in authority.alive
    assert (await node.account()).refreshing == ""


@pytest.mark.req("K-64")
async def test_a_revoked_or_changed_account_counts_from_the_next_request(
    node: OAuthNode, server: ProtectedServer
) -> None:
    with pytest.raises(LoginNeeded) as caught:
        await node.access.authorize(record(server))
    assert "nobody has logged in" in caught.value.detail
    first = await login(node, server)
    assert await node.access.authorize(record(server)) == first.access_token
    second = await login(node, server)
    assert await node.access.authorize(record(server)) == second.access_token
    assert second.access_token != first.access_token
    version = (await node.accounts.find(SLOT, "acme")).version
    revoked = SecretRow(SLOT, "revoked", version + 1, "", "", "ana", at())
    assert Secrets(node.database).put(revoked)
    with pytest.raises(LoginNeeded) as caught:
        await node.access.authorize(record(server))
    assert caught.value.code == "oauth_revoked"


@pytest.mark.req("K-63")
@pytest.mark.req("K-64")
async def test_no_token_is_given_until_a_session_that_may_use_the_server_calls_it(
    sqlite_url: str, server: ProtectedServer
) -> None:
    async with OAuthNode(sqlite_url, scoped_only=True).running() as node:
        account = await login(node, server)
        with pytest.raises(ScopedUseOnly) as caught:
            await node.access.authorize(record(server))
        assert caught.value.code == "oauth_requires_scoped_runtime_initialization"
        assert node.access.sleeps(record(server))
        node.access.admit(record(server))
        assert not node.access.sleeps(record(server))
        assert await node.access.authorize(record(server)) == account.access_token


@pytest.mark.req("K-63", "K-64")
async def test_what_was_admitted_is_a_server_at_its_address_not_its_name(
    sqlite_url: str, server: ProtectedServer
) -> None:
    async with OAuthNode(sqlite_url, scoped_only=True).running() as node:
        mine = record(server)
        node.access.admit(mine)

        elsewhere = msgspec.structs.replace(mine, url="https://elsewhere.test/mcp")
        with_another = msgspec.structs.replace(mine, oauth_slot_ref="mcp.oauth.another")

        assert not node.access.sleeps(mine)
        assert node.access.sleeps(elsewhere)
        assert node.access.sleeps(with_another)


async def test_a_refused_token_is_renewed_once_then_a_login_is_needed(
    node: OAuthNode, authority: AuthorizationServer, server: ProtectedServer
) -> None:
    account = await login(node, server)
    acme = record(server)
    first = await node.access.authorize(acme)
    await asyncio.gather(*(node.access.refused(acme, "Bearer", first) for _ in range(5)))
    second = await node.access.authorize(acme)
    assert second != account.access_token
    assert len(authority.refreshes) == 1
    # A call that was under way with the old token: the new one is there already.
    await node.access.refused(acme, "Bearer", first)
    assert len(authority.refreshes) == 1
    with pytest.raises(LoginNeeded) as caught:
        await node.access.refused(acme, "Bearer")
    assert caught.value.code == "oauth_token_refused"
    assert len(authority.refreshes) == 1
    # For a minute nothing more is sent; then it is tried anew.
    with pytest.raises(LoginNeeded):
        await node.access.authorize(acme)
    node.monotonic_ahead_seconds = 61.0
    assert await node.access.authorize(acme) == second
    await node.access.refused(acme, "Bearer", second)
    assert len(authority.refreshes) == 2


@pytest.mark.fault("F-13")
async def test_a_renewal_that_brings_the_refused_token_again_is_not_repeated(
    node: OAuthNode, authority: AuthorizationServer, server: ProtectedServer
) -> None:
    authority.access = "canary-the-only-one"
    await login(node, server)
    acme = record(server)
    token = await node.access.authorize(acme)
    async with asyncio.timeout(DEADLINE_SECONDS):
        with pytest.raises(LoginNeeded) as caught:
            await node.access.refused(acme, "Bearer", token)
    assert caught.value.code == "oauth_token_refused"
    assert len(authority.refreshes) == 1


@pytest.mark.req("K-65")
async def test_the_login_that_a_server_asks_for_can_be_typed_as_it_is_named(
    node: OAuthNode, server: ProtectedServer
) -> None:
    await login(node, server, "read")
    many = " ".join(f"scope-{number}" for number in range(90))
    challenge = f'Bearer error="insufficient_scope", scope="$(reboot) ;ls {many}"'
    with pytest.raises(LoginNeeded) as caught:
        await node.access.refused(record(server), challenge)
    said = caught.value.detail
    assert "--scope '$(reboot)' --scope ';ls'" in said
    assert len(said) < 2000


@pytest.mark.req("K-65")
async def test_a_server_that_wants_more_scopes_names_the_login_for_them(
    node: OAuthNode, server: ProtectedServer
) -> None:
    await login(node, server, "read")
    await node.access.authorize(record(server))
    challenge = 'Bearer error="insufficient_scope", scope="read write"'
    with pytest.raises(LoginNeeded) as caught:
        await node.access.refused(record(server), challenge)
    assert "redshank mcp login acme --scope read --scope write" in caught.value.detail
    with pytest.raises(LoginNeeded) as caught:
        await node.access.authorize(record(server, oauth_scopes=("read", "write")))
    assert caught.value.code == "oauth_scopes_not_approved"


@pytest.mark.req("K-65")
async def test_a_refresh_that_widens_the_scope_is_refused(
    node: OAuthNode, authority: AuthorizationServer, server: ProtectedServer
) -> None:
    await login(node, server)
    authority.granted = "read write admin"
    node.ahead_seconds = 3590.0
    with pytest.raises(LoginNeeded) as caught:
        await node.access.authorize(record(server))
    assert caught.value.code == "oauth_scopes_widened"
    assert "admin" in (await node.account()).spent
    with pytest.raises(LoginNeeded):
        await node.access.authorize(record(server))
    assert len(authority.refreshes) == 1


@pytest.mark.fault("F-66")
async def test_no_token_is_sent_to_an_address_that_took_the_place_of_another(
    node: OAuthNode, authority: AuthorizationServer, server: ProtectedServer
) -> None:
    await login(node, server)
    async with ProtectedServer(authority).serving() as other:
        with pytest.raises(LoginNeeded) as caught:
            await node.access.authorize(record(other))
        assert caught.value.code == "oauth_wrong_resource"
        named = record(other, oauth_resource=server.url)
        with pytest.raises(LoginNeeded):
            await node.access.authorize(named)
        assert other.bearers == []


@pytest.mark.fault("F-12")
async def test_the_tokens_of_the_last_renewals_are_masked_those_of_long_ago_are_not_kept(
    node: OAuthNode, authority: AuthorizationServer, server: ProtectedServer
) -> None:
    tokens = []
    for _ in range(10):
        account = await login(node, server)
        tokens.append(account.access_token)
    size = len(node.redactor.forms)
    assert all(node.redactor.of_log(token) == "***" for token in tokens[-8:])
    await login(node, server)
    assert len(node.redactor.forms) < size * 1.1
    assert not node.redactor.knows(tokens[0])


@pytest.mark.fault("F-13")
async def test_a_token_that_came_late_goes_before_the_mark_of_who_overtook(
    node: OAuthNode, authority: AuthorizationServer, server: ProtectedServer
) -> None:
    account = await login(node, server)
    node.ahead_seconds = 3590.0
    authority.hold = asyncio.Event()
    async with asyncio.TaskGroup() as group:
        call = group.create_task(node.access.authorize(record(server)))
        await until_asked(authority, 1)
        overtaken = msgspec.structs.replace(account, refreshing="nd_2")
        await node.accounts.put(SLOT, overtaken, "ana")
        authority.hold.set()
    assert call.result() in authority.alive
    assert (await node.account()).access_token == call.result()


@pytest.mark.fault("F-13")
async def test_a_login_during_a_renewal_goes_before_what_it_brings(
    node: OAuthNode, authority: AuthorizationServer, server: ProtectedServer
) -> None:
    await login(node, server)
    node.ahead_seconds = 3590.0
    authority.hold = asyncio.Event()
    async with asyncio.TaskGroup() as group:
        call = group.create_task(node.access.authorize(record(server)))
        await until_asked(authority, 1)
        hold, authority.hold = authority.hold, None
        again = await login(node, server)
        hold.set()
    assert call.result() == again.access_token
    assert (await node.account()).access_token == again.access_token
