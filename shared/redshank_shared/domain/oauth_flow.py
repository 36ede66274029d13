"""The steps of an authorization code login, as requests to make with answers to check."""

import base64
import hashlib
from collections.abc import Iterable
from typing import Any
from urllib.parse import parse_qsl, quote, urlencode, urlsplit, urlunsplit

import msgspec

from redshank_shared.domain.masking import MASK, shown_url
from redshank_shared.domain.oauth_account import Client, Tokens
from redshank_shared.domain.oauth_discovery import AuthorizationServer, scopes_of
from redshank_shared.domain.oauth_failures import (
    GrantRefused,
    LoginRefused,
    TokensUnavailable,
)

CLIENT_NAME = "Redshank"
OFFLINE = "offline_access"
_METHODS = ("none", "client_secret_basic", "client_secret_post")
_LONGEST_TOKEN = 16384
_LONGEST_SAID = 200


class Pending(msgspec.Struct, frozen=True):
    """A login that has begun. `scopes`: what is asked for; `browser`: the digest of what the
    browser that began it holds, empty for a command line.
    """

    server: str
    url: str
    resource: str
    issuer: str
    token_endpoint: str
    revocation_endpoint: str
    names_issuer: bool
    client: Client
    redirect_uri: str
    verifier: str
    scopes: tuple[str, ...] = ()
    browser: str = ""

    def __repr__(self) -> str:
        return f"Pending({self.server!r})"


class CallbackAnswer(msgspec.Struct, frozen=True):
    """What came back with the browser; all of it untrusted."""

    code: str = ""
    issuer: str = ""
    error: str = ""
    error_description: str = ""

    def __repr__(self) -> str:
        return "CallbackAnswer(***)"


class Form(msgspec.Struct, frozen=True):
    """A request to a token endpoint: the fields of its body, the header that shows the client with
    its secret.
    """

    fields: dict[str, str]
    authorization: str = ""
    secret: str = ""

    def __repr__(self) -> str:
        return "Form(***)"


def random_text(random_bytes: bytes) -> str:
    """Random bytes as text that needs no quoting: a state, a PKCE verifier (32 bytes or more)."""
    return base64.urlsafe_b64encode(random_bytes).rstrip(b"=").decode()


def code_challenge(verifier: str) -> str:
    """The S256 challenge of a verifier (RFC 7636 section 4.2)."""
    return random_text(hashlib.sha256(verifier.encode("ascii")).digest())


def chosen_scopes(
    configured: tuple[str, ...],
    challenged: tuple[str, ...],
    of_resource: tuple[str, ...],
    of_issuer: tuple[str, ...],
) -> tuple[str, ...]:
    """What to ask for: the operator's word, else the server's challenge, else all that the server
    has; with these a refresh token where the issuer names the scope for it.
    """
    if configured:
        return configured
    found = challenged or of_resource
    if found and OFFLINE in of_issuer and OFFLINE not in found:
        return (*found, OFFLINE)
    return found


def authorization_url(server: AuthorizationServer, pending: Pending, state: str) -> str:
    """Where the person's browser goes."""
    asked = {
        "response_type": "code",
        "client_id": pending.client.client_id,
        "redirect_uri": pending.redirect_uri,
        "state": state,
        "code_challenge": code_challenge(pending.verifier),
        "code_challenge_method": "S256",
        "resource": pending.resource,
    }
    if pending.scopes:
        asked["scope"] = " ".join(pending.scopes)
    if OFFLINE in pending.scopes:
        asked["prompt"] = "consent"
    parts = urlsplit(server.authorization_endpoint)
    kept = [each for each in parse_qsl(parts.query) if each[0] not in asked]
    return urlunsplit(parts._replace(query=urlencode([*kept, *asked.items()], quote_via=quote)))


def registration(
    server: AuthorizationServer, redirect_uri: str, scopes: tuple[str, ...], *, loopback: bool
) -> dict[str, Any]:
    """The body of a dynamic registration (RFC 7591)."""
    offered = server.token_endpoint_auth_methods_supported
    body: dict[str, Any] = {
        "client_name": CLIENT_NAME,
        "redirect_uris": [redirect_uri],
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
        "token_endpoint_auth_method": _first_of(_METHODS, offered) or "none",
        "application_type": "native" if loopback else "web",
    }
    return {**body, "scope": " ".join(scopes)} if scopes else body


def client_document(address: str, redirect_uris: Iterable[str]) -> dict[str, Any]:
    """The document under an address that serves as client id by itself."""
    return {
        "client_id": address,
        "client_name": CLIENT_NAME,
        "redirect_uris": list(redirect_uris),
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
        "token_endpoint_auth_method": "none",
    }


class _Registered(msgspec.Struct, frozen=True):
    client_id: str
    client_secret: str = ""
    token_endpoint_auth_method: str = ""


def read_registration(body: bytes, server: AuthorizationServer) -> Client:
    """The client that a registration made; LoginRefused where the answer holds none."""
    try:
        found = msgspec.json.decode(body, type=_Registered)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise LoginRefused(
            f"{shown_url(server.issuer)} answered the registration with no client: give one that "
            f"its operator made with --client-id",
            code="oauth_registration",
        ) from None
    method = found.token_endpoint_auth_method
    return given_client(found.client_id, found.client_secret, server, method)


def given_client(
    client_id: str, client_secret: str, server: AuthorizationServer, method: str = ""
) -> Client:
    """A client with the way to show it that the server takes; LoginRefused where there is none."""
    offered = server.token_endpoint_auth_methods_supported
    if method:
        chosen = method if method in _METHODS else None
    elif client_secret:
        # A server may give a secret along that its token endpoint does not ask for.
        chosen = _first_of((*_METHODS[1:], "none"), offered)
    else:
        chosen = "none"
    if chosen is None or (chosen != "none" and not client_secret):
        raise LoginRefused(
            f"{shown_url(server.issuer)} wants its clients to show themselves in another way than "
            f"none, client_secret_basic or client_secret_post: this is not built",
            code="oauth_client_method",
        )
    return Client(client_id, client_secret if chosen != "none" else "", chosen)


def _first_of(ours: Iterable[str], theirs: tuple[str, ...]) -> str | None:
    return next((each for each in ours if each in theirs), None)


def check_callback(pending: Pending, answer: CallbackAnswer) -> None:
    """Return where the browser came back from the issuer that it was sent to with a code;
    LoginRefused says why not (RFC 9207, F66).
    """
    if (answer.issuer or pending.names_issuer) and answer.issuer != pending.issuer:
        raise LoginRefused(
            f"the answer does not come from {shown_url(pending.issuer)}, where the login began: it "
            f"was dropped; begin again",
            code="oauth_wrong_issuer",
        )
    if answer.error:
        why = f": {said(answer.error_description)}" if answer.error_description else ""
        raise LoginRefused(
            f"{shown_url(pending.issuer)} refused the login ({said(answer.error)}{why}); begin "
            f"again once that is mended",
            code="oauth_login_refused",
        )
    if not answer.code or len(answer.code) > _LONGEST_TOKEN:
        raise LoginRefused("the answer holds no code: begin again", code="oauth_login_refused")


def code_form(pending: Pending, code: str) -> Form:
    """The request that turns a code into tokens."""
    fields = {
        "grant_type": "authorization_code",
        "code": code,
        "redirect_uri": pending.redirect_uri,
        "code_verifier": pending.verifier,
        "resource": pending.resource,
    }
    return _shown(pending.client, fields)


def refresh_form(client: Client, refresh_token: str, resource: str) -> Form:
    """The request for a new access token. It names no scopes: it gets those that were granted."""
    fields = {"grant_type": "refresh_token", "refresh_token": refresh_token, "resource": resource}
    return _shown(client, fields)


def revocation_form(client: Client, token: str, hint: str) -> Form:
    """The request that ends a token (RFC 7009)."""
    return _shown(client, {"token": token, "token_type_hint": hint})


def _shown(client: Client, fields: dict[str, str]) -> Form:
    if client.method == "client_secret_basic":
        # RFC 6749 section 2.3.1: both parts are form-encoded before they are joined.
        pair = f"{quote(client.client_id, safe='')}:{quote(client.client_secret, safe='')}"
        shown_as = f"Basic {base64.b64encode(pair.encode()).decode()}"
        return Form(fields, shown_as, client.client_secret)
    shown = {**fields, "client_id": client.client_id}
    if client.method == "client_secret_post":
        shown["client_secret"] = client.client_secret
    return Form(shown)


class _Granted(msgspec.Struct, frozen=True):
    access_token: str
    token_type: str = "Bearer"
    expires_in: float | str | None = None
    refresh_token: str | None = None
    scope: str | None = None


class _Failed(msgspec.Struct, frozen=True):
    error: str = ""
    error_description: str = ""


def read_tokens(status: int, body: bytes, issuer: str, form: Form) -> Tokens:
    """What a token endpoint answered. GrantRefused for `invalid_grant` alone; TokensUnavailable for
    all else that is no token, so that no other trouble costs an account (F13).
    """
    if status != 200:
        raise _failure(status, body, issuer, form)
    try:
        granted = msgspec.json.decode(body, type=_Granted)
        expires_in = None if granted.expires_in is None else float(granted.expires_in)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, ValueError):
        raise TokensUnavailable(
            f"{shown_url(issuer)} answered with no token that can be read; try again later"
        ) from None
    if granted.token_type.lower() != "bearer":
        raise TokensUnavailable(
            f"{shown_url(issuer)} gave a token that is no bearer token: this is not built"
        )
    for token in (granted.access_token, granted.refresh_token or ""):
        if len(token) > _LONGEST_TOKEN or not (token.isascii() and token.isprintable()):
            raise TokensUnavailable(f"{shown_url(issuer)} gave a token that no header can hold")
    if not granted.access_token:
        raise TokensUnavailable(f"{shown_url(issuer)} gave an empty token; try again later")
    # What says nothing takes nothing away, else the next answer could add anything (K-65).
    scopes = scopes_of(granted.scope or "") or None
    return Tokens(granted.access_token, expires_in, granted.refresh_token or "", scopes)


def _failure(status: int, body: bytes, issuer: str, form: Form) -> GrantRefused | TokensUnavailable:
    try:
        failed = msgspec.json.decode(body, type=_Failed)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        failed = _Failed()
    told = said(" ".join(each for each in (failed.error, failed.error_description) if each))
    for secret in filter(None, (*form.fields.values(), form.secret)):
        told = told.replace(secret, MASK)
    answer = f"{shown_url(issuer)} answered {status}" + (f" ({told})" if told else "")
    if status == 400 and failed.error == "invalid_grant":
        return GrantRefused(f"{answer}: what it gave before is good for nothing more")
    return TokensUnavailable(f"{answer} when asked for a token; the account stays as it is")


def approved(pending: Pending, tokens: Tokens) -> tuple[str, ...]:
    """The scopes that a person approved; LoginRefused where more was granted than asked (K-65)."""
    if tokens.scopes is None or not pending.scopes:
        return pending.scopes if tokens.scopes is None else tokens.scopes
    wider = sorted(set(tokens.scopes) - set(pending.scopes))
    if wider:
        raise LoginRefused(
            f"{shown_url(pending.issuer)} granted {', '.join(wider)[:_LONGEST_SAID]}, which was "
            f"not asked for: nothing was kept",
            code="oauth_scopes_widened",
        )
    return tokens.scopes


def said(text: str) -> str:
    """What a stranger said, in one short line without control characters."""
    line = "".join(each if each.isprintable() else " " for each in text[: 4 * _LONGEST_SAID])
    return " ".join(line.split())[:_LONGEST_SAID]
