"""Reads what a protected MCP server, or its authorization server, says of itself."""

import re
from collections.abc import Iterable
from typing import TypeVar
from urllib.parse import urlsplit

import msgspec

from redshank_shared.domain.masking import shown_url
from redshank_shared.domain.oauth_addresses import canonical, checked_address, lies_within, origin
from redshank_shared.domain.oauth_failures import LoginRefused

RESOURCE_PLACE = "/.well-known/oauth-protected-resource"
ISSUER_PLACE = "/.well-known/oauth-authorization-server"
OPENID_PLACE = "/.well-known/openid-configuration"

_PARAMETER = re.compile(r'([A-Za-z0-9_-]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s,"]+))')
_LONGEST_HEADER = 8192
_MOST_SCOPES = 100
_SCOPE = re.compile(r"[\x21\x23-\x5b\x5d-\x7e]{1,256}")

Document = TypeVar("Document")


class Challenge(msgspec.Struct, frozen=True):
    """What a server says when it refuses a request (RFC 6750, RFC 9728)."""

    error: str = ""
    scopes: tuple[str, ...] = ()
    resource_metadata: str = ""


class ProtectedResource(msgspec.Struct, frozen=True):
    """A server's own metadata (RFC 9728)."""

    resource: str
    authorization_servers: tuple[str, ...] = ()
    scopes_supported: tuple[str, ...] = ()


class AuthorizationServer(msgspec.Struct, frozen=True):
    """An authorization server's metadata (RFC 8414, OpenID Connect Discovery)."""

    issuer: str
    authorization_endpoint: str
    token_endpoint: str
    registration_endpoint: str = ""
    revocation_endpoint: str = ""
    scopes_supported: tuple[str, ...] = ()
    code_challenge_methods_supported: tuple[str, ...] = ()
    token_endpoint_auth_methods_supported: tuple[str, ...] = ("client_secret_basic",)
    authorization_response_iss_parameter_supported: bool = False
    client_id_metadata_document_supported: bool = False


def read_challenge(header: str) -> Challenge:
    """The Bearer challenge of a WWW-Authenticate header; what it does not say is empty."""
    _, bearer, parameters = header[:_LONGEST_HEADER].partition("Bearer")
    if not bearer:
        return Challenge()
    found: dict[str, str] = {}
    for match in _PARAMETER.finditer(parameters):
        name, quoted, plain = match.groups()
        value = plain if quoted is None else re.sub(r"\\(.)", r"\1", quoted)
        found.setdefault(name.lower(), value)
    return Challenge(
        found.get("error", "")[:64],
        scopes_of(found.get("scope", "")),
        found.get("resource_metadata", ""),
    )


def scopes_of(text: str) -> tuple[str, ...]:
    """The scopes of a list with spaces between, each once; what can be no scope is left out."""
    known = dict.fromkeys(each for each in text.split() if _SCOPE.fullmatch(each))
    return tuple(known)[:_MOST_SCOPES]


def resource_metadata_urls(server_url: str) -> tuple[tuple[str, str], ...]:
    """Where a server's metadata is looked for, each with the resource that it then speaks for: the
    server's path first, its root after (RFC 9728 section 3.1).
    """
    root, path = origin(server_url), urlsplit(server_url).path.rstrip("/")
    places = [(f"{root}{RESOURCE_PLACE}{path}", f"{root}{path}")] if path else []
    return (*places, (f"{root}{RESOURCE_PLACE}", root))


def issuer_metadata_urls(issuer: str) -> tuple[str, ...]:
    """Where an issuer's metadata is looked for, in the order that MCP gives."""
    root, path = origin(issuer), urlsplit(issuer).path.rstrip("/")
    if not path:
        return (f"{root}{ISSUER_PLACE}", f"{root}{OPENID_PLACE}")
    return (
        f"{root}{ISSUER_PLACE}{path}",
        f"{root}{OPENID_PLACE}{path}",
        f"{root}{path}{OPENID_PLACE}",
    )


def read_resource(body: bytes, expected: str, speaks_for: str = "") -> ProtectedResource:
    """A server's metadata, for the resource that is `expected`; LoginRefused for another, since its
    tokens would be good elsewhere (F66).

    `speaks_for`: the resource from whose well-known place it came. That one may name itself where
    the server lies below it; a document from anywhere else may not.
    """
    document = _decoded(body, ProtectedResource, "the server's metadata")
    same = canonical(document.resource) == canonical(expected)
    own = bool(speaks_for) and canonical(document.resource) == canonical(speaks_for)
    if not same and not (own and lies_within(expected, document.resource)):
        named = shown_url(document.resource)[:200]
        raise LoginRefused(
            f"the server says that it is {named}, not {shown_url(expected)}: no token is asked "
            f"for; if that is right, set oauth_resource to it",
            code="oauth_wrong_resource",
            field="oauth_resource",
        )
    return msgspec.structs.replace(document, scopes_supported=_clean(document.scopes_supported))


def read_issuer(body: bytes, issuer: str, *, loopback: bool) -> AuthorizationServer:
    """An authorization server's metadata; LoginRefused where it is not the issuer that was asked,
    byte for byte (RFC 8414 section 3.3), where an address of it cannot be used, or where it does
    not take PKCE with S256.
    """
    document = _decoded(body, AuthorizationServer, "the authorization server's metadata")
    if document.issuer != issuer:
        named = shown_url(document.issuer)[:200]
        raise LoginRefused(
            f"the metadata of {shown_url(issuer)} is of the issuer {named}: no token is asked for; "
            f"its operator must mend one of the two",
            code="oauth_wrong_issuer",
        )
    for name in _ADDRESSES:
        address = getattr(document, name)
        if address or name in _NEEDED:
            checked_address(address, f"the authorization server's {name}", loopback=loopback)
    if "S256" not in document.code_challenge_methods_supported:
        raise LoginRefused(
            f"{shown_url(issuer)} does not say that it takes PKCE with S256, without which a code "
            f"could be stolen: its operator must turn it on",
            code="oauth_without_pkce",
        )
    return msgspec.structs.replace(document, scopes_supported=_clean(document.scopes_supported))


_NEEDED = ("authorization_endpoint", "token_endpoint")
_ADDRESSES = (*_NEEDED, "registration_endpoint", "revocation_endpoint")


def _clean(scopes: Iterable[str]) -> tuple[str, ...]:
    return scopes_of(" ".join(scopes))


def _decoded(body: bytes, kind: type[Document], what: str) -> Document:
    try:
        said = msgspec.json.decode(body)
        # Some write null for what they do not have.
        kept = {name: value for name, value in said.items() if value is not None}
        return msgspec.convert(kept, kind)
    except (msgspec.DecodeError, UnicodeDecodeError, AttributeError, RecursionError) as error:
        raise LoginRefused(
            f"{what} cannot be read: {str(error)[:200]}", code="oauth_metadata"
        ) from None
