"""Finds which console a command speaks to, with which token."""

from collections.abc import Mapping

import msgspec

from redshank_console.cli.contexts import contexts_path, pick, read_contexts, token_of
from redshank_shared.domain.errors import Invalid

USUAL_URL = "http://127.0.0.1:8090"


class Target(msgspec.Struct, frozen=True):
    """A console and the token for it, empty if none is known."""

    url: str
    token: str


def find_target(url: str, token: str, context: str, environ: Mapping[str, str]) -> Target:
    """Options over REDSHANK_URL and REDSHANK_TOKEN over the named or current context.

    A context's token goes to its own address only. Invalid where an address has no scheme.
    """
    url = _checked(url or environ.get("REDSHANK_URL", ""))
    token = token or environ.get("REDSHANK_TOKEN", "")
    if url and token:
        return Target(url, token)
    path = contexts_path(environ)
    named = pick(read_contexts(path), context or environ.get("REDSHANK_CONTEXT", ""), path)
    if named is None:
        return Target(url or USUAL_URL, token)
    if url and url.rstrip("/") != named.url.rstrip("/"):
        return Target(url, token)
    return Target(named.url, token or token_of(named))


def _checked(url: str) -> str:
    if url and not url.startswith(("http://", "https://")):
        raise Invalid(
            f"a console's address begins with http:// or https://: write http://{url}", field="url"
        )
    return url
