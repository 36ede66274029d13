"""Says what a node's web tools may reach, whom they ask, as it is set."""

from collections.abc import Awaitable, Callable

from redshank_node.engine.media_routes import media_routes
from redshank_node.tools.tool import SearchElsewhere, WebAccess
from redshank_shared.domain.errors import NotFound
from redshank_shared.settings.sections import Settings


def web_access(
    settings: Settings,
    secret_of: Callable[[str], Awaitable[str]],
    elsewhere: SearchElsewhere | None = None,
) -> WebAccess:
    """The access that these settings give; `secret_of` gives a slot's secret. The slot's variable
    stands in for the vault while it never had one.
    """
    slot = settings.rerank.api_key_slot

    async def find_key() -> str:
        try:
            return await secret_of(slot) if slot else ""
        except NotFound:
            if not settings.rerank_key:
                raise
            return settings.rerank_key.reveal()

    media = media_routes(settings, secret_of)
    return WebAccess(settings.tools, settings.rerank, find_key, media, elsewhere)
