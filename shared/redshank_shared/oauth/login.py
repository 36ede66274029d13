"""A login from its beginning to an account, apart from where it is kept meanwhile."""

import msgspec

from redshank_shared.domain.oauth_account import Account, Client, ends_at
from redshank_shared.domain.oauth_addresses import is_loopback
from redshank_shared.domain.oauth_failures import LoginRefused
from redshank_shared.domain.oauth_flow import (
    CallbackAnswer,
    Pending,
    approved,
    authorization_url,
    check_callback,
    chosen_scopes,
    given_client,
    random_text,
)
from redshank_shared.oauth.discovery import Discovered, discover
from redshank_shared.oauth.requests import Requests
from redshank_shared.oauth.tokens import exchange, register, revoke


class LoginAsk(msgspec.Struct, frozen=True):
    """Which server is to be logged in to. `resource`: what it calls itself, its `url` mostly;
    `client_document`: the address of our own metadata document, empty where nobody could fetch it.
    """

    server: str
    url: str
    resource: str
    redirect_uri: str
    scopes: tuple[str, ...] = ()
    client_id: str = ""
    client_secret: str = ""
    client_document: str = ""
    browser: str = ""

    def __repr__(self) -> str:
        return f"LoginAsk({self.server!r})"


class Begun(msgspec.Struct, frozen=True):
    """A login with the address for the person's browser; both to be used once."""

    pending: Pending
    authorization_url: str


async def begin(requests: Requests, ask: LoginAsk, state: str, random_bytes: bytes) -> Begun:
    """Find out who gives the tokens, become a client there, make the address (K-71). No token is
    sent or asked for. Raises LoginRefused, TokensUnavailable. `random_bytes`: 32 or more.
    """
    found = await discover(requests, ask.url, ask.resource)
    scopes = chosen_scopes(
        ask.scopes,
        found.challenge.scopes,
        found.resource.scopes_supported,
        found.issuer.scopes_supported,
    )
    pending = Pending(
        server=ask.server,
        url=ask.url,
        resource=found.resource.resource,
        issuer=found.issuer.issuer,
        token_endpoint=found.issuer.token_endpoint,
        revocation_endpoint=found.issuer.revocation_endpoint,
        names_issuer=found.issuer.authorization_response_iss_parameter_supported,
        client=await _client(requests, ask, found, scopes),
        redirect_uri=ask.redirect_uri,
        verifier=random_text(random_bytes),
        scopes=scopes,
        browser=ask.browser,
    )
    return Begun(pending, authorization_url(found.issuer, pending, state))


async def complete(
    requests: Requests, pending: Pending, answer: CallbackAnswer, by: str, at: str, now: float
) -> Account:
    """The account that the browser's answer leads to. Raises LoginRefused, GrantRefused,
    TokensUnavailable. `at`: RFC 3339 UTC; `now`: seconds since the epoch.
    """
    check_callback(pending, answer)
    tokens = await exchange(requests, pending, answer.code)
    account = Account(
        url=pending.url,
        resource=pending.resource,
        issuer=pending.issuer,
        token_endpoint=pending.token_endpoint,
        client=pending.client,
        access_token=tokens.access_token,
        expires_at=ends_at(tokens, now),
        refresh_token=tokens.refresh_token,
        revocation_endpoint=pending.revocation_endpoint,
        logged_in_at=at,
        logged_in_by=by,
    )
    try:
        scopes = approved(pending, tokens)
    except LoginRefused:
        await revoke(requests, account)
        raise
    return msgspec.structs.replace(account, scopes=scopes)


async def _client(
    requests: Requests, ask: LoginAsk, found: Discovered, scopes: tuple[str, ...]
) -> Client:
    if ask.client_id:
        return given_client(ask.client_id, ask.client_secret, found.issuer)
    if ask.client_document and found.issuer.client_id_metadata_document_supported:
        return Client(ask.client_document)
    loopback = is_loopback(ask.redirect_uri)
    return await register(requests, found.issuer, ask.redirect_uri, scopes, loopback=loopback)
