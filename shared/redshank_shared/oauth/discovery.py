"""Finds out who gives tokens for an MCP server."""

import msgspec

from redshank_shared.domain.masking import shown_url
from redshank_shared.domain.oauth_addresses import checked_address, is_loopback, origin
from redshank_shared.domain.oauth_discovery import (
    AuthorizationServer,
    Challenge,
    ProtectedResource,
    issuer_metadata_urls,
    read_challenge,
    read_issuer,
    read_resource,
    resource_metadata_urls,
)
from redshank_shared.domain.oauth_failures import LoginRefused
from redshank_shared.oauth.requests import Requests

# Any request would do: what counts is how the server refuses it.
_GREETING = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "redshank", "version": "1"},
    },
}


class Discovered(msgspec.Struct, frozen=True):
    """A server's challenge, its metadata, those of the first authorization server that it names."""

    challenge: Challenge
    resource: ProtectedResource
    issuer: AuthorizationServer


async def discover(requests: Requests, url: str, resource: str) -> Discovered:
    """Who gives tokens for the server at `url`, which is `resource`, asked without a token.

    LoginRefused where it names none, or where it or the one it names is not what it says (F66);
    TokensUnavailable where one of them does not answer.
    """
    loopback = is_loopback(url)
    checked_address(url, "the server's url", loopback=loopback)
    answer = await requests.post_json(url, _GREETING)
    challenge = read_challenge(answer.challenge) if answer.status in (401, 403) else Challenge()
    found = await _resource(requests, url, resource, challenge)
    if found is None:
        # Servers of the specification of 2025-03-26 have no metadata: their own origin is the one.
        issuer = origin(url)
        return Discovered(
            challenge, ProtectedResource(resource), await _issuer(requests, issuer, loopback)
        )
    if not found.authorization_servers:
        raise LoginRefused(
            f"{shown_url(url)} names no authorization server: see in its documentation how it "
            f"wants to be signed in to",
            code="oauth_metadata",
        )
    issuer = found.authorization_servers[0]
    return Discovered(challenge, found, await _issuer(requests, issuer, loopback))


async def _resource(
    requests: Requests, url: str, resource: str, challenge: Challenge
) -> ProtectedResource | None:
    loopback = is_loopback(url)
    if challenge.resource_metadata:
        place = challenge.resource_metadata
        checked_address(place, "the address of the server's metadata", loopback=loopback)
        answer = await requests.get(place)
        if answer.status == 200:
            speaks_for = dict(resource_metadata_urls(url)).get(place, "")
            return read_resource(answer.body, resource, speaks_for)
    for place, speaks_for in resource_metadata_urls(url):
        answer = await requests.get(place)
        if answer.status == 200:
            return read_resource(answer.body, resource, speaks_for)
    return None


async def _issuer(requests: Requests, issuer: str, loopback: bool) -> AuthorizationServer:
    checked_address(issuer, "the authorization server", loopback=loopback)
    for place in issuer_metadata_urls(issuer):
        answer = await requests.get(place)
        if answer.status == 200:
            return read_issuer(answer.body, issuer, loopback=loopback)
    raise LoginRefused(
        f"{shown_url(issuer)} has no metadata at its well-known places: its operator must give it",
        code="oauth_metadata",
    )
