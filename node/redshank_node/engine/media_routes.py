"""Says which configured models make images or sound, with what keys."""

from collections.abc import Awaitable, Callable

from redshank_node.engine.toolsets import capabilities
from redshank_node.tools.tool import MediaRoute
from redshank_shared.domain.errors import NotFound
from redshank_shared.settings.sections import Model, Settings

_OPENAI = "https://api.openai.com/v1"


def media_routes(
    settings: Settings, secret_of: Callable[[str], Awaitable[str]]
) -> tuple[MediaRoute, ...]:
    """The routes in the order of the settings; `secret_of` gives a slot's secret (K-16, K-17)."""
    routes = []
    for model in settings.models:
        can = capabilities((model,)) - {"always"}
        if can:
            routes.append(
                MediaRoute(
                    name=model.name,
                    backend=model.provider,
                    model=model.model or model.name,
                    base_url=model.base_url or _OPENAI,
                    can=can,
                    find_key=_finding(model, secret_of),
                    timeout_seconds=model.timeout_seconds,
                )
            )
    return tuple(routes)


def _finding(
    model: Model, secret_of: Callable[[str], Awaitable[str]]
) -> Callable[[], Awaitable[str]]:
    """The vault's key; the slot's variable stands in for it while the vault never had one."""

    async def find_key() -> str:
        if not model.api_key_slot or model.api_key_env:
            return model.api_key.reveal()
        try:
            return await secret_of(model.api_key_slot)
        except NotFound:
            if not model.api_key:
                raise
            return model.api_key.reveal()

    return find_key
