"""The pure parts of a login: what is asked for, what is believed, what is refused."""

import base64
import hashlib
from datetime import UTC, datetime
from urllib.parse import parse_qs, urlsplit

import msgspec
import pytest

from redshank_shared.domain.oauth_account import (
    Account,
    Client,
    Tokens,
    check_for,
    ends_at,
    facts_of,
    is_due,
    read_account,
    refreshed,
    secrets_in,
    write_account,
)
from redshank_shared.domain.oauth_addresses import canonical, checked_address, lies_within
from redshank_shared.domain.oauth_discovery import (
    AuthorizationServer,
    issuer_metadata_urls,
    read_challenge,
    read_issuer,
    read_resource,
    resource_metadata_urls,
)
from redshank_shared.domain.oauth_failures import (
    GrantRefused,
    LoginNeeded,
    LoginRefused,
    TokensUnavailable,
)
from redshank_shared.domain.oauth_flow import (
    CallbackAnswer,
    Form,
    Pending,
    approved,
    authorization_url,
    check_callback,
    chosen_scopes,
    code_challenge,
    code_form,
    given_client,
    random_text,
    read_registration,
    read_tokens,
    refresh_form,
    registration,
)

ISSUER = "https://login.example/tenant"
SERVER = AuthorizationServer(
    issuer=ISSUER,
    authorization_endpoint="https://login.example/authorize?kept=1",
    token_endpoint="https://login.example/token",
    code_challenge_methods_supported=("S256",),
    token_endpoint_auth_methods_supported=("client_secret_basic", "client_secret_post", "none"),
)
PENDING = Pending(
    server="acme",
    url="https://mcp.example/mcp",
    resource="https://mcp.example/mcp",
    issuer=ISSUER,
    token_endpoint="https://login.example/token",
    revocation_endpoint="",
    names_issuer=False,
    client=Client("client-1"),
    redirect_uri="http://127.0.0.1:8090/v1/mcp/oauth/callback",
    verifier="v" * 43,
    scopes=("read", "write"),
)
ACCOUNT = Account(
    url="https://mcp.example/mcp",
    resource="https://mcp.example/mcp",
    issuer=ISSUER,
    token_endpoint="https://login.example/token",
    client=Client("client-1", "canary-client-secret", "client_secret_basic"),
    access_token="canary-access-token",
    scopes=("read", "write"),
    expires_at=1000.0,
    refresh_token="canary-refresh-token",
)
FORM = Form({"grant_type": "refresh_token", "refresh_token": "canary-refresh-token"})


def document(**changed: object) -> bytes:
    return msgspec.json.encode({**msgspec.to_builtins(SERVER), **changed})


@pytest.mark.req("K-71")
def test_the_challenge_is_the_one_of_the_specification_of_pkce() -> None:
    # The example of RFC 7636, appendix B.
    verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
    assert code_challenge(verifier) == "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
    assert len(random_text(bytes(32))) == 43


@pytest.mark.req("K-71")
def test_the_browser_is_sent_with_state_challenge_resource_scopes() -> None:
    url = authorization_url(SERVER, PENDING, "the-state")
    assert url.startswith("https://login.example/authorize?")
    asked = {name: values[0] for name, values in parse_qs(urlsplit(url).query).items()}
    digest = hashlib.sha256(PENDING.verifier.encode()).digest()
    assert asked == {
        "kept": "1",
        "response_type": "code",
        "client_id": "client-1",
        "redirect_uri": PENDING.redirect_uri,
        "state": "the-state",
        "code_challenge": base64.urlsafe_b64encode(digest).rstrip(b"=").decode(),
        "code_challenge_method": "S256",
        "resource": "https://mcp.example/mcp",
        "scope": "read write",
    }
    assert PENDING.verifier not in url


@pytest.mark.req("K-71")
@pytest.mark.parametrize(
    "address",
    [
        "http://login.example/token",
        "http://127.0.0.1.login.example/",
        "http://127.0.0.1@login.example/",
        "https://user:word@login.example/",
        "ftp://login.example/",
        "https:///nowhere",
        "https://login.example/#part",
        "https://login.example/\nHost: other",
        "https://login.example:port/",
        "javascript:alert(1)",
        "",
    ],
)
def test_only_https_is_taken_and_http_on_this_machine_for_a_server_on_it(address: str) -> None:
    for loopback in (True, False):
        with pytest.raises(LoginRefused) as caught:
            checked_address(address, "the token endpoint", loopback=loopback)
        assert "the token endpoint" in caught.value.detail
        assert "word" not in caught.value.detail


@pytest.mark.req("K-71")
def test_a_server_elsewhere_cannot_send_us_to_this_machine() -> None:
    for own in ("http://127.0.0.1:9/token", "http://localhost/token", "http://[::1]:1/"):
        assert checked_address(own, "it", loopback=True) == own
        with pytest.raises(LoginRefused):
            checked_address(own, "it", loopback=False)


def test_two_spellings_of_one_resource_are_the_same() -> None:
    assert canonical("HTTPS://MCP.Example:443/mcp/") == "https://mcp.example/mcp"
    assert canonical("https://mcp.example/MCP") != canonical("https://mcp.example/mcp")
    assert lies_within("https://mcp.example/a/b", "https://mcp.example/a")
    assert not lies_within("https://mcp.example/ab", "https://mcp.example/a")
    assert not lies_within("https://mcp.example:444/a", "https://mcp.example/a")


def test_metadata_are_looked_for_in_the_order_of_the_specification() -> None:
    assert [place for place, _ in resource_metadata_urls("https://mcp.example/v1/mcp")] == [
        "https://mcp.example/.well-known/oauth-protected-resource/v1/mcp",
        "https://mcp.example/.well-known/oauth-protected-resource",
    ]
    assert len(resource_metadata_urls("https://mcp.example/")) == 1
    assert issuer_metadata_urls(ISSUER) == (
        "https://login.example/.well-known/oauth-authorization-server/tenant",
        "https://login.example/.well-known/openid-configuration/tenant",
        "https://login.example/tenant/.well-known/openid-configuration",
    )
    assert issuer_metadata_urls("https://login.example") == (
        "https://login.example/.well-known/oauth-authorization-server",
        "https://login.example/.well-known/openid-configuration",
    )


def test_a_challenge_is_read_whatever_its_order_and_quoting() -> None:
    header = (
        'Basic realm="x", Bearer error="insufficient_scope", scope="a b a", '
        'error_description="say \\"resource_metadata=evil\\"", resource_metadata=https://m.example/p'
    )
    challenge = read_challenge(header)
    assert challenge.error == "insufficient_scope"
    assert challenge.scopes == ("a", "b")
    assert challenge.resource_metadata == "https://m.example/p"
    assert read_challenge("") == read_challenge("Basic realm=x")


@pytest.mark.fault("F-66")
def test_a_server_that_says_it_is_another_is_refused() -> None:
    body = msgspec.json.encode({"resource": "https://bank.example/mcp"})
    with pytest.raises(LoginRefused) as caught:
        read_resource(body, "https://mcp.example/mcp")
    assert caught.value.code == "oauth_wrong_resource"
    assert "bank.example" in caught.value.detail
    assert "oauth_resource" in caught.value.detail


@pytest.mark.fault("F-66")
def test_a_wider_resource_is_believed_only_from_its_own_well_known_place() -> None:
    body = msgspec.json.encode({"resource": "https://mcp.example/"})
    found = read_resource(body, "https://mcp.example/a/mcp", "https://mcp.example")
    assert found.resource == "https://mcp.example/"
    for elsewhere in ("", "https://mcp.example/a/mcp"):
        with pytest.raises(LoginRefused):
            read_resource(body, "https://mcp.example/a/mcp", elsewhere)


@pytest.mark.fault("F-66")
@pytest.mark.parametrize(
    "named", [f"{ISSUER}/", "https://LOGIN.example/tenant", "https://x.example"]
)
def test_an_issuer_must_match_byte_for_byte(named: str) -> None:
    with pytest.raises(LoginRefused) as caught:
        read_issuer(document(issuer=named), ISSUER, loopback=False)
    assert caught.value.code == "oauth_wrong_issuer"
    assert read_issuer(document(), ISSUER, loopback=False).issuer == ISSUER


@pytest.mark.req("K-71")
def test_an_issuer_without_s256_or_with_an_unsafe_address_is_refused() -> None:
    for supported in ([], ["plain"]):
        body = document(code_challenge_methods_supported=supported)
        with pytest.raises(LoginRefused) as caught:
            read_issuer(body, ISSUER, loopback=False)
        assert caught.value.code == "oauth_without_pkce"
    for name in ("authorization_endpoint", "token_endpoint", "registration_endpoint"):
        with pytest.raises(LoginRefused) as caught:
            read_issuer(document(**{name: "http://login.example/x"}), ISSUER, loopback=False)
        assert name in caught.value.detail


def test_metadata_may_say_null_for_what_is_not_there() -> None:
    found = read_issuer(document(registration_endpoint=None), ISSUER, loopback=False)
    assert found.registration_endpoint == ""


@pytest.mark.parametrize(
    "body", [b"", b"<html>", b"[]", b"{}", b"\xff", b'{"issuer": ' + b"[" * 100_000]
)
def test_metadata_that_cannot_be_read_are_refused(body: bytes) -> None:
    for read in (
        lambda: read_issuer(body, ISSUER, loopback=False),
        lambda: read_resource(body, "https://mcp.example"),
    ):
        with pytest.raises(LoginRefused) as caught:
            read()
        assert caught.value.code == "oauth_metadata"


@pytest.mark.req("K-65")
def test_the_operator_s_scopes_go_before_the_server_s() -> None:
    challenged, of_resource, of_issuer = ("c",), ("r",), ("r", "offline_access")
    assert chosen_scopes(("mine",), challenged, of_resource, of_issuer) == ("mine",)
    assert chosen_scopes((), challenged, of_resource, ()) == ("c",)
    assert chosen_scopes((), (), of_resource, of_issuer) == ("r", "offline_access")
    assert chosen_scopes((), (), (), of_issuer) == ()


@pytest.mark.req("K-65")
def test_no_more_is_taken_than_was_asked_for() -> None:
    assert approved(PENDING, Tokens("t", scopes=("read",))) == ("read",)
    assert approved(PENDING, Tokens("t")) == ("read", "write")
    with pytest.raises(LoginRefused) as caught:
        approved(PENDING, Tokens("t", scopes=("read", "admin")))
    assert "admin" in caught.value.detail


@pytest.mark.req("K-65")
def test_a_refresh_never_adds_a_scope() -> None:
    with pytest.raises(LoginNeeded) as caught:
        refreshed(ACCOUNT, Tokens("new", scopes=("read", "admin")), 0.0)
    assert caught.value.code == "oauth_scopes_widened"
    narrower = refreshed(ACCOUNT, Tokens("new", 60.0, scopes=("read",)), 100.0)
    assert narrower.scopes == ("read",)
    assert narrower.expires_at == 160.0
    with pytest.raises(LoginNeeded):
        refreshed(narrower, Tokens("newer", scopes=("read", "write")), 0.0)
    assert "scope" not in refresh_form(ACCOUNT.client, "token", "https://mcp.example").fields


@pytest.mark.req("K-65")
def test_scopes_that_nobody_approved_need_a_login() -> None:
    check_for(ACCOUNT, "acme", "https://mcp.example/mcp", ("read",))
    with pytest.raises(LoginNeeded) as caught:
        check_for(ACCOUNT, "acme", "https://mcp.example/mcp", ("read", "admin"))
    assert caught.value.code == "oauth_scopes_not_approved"
    assert caught.value.field == "oauth_scopes"
    assert "admin" in caught.value.detail


@pytest.mark.fault("F-66")
def test_a_token_goes_to_no_other_server_than_the_one_it_was_given_for() -> None:
    for other in (
        "https://evil.example/mcp",
        "https://mcp.example/other",
        "http://mcp.example/mcp",
    ):
        with pytest.raises(LoginNeeded) as caught:
            check_for(ACCOUNT, "acme", other, ())
        assert caught.value.code == "oauth_wrong_resource"
        assert "redshank mcp login acme" in caught.value.detail


@pytest.mark.fault("F-13")
def test_a_refresh_without_a_new_refresh_token_keeps_the_old_one() -> None:
    fresh = refreshed(ACCOUNT, Tokens("new", 60.0), 100.0)
    assert (fresh.access_token, fresh.refresh_token) == ("new", "canary-refresh-token")
    assert is_due(fresh, 100.5)
    assert not is_due(msgspec.structs.replace(fresh, expires_at=161.0), 100.0)


@pytest.mark.req("K-71")
@pytest.mark.req("K-65")
@pytest.mark.parametrize("said", ["", " ", '\\"'])
def test_an_empty_scope_says_nothing_so_that_none_can_be_added_after_it(said: str) -> None:
    body = f'{{"access_token": "t", "scope": "{said}"}}'.encode()
    tokens = read_tokens(200, body, "https://as.example", Form({}))
    held = refreshed(msgspec.structs.replace(ACCOUNT, scopes=("read",)), tokens, 0.0)
    assert held.scopes == ("read",)
    with pytest.raises(LoginNeeded):
        refreshed(held, Tokens("t", scopes=("read", "admin")), 0.0)


@pytest.mark.req("K-65")
@pytest.mark.parametrize("said", ["1e300", "inf", "nan", "-1"])
def test_a_token_with_an_odd_life_ends_at_a_time_that_can_be_shown(said: str) -> None:
    body = f'{{"access_token": "t", "refresh_token": "r", "expires_in": "{said}"}}'.encode()
    tokens = read_tokens(200, body, "https://as.example", Form({}))
    ends = ends_at(tokens, 1_800_000_000.0)
    assert ends is not None
    assert datetime.fromtimestamp(ends, UTC).year < 2100


def test_the_answer_must_come_from_the_issuer_where_the_login_began() -> None:
    check_callback(PENDING, CallbackAnswer(code="c"))
    check_callback(PENDING, CallbackAnswer(code="c", issuer=ISSUER))
    naming = msgspec.structs.replace(PENDING, names_issuer=True)
    for pending, issuer in (
        (PENDING, "https://other.example"),
        (naming, ""),
        (naming, f"{ISSUER}/"),
    ):
        with pytest.raises(LoginRefused) as caught:
            check_callback(pending, CallbackAnswer(code="c", issuer=issuer))
        assert caught.value.code == "oauth_wrong_issuer"


def test_a_refusal_of_the_authorization_server_is_told_in_one_short_line() -> None:
    answer = CallbackAnswer(error="access_denied\n\x1b[2J", error_description="no\n" + "x" * 999)
    with pytest.raises(LoginRefused) as caught:
        check_callback(PENDING, answer)
    assert "access_denied" in caught.value.detail
    assert "\n" not in caught.value.detail
    assert "\x1b" not in caught.value.detail
    assert len(caught.value.detail) < 600
    with pytest.raises(LoginRefused):
        check_callback(PENDING, CallbackAnswer())


def test_a_client_shows_itself_as_its_server_wants_it() -> None:
    assert code_form(PENDING, "c").fields["client_id"] == "client-1"
    secret = "a secret:with/signs"
    basic = given_client("id:1", secret, SERVER)
    assert basic.method == "client_secret_basic"
    form = refresh_form(basic, "t", "https://mcp.example")
    assert base64.b64decode(form.authorization[6:]) == b"id%3A1:a%20secret%3Awith%2Fsigns"
    assert "client_secret" not in form.fields
    only_post = msgspec.structs.replace(
        SERVER, token_endpoint_auth_methods_supported=("client_secret_post",)
    )
    assert refresh_form(given_client("i", "s", only_post), "t", "r").fields["client_secret"] == "s"
    public = msgspec.structs.replace(SERVER, token_endpoint_auth_methods_supported=("none",))
    assert given_client("i", "a secret nobody asks for", public) == Client("i")
    jwt = msgspec.structs.replace(
        SERVER, token_endpoint_auth_methods_supported=("private_key_jwt",)
    )
    with pytest.raises(LoginRefused):
        given_client("i", "s", jwt)


def test_a_registration_asks_for_a_public_client_where_it_can() -> None:
    body = registration(SERVER, "http://127.0.0.1:1/cb", ("read",), loopback=True)
    assert body["token_endpoint_auth_method"] == "none"
    assert body["grant_types"] == ["authorization_code", "refresh_token"]
    assert body["application_type"] == "native"
    assert read_registration(b'{"client_id": "c", "extra": 1}', SERVER) == Client("c")
    with pytest.raises(LoginRefused):
        read_registration(b'{"client_id": "c", "token_endpoint_auth_method": "x"}', SERVER)
    with pytest.raises(LoginRefused):
        read_registration(b"{}", SERVER)


@pytest.mark.fault("F-13")
def test_invalid_grant_alone_costs_the_account() -> None:
    with pytest.raises(GrantRefused):
        read_tokens(400, b'{"error": "invalid_grant"}', ISSUER, FORM)
    for status, body in (
        (400, b'{"error": "invalid_request"}'),
        (401, b'{"error": "invalid_client"}'),
        (401, b'{"error": "invalid_grant"}'),
        (429, b"slow down"),
        (500, b'{"error": "invalid_grant"}'),
        (200, b"<html>"),
        (200, b'{"access_token": ""}'),
        (200, b'{"access_token": "a\\nb"}'),
        (200, b'{"access_token": "a", "token_type": "DPoP"}'),
        (302, b""),
    ):
        with pytest.raises(TokensUnavailable):
            read_tokens(status, body, ISSUER, FORM)
    assert read_tokens(200, b'{"access_token": "a", "expires_in": "60"}', ISSUER, FORM) == Tokens(
        "a", 60.0
    )


@pytest.mark.fault("F-12")
def test_no_text_of_an_account_holds_a_secret_of_it() -> None:
    echo = b'{"error": "server_error", "error_description": "bad canary-refresh-token"}'
    with pytest.raises(TokensUnavailable) as caught:
        read_tokens(500, echo, ISSUER, FORM)
    basic = refresh_form(ACCOUNT.client, "canary-refresh-token", ISSUER)
    with pytest.raises(TokensUnavailable) as other:
        read_tokens(401, b'{"error": "no canary-client-secret"}', ISSUER, basic)
    facts = facts_of(ACCOUNT, str)
    shown = [
        caught.value.detail,
        other.value.detail,
        repr(ACCOUNT),
        repr(ACCOUNT.client),
        repr(Tokens("canary-access-token", refresh_token="canary-refresh-token")),
        repr(FORM),
        repr(msgspec.structs.replace(PENDING, verifier="canary-verifier")),
        repr(CallbackAnswer(code="canary-code")),
        msgspec.json.encode(facts).decode(),
    ]
    assert "canary" not in " ".join(shown)
    assert facts.scopes == ("read", "write")
    assert facts.renews
    text = write_account(ACCOUNT)
    assert read_account(text, "mcp.oauth.acme", "acme") == ACCOUNT
    known = {"canary-access-token", "canary-refresh-token", "canary-client-secret"}
    assert set(secrets_in(text)) == known
    assert secrets_in("no-account-at-all") == ("no-account-at-all",)
    with pytest.raises(LoginNeeded):
        read_account("no-account-at-all", "mcp.oauth.acme", "acme")
