"""Asks authorization servers: for a client, for tokens, for their end."""

from redshank_shared.domain.masking import shown_url
from redshank_shared.domain.oauth_account import Account, Client, Tokens
from redshank_shared.domain.oauth_discovery import AuthorizationServer
from redshank_shared.domain.oauth_failures import LoginRefused, TokensUnavailable
from redshank_shared.domain.oauth_flow import (
    Pending,
    code_form,
    read_registration,
    read_tokens,
    refresh_form,
    registration,
    revocation_form,
    said,
)
from redshank_shared.oauth.requests import Requests


async def register(
    requests: Requests,
    server: AuthorizationServer,
    redirect_uri: str,
    scopes: tuple[str, ...],
    *,
    loopback: bool,
) -> Client:
    """A client of our own at this server; LoginRefused where it makes none."""
    if not server.registration_endpoint:
        raise LoginRefused(
            f"{shown_url(server.issuer)} registers no clients: have its operator make one, then "
            f"give it with --client-id",
            code="oauth_registration",
        )
    body = registration(server, redirect_uri, scopes, loopback=loopback)
    answer = await requests.post_json(server.registration_endpoint, body)
    if answer.status not in (200, 201):
        told = said(answer.body.decode("utf-8", "replace"))
        raise LoginRefused(
            f"{shown_url(server.issuer)} answered {answer.status} to the registration ({told}): "
            f"have its operator make a client, then give it with --client-id",
            code="oauth_registration",
        )
    return read_registration(answer.body, server)


async def exchange(requests: Requests, pending: Pending, code: str) -> Tokens:
    """The tokens for a code. Raises GrantRefused, TokensUnavailable."""
    form = code_form(pending, code)
    answer = await requests.post_form(pending.token_endpoint, form)
    return read_tokens(answer.status, answer.body, pending.issuer, form)


async def refresh(requests: Requests, account: Account) -> Tokens:
    """New tokens for an account. Raises GrantRefused, TokensUnavailable."""
    form = refresh_form(account.client, account.refresh_token, account.resource)
    answer = await requests.post_form(account.token_endpoint, form)
    return read_tokens(answer.status, answer.body, account.issuer, form)


async def revoke(requests: Requests, account: Account) -> bool:
    """End an account's tokens at its server; whether all went, False where it takes no revocation
    or did not answer.
    """
    if not account.revocation_endpoint:
        return False
    tokens = (("refresh_token", account.refresh_token), ("access_token", account.access_token))
    ended = True
    for hint, token in tokens:
        if not token:
            continue
        form = revocation_form(account.client, token, hint)
        try:
            answer = await requests.post_form(account.revocation_endpoint, form)
        except TokensUnavailable:
            return False
        ended = ended and answer.status == 200
    return ended
