"""Checks what is set for web tools, finds the reranker's key."""

from collections.abc import Mapping

from redshank_shared.domain.errors import Misconfigured
from redshank_shared.settings.environment import slot_variable
from redshank_shared.settings.secret import Secret
from redshank_shared.settings.sections import Rerank, Tools


def find_rerank_key(rerank: Rerank, environ: Mapping[str, str]) -> Secret:
    """What the variable of the reranker's slot says; empty where it has none."""
    if not rerank.api_key_slot:
        return Secret()
    return Secret(environ.get(slot_variable(rerank.api_key_slot), "").strip())


def check_web(tools: Tools, rerank: Rerank, where: str) -> None:
    """Misconfigured names an address that is none, a backend that there is not (T-31, T-32)."""
    for name, url in (("tools.searxng_url", tools.searxng_url), ("rerank.url", rerank.url)):
        if url and not url.startswith(("http://", "https://")):
            raise Misconfigured(
                f"{where}: {name} is {url!r}: write it with http:// or https://", field=name
            )
    backend = tools.web_search_backend
    if backend in ("", "searxng"):
        return
    kind, *rest = backend.split(":")
    if kind != "mcp" or len(rest) != 2 or not all(rest):
        raise Misconfigured(
            f'{where}: tools.web_search_backend is {backend!r}; it takes "searxng" or '
            '"mcp:server:tool"',
            field="tools.web_search_backend",
        )
