"""An MCP server's fields with all that may be secret masked (K-62)."""

from collections.abc import Mapping
from typing import Any

from redshank_shared.domain.masking import MASK, shown_arguments, shown_url

_VALUES_ARE_SECRET = ("env", "headers")


def shown(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Values of `env`, `headers` masked, sensitive parts of `args`, `url` too. Names of slots, of
    variables stay: they say where a secret is, not what.
    """
    public = dict(fields)
    for name in _VALUES_ARE_SECRET:
        public[name] = dict.fromkeys(public.get(name, {}), MASK)
    public["args"] = list(shown_arguments(public.get("args", ())))
    for name in ("url", "oauth_resource"):
        if public.get(name):
            public[name] = shown_url(public[name])
    return public
