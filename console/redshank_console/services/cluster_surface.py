"""Knows the tools that live nodes have."""

import logging

import msgspec

from redshank_shared.permissions.tool_card import ToolCard
from redshank_shared.stores.database import Database
from redshank_shared.stores.services import Services
from redshank_shared.wire.permission_views import SurfaceView, ToolCardView

logger = logging.getLogger(__name__)

ALIVE_SECONDS = 15.0
_decode = msgspec.json.Decoder(tuple[ToolCard, ...]).decode


class LiveTools(msgspec.Struct, frozen=True):
    """The cards of live nodes, each name once, in the order in which nodes list them."""

    cards: tuple[ToolCard, ...] = ()

    def named(self, name: str) -> ToolCard | None:
        """The tool of this name; before an alias counts a name of its own."""
        own = next((card for card in self.cards if name in (card.name, card.canonical)), None)
        return own or next((card for card in self.cards if name in card.aliases), None)

    def has(self, card: ToolCard) -> bool:
        """Whether a node has this tool, under whatever name."""
        return any(card.canonical == live.canonical for live in self.cards)

    def names(self) -> set[str]:
        """Every name of every tool."""
        return {name for card in self.cards for name in card.names}


class ClusterSurface:
    """What the registry says, asked each time: tools of MCP servers come and go (K-48)."""

    def __init__(self, database: Database, services: Services) -> None:
        self._database = database
        self._services = services

    async def live(self) -> LiveTools:
        """The tools of every node heard of within 15 s."""
        surfaces = await self._database.run(self._services.surfaces, ALIVE_SECONDS)
        cards: dict[str, ToolCard] = {}
        for surface in surfaces:
            for card in _decoded(surface):
                cards.setdefault(card.name, card)
        return LiveTools(tuple(cards.values()))

    async def view(self) -> SurfaceView:
        """The same as clients see it."""
        tools = [
            ToolCardView(
                name=card.name,
                canonical=card.canonical,
                aliases=list(card.aliases),
                effect=card.effect,
                plan=card.plan,
                parallel=card.parallel,
                server=card.server,
            )
            for card in (await self.live()).cards
        ]
        return SurfaceView(tools=tools)


def _decoded(surface: str) -> tuple[ToolCard, ...]:
    """A node of another version may say what this one cannot read: its tools are left out."""
    try:
        return _decode(surface)
    except msgspec.DecodeError as error:
        logger.warning("a node's tools cannot be read: %s", error)
        return ()
