"""Looks through the tools of one turn that wait to be found."""

import asyncio
from collections import Counter
from collections.abc import Callable

from redshank_node.engine.calls import Pipeline
from redshank_node.engine.surface import Surfaces
from redshank_node.tools.tool import Away, Finding
from redshank_shared.domain.delegation import Boundary
from redshank_shared.domain.scopes import server_visible
from redshank_shared.permissions.tool_card import server_of


def nobody_away() -> tuple[Away, ...]:
    """What a node without servers says."""
    return ()


def finder_of(
    pipeline: Pipeline, boundary: Boundary, away: Callable[[], tuple[Away, ...]] = nobody_away
) -> "TurnTools":
    """What a turn of this boundary looks through."""
    most = pipeline.toolbox.manner.search.max_results
    return TurnTools(pipeline.surfaces, boundary, most, away)


class TurnTools:
    """`away`: the servers whose tools cannot be had at the moment."""

    def __init__(
        self,
        surfaces: Surfaces,
        boundary: Boundary,
        most: int,
        away: Callable[[], tuple[Away, ...]] = nobody_away,
    ) -> None:
        self._surfaces = surfaces
        self._boundary = boundary
        self._most = most
        self._away = away

    async def find(self, query: str) -> Finding:
        """Those that fit best, at most as many as the operator lets one search bring (T-60)."""
        inside = self._surfaces.inside(self._boundary)
        # Thousands of tools take longer to be indexed than other turns may be held up.
        names = await asyncio.to_thread(lambda: inside.index().search(query, self._most))
        return Finding(
            tools=inside.of(names),
            searched=dict(Counter(server_of(name) for name in inside.sorted.waiting)),
            away=tuple(away for away in self._away() if self._shows(away.server)),
        )

    def _shows(self, server: str) -> bool:
        """What the scope hides is absent, with all that is said of it (K-72)."""
        return server_visible(self._boundary.capability, server)
