"""Logging in to MCP servers through a real console: page, command line, status, logout."""

from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

import msgspec
import pytest

from redshank_shared.stores.mcp_tables import mcp_logins
from tests.fakes.authorization_server import AuthorizationServer, ProtectedServer
from tests.fakes.valkey import Valkey
from tests.integration.access_world import person
from tests.integration.console_world import running
from tests.integration.mcp_login_world import World, location, settings_with

pytest_plugins = ("tests.integration.mcp_login_fixtures",)


@pytest.mark.req("K-71")
async def test_a_browser_logs_in_and_the_account_lies_in_the_vault(
    world: World, authority: AuthorizationServer, server: ProtectedServer
) -> None:
    begun = await world.begin()
    asked = dict(parse_qsl(urlsplit(begun["authorization_url"]).query))
    assert asked["redirect_uri"] == f"{world.url}/v1/mcp/oauth/callback"
    assert (asked["resource"], asked["scope"]) == (server.url, "read write")
    assert asked["state"] == begun["state"]
    back = await location(begun["authorization_url"])
    page = await world.client.get(back)
    assert page.status_code == 200, page.text
    assert "You can close this window" in page.text
    assert page.headers["referrer-policy"] == "no-referrer"
    assert "default-src 'none'" in page.headers["content-security-policy"]
    account = world.account()
    assert {account.access_token, account.refresh_token} <= authority.alive
    assert (account.url, account.logged_in_by) == (server.url, "admin")
    view = (await world.client.get(f"{world.path}/login")).json()
    assert view["state"] == "live"
    assert view["scopes"] == ["read", "write"]
    assert (view["issuer"], view["renews"]) == (authority.issuer, True)
    assert view in (await world.client.get("/v1/mcp/accounts")).json()["items"]
    acts = (await world.client.get("/v1/audit", params={"act": "mcp_account.logged_in"})).json()
    assert ("admin", world.name) in [(act["who"], act["target"]) for act in acts["items"]]


@pytest.mark.req("K-71")
async def test_a_login_is_good_for_one_answer_of_the_browser_that_began_it(
    world: World, authority: AuthorizationServer
) -> None:
    back = await location((await world.begin())["authorization_url"])
    async with world.console.new_client() as stranger:
        refused = await stranger.get(back)
    assert refused.status_code == 403
    assert "did not begin the login" in refused.text
    # Its own browser may finish yet: a stranger cannot use the state up.
    assert (await world.client.get(back)).status_code == 200
    again = await world.client.get(back)
    assert again.status_code == 404
    assert len(authority.asked) == 1
    unknown = await world.client.get("/v1/mcp/oauth/callback", params={"state": "x", "code": "y"})
    assert unknown.status_code == 404


@pytest.mark.req("K-71")
async def test_two_logins_of_one_browser_stand_side_by_side(world: World) -> None:
    first = await location((await world.begin())["authorization_url"])
    second = await location((await world.begin())["authorization_url"])
    assert (await world.client.get(first)).status_code == 200
    assert (await world.client.get(second)).status_code == 200


@pytest.mark.req("K-71")
async def test_a_login_is_over_after_ten_minutes(world: World) -> None:
    back = await location((await world.begin())["authorization_url"])
    with world.database.begin() as connection:
        connection.execute(mcp_logins.update().values(expires_at=1.0))
    late = await world.client.get(back)
    assert late.status_code == 404
    assert "10 minutes" in late.text
    await world.begin()
    with world.database.read() as connection:
        assert len(connection.execute(mcp_logins.select()).all()) == 1


@pytest.mark.req("K-71")
async def test_a_command_line_finishes_only_what_its_own_user_began(
    world: World, authority: AuthorizationServer
) -> None:
    own = "http://127.0.0.1:4711/callback"
    begun = await world.begin(redirect_uri=own)
    back = await location(begun["authorization_url"])
    assert back.startswith(own)
    answer = dict(parse_qsl(urlsplit(back).query))
    async with person(world.console, "bo", "operator") as other:
        refused = await other.client.post("/v1/mcp/oauth/complete", json=answer)
        assert (refused.status_code, refused.json()["code"]) == (403, "oauth_other_person")
    by_browser = await world.client.get("/v1/mcp/oauth/callback", params=answer)
    assert by_browser.status_code == 403
    done = await world.client.post("/v1/mcp/oauth/complete", json=answer)
    assert (done.status_code, done.json()["state"]) == (200, "live")
    assert [each["application_type"] for each in authority.registered] == ["native"]


@pytest.mark.req("K-71")
async def test_codes_come_back_to_this_machine_alone(world: World) -> None:
    for address in (
        "https://evil.example/cb",
        "http://evil.example/cb",
        "http://127.0.0.1@evil.example/",
    ):
        answer = await world.client.post(f"{world.path}/login", json={"redirect_uri": address})
        assert (answer.status_code, answer.json()["field"]) == (422, "redirect_uri")


@pytest.mark.req("K-71")
async def test_a_client_that_is_given_is_used_in_place_of_a_registration(
    world: World, authority: AuthorizationServer
) -> None:
    authority.metadata["registration_endpoint"] = None
    refused = await world.client.post(f"{world.path}/login", json={})
    assert (refused.status_code, refused.json()["code"]) == (409, "oauth_registration")
    assert "--client-id" in refused.json()["detail"]
    authority.clients["ours"] = "canary-secret-of-the-client"
    authority.metadata["token_endpoint_auth_methods_supported"] = ["client_secret_basic"]
    given = {"client_id": "ours", "client_secret": "canary-secret-of-the-client"}
    back = await location((await world.begin(**given, scopes=["more"]))["authorization_url"])
    assert (await world.client.get(back)).status_code == 200
    assert authority.authorizations[-1].startswith("Basic ")
    assert world.account().scopes == ("more",)


@pytest.mark.fault("F-66")
async def test_a_server_that_is_not_what_it_says_is_asked_for_nothing(
    world: World, authority: AuthorizationServer, server: ProtectedServer
) -> None:
    server.resource = "https://bank.example/mcp"
    assert await world.refused() == (409, "oauth_wrong_resource")
    server.resource = None
    for metadata, code in (
        ({"issuer": f"{authority.issuer}/"}, "oauth_wrong_issuer"),
        ({"code_challenge_methods_supported": ["plain"]}, "oauth_without_pkce"),
        ({"token_endpoint": "http://login.example/token"}, "oauth_address"),
        ({"token_endpoint": None}, "oauth_metadata"),
    ):
        authority.metadata = dict(metadata)
        assert await world.refused() == (409, code)
    server.metadata["authorization_servers"] = []
    assert await world.refused() == (409, "oauth_metadata")
    assert (authority.registered, authority.authorized, authority.asked) == ([], [], [])
    assert server.bearers == []


@pytest.mark.fault("F-66")
async def test_an_answer_from_another_issuer_is_dropped(
    world: World, authority: AuthorizationServer
) -> None:
    authority.metadata["authorization_response_iss_parameter_supported"] = True
    authority.iss = "https://evil.example"
    back = await location((await world.begin())["authorization_url"])
    page = await world.client.get(back)
    assert page.status_code == 409
    assert "does not come from" in page.text
    assert authority.asked == []
    assert world.row() is None


@pytest.mark.req("K-65")
async def test_more_than_was_asked_for_is_not_kept(
    world: World, authority: AuthorizationServer
) -> None:
    authority.granted = "read write admin"
    back = await location((await world.begin())["authorization_url"])
    page = await world.client.get(back)
    assert page.status_code == 409
    assert "admin" in page.text
    assert world.row() is None
    assert len(authority.revoked) == 2
    assert authority.alive == set()


async def test_what_a_stranger_says_on_the_callback_is_shown_as_text(
    world: World,
) -> None:
    begun = await world.begin()
    said = {"state": begun["state"], "error": "<script>x", "error_description": "<img src=x>"}
    page = await world.client.get("/v1/mcp/oauth/callback", params=said)
    assert page.status_code == 409
    assert "<script>" not in page.text
    assert "<img" not in page.text
    assert "&lt;img" in page.text


@pytest.mark.req("K-64")
async def test_logging_out_ends_the_tokens_and_revokes_the_slot(
    world: World, authority: AuthorizationServer
) -> None:
    missing = await world.client.post(f"{world.path}/logout")
    assert missing.status_code == 404
    back = await location((await world.begin())["authorization_url"])
    await world.client.get(back)
    account = world.account()
    out = await world.client.post(f"{world.path}/logout")
    assert out.json() == {"server": world.name, "slot": world.slot, "ended_at_server": True}
    assert authority.alive.isdisjoint({account.access_token, account.refresh_token})
    row = world.row()
    assert row is not None
    assert (row.state, row.sealed) == ("revoked", "")
    view = (await world.client.get(f"{world.path}/login")).json()
    assert view["state"] == "revoked"
    # A revoked slot is filled again by the next login.
    back = await location((await world.begin())["authorization_url"])
    assert (await world.client.get(back)).status_code == 200
    assert world.account().access_token in authority.alive


async def test_servers_that_are_not_logged_in_to_say_so(world: World) -> None:
    plain_body = {"name": "plain", "url": "https://plain.example/mcp"}
    await world.client.post("/v1/mcp/servers", json=plain_body)
    for method, path in (("POST", "login"), ("GET", "login"), ("POST", "logout")):
        plain = await world.client.request(method, f"/v1/mcp/servers/plain/{path}")
        assert (plain.status_code, plain.json()["field"]) == (409, "oauth_slot_ref")
        unknown = await world.client.request(method, f"/v1/mcp/servers/nobody/{path}")
        assert unknown.status_code == 404
    view = (await world.client.get(f"{world.path}/login")).json()
    assert (view["state"], view["version"]) == ("none", 0)
    assert f"redshank mcp login {world.name}" in view["needs_login"]


@pytest.mark.req("K-71")
async def test_servers_with_metadata_in_other_places_are_found(
    world: World, authority: AuthorizationServer, server: ProtectedServer
) -> None:
    authority.path = "/tenant"
    for place in (
        "/.well-known/oauth-authorization-server/tenant",
        "/.well-known/openid-configuration/tenant",
        "/tenant/.well-known/openid-configuration",
    ):
        authority.metadata_at = place
        await world.begin()
    assert authority.looked_at[-3:] == [
        "/.well-known/oauth-authorization-server/tenant",
        "/.well-known/openid-configuration/tenant",
        "/tenant/.well-known/openid-configuration",
    ]
    server.tells_place = False
    server.metadata_at = "/.well-known/oauth-protected-resource"
    server.resource = server.url.removesuffix("/mcp")
    begun = await world.begin()
    asked = dict(parse_qsl(urlsplit(begun["authorization_url"]).query))
    assert asked["resource"] == server.resource
    server.metadata_at = "/elsewhere"
    server.tells_place = True
    refused = await world.client.post(f"{world.path}/login", json={})
    assert refused.json()["code"] == "oauth_wrong_resource"


@pytest.mark.req("K-71")
async def test_a_server_without_metadata_is_asked_whether_it_gives_tokens_itself(
    world: World, authority: AuthorizationServer, server: ProtectedServer
) -> None:
    server.metadata_at = None
    assert await world.refused() == (409, "oauth_metadata")
    server.is_own_issuer = True
    page = await world.come_back()
    assert page.status_code == 200, page.text
    account = world.account()
    assert (account.issuer, account.resource) == (server.url.removesuffix("/mcp"), server.url)
    assert account.access_token in authority.alive


async def test_a_silent_server_is_named(world: World, server: ProtectedServer) -> None:
    server.metadata["authorization_servers"] = ["http://127.0.0.1:1"]
    answer = await world.client.post(f"{world.path}/login", json={})
    assert (answer.status_code, answer.json()["code"]) == (503, "oauth_unavailable")
    assert "127.0.0.1:1" in answer.json()["detail"]


@pytest.mark.req("K-71")
async def test_a_console_with_a_public_address_is_known_by_its_document(
    tmp_path: Path,
    sqlite_template: Path,
    valkey: Valkey,
    authority: AuthorizationServer,
    server: ProtectedServer,
) -> None:
    authority.metadata["client_id_metadata_document_supported"] = True
    settings = settings_with(tmp_path, sqlite_template, valkey.url)
    public = msgspec.structs.replace(settings.console, public_url="https://agents.example")
    async with running(msgspec.structs.replace(settings, console=public)) as console:
        world = World(console, "acme")
        await world.add(server.url)
        begun = await world.begin()
        asked = dict(parse_qsl(urlsplit(begun["authorization_url"]).query))
        assert asked["client_id"] == "https://agents.example/v1/mcp/oauth/client.json"
        assert authority.registered == []
        document = (await world.client.get("/v1/mcp/oauth/client.json")).json()
        assert document["client_id"] == asked["client_id"]
        assert asked["redirect_uri"] in document["redirect_uris"]


async def test_a_console_without_a_master_key_begins_no_login(
    tmp_path: Path, sqlite_template: Path, valkey: Valkey, server: ProtectedServer
) -> None:
    keyless = settings_with(tmp_path, sqlite_template, valkey.url, key="")
    async with running(keyless) as console:
        world = World(console, "acme")
        await world.add(server.url)
        assert await world.refused() == (409, "vault_without_key")


async def test_a_console_on_this_machine_has_no_document(world: World) -> None:
    assert (await world.client.get("/v1/mcp/oauth/client.json")).status_code == 404


@pytest.mark.fault("F-12")
async def test_no_answer_log_or_row_of_a_login_holds_a_token(
    world: World, authority: AuthorizationServer, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("DEBUG")
    authority.metadata["token_endpoint_auth_methods_supported"] = ["client_secret_post"]
    begun = await world.client.post(f"{world.path}/login", json={})
    with world.database.read() as connection:
        rows = str(connection.execute(mcp_logins.select()).all())
    assert begun.json()["state"] not in rows
    said = [begun, await world.client.get(await location(begun.json()["authorization_url"]))]
    places = ("/v1/mcp/accounts", "/v1/mcp/servers", "/v1/secrets", "/v1/audit")
    for path in (f"{world.path}/login", world.path, *places):
        said.append(await world.client.get(path))
        assert said[-1].status_code == 200
    account = world.account()
    assert account.client.client_secret.startswith("canary-client-secret")
    authority.failure = (400, {"error": "x", "error_description": account.refresh_token})
    said.append(await world.come_back())
    assert said[-1].status_code == 503
    ours = [each for each in caplog.records if each.name.startswith("redshank")]
    logged = " ".join(each.getMessage() for each in ours)
    for text in (*(answer.text for answer in said), logged, rows):
        assert "canary-" not in text
