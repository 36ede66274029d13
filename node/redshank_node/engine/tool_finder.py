"""Looks through the tools of one turn that wait to be found."""

import asyncio
from collections import Counter
from collections.abc import Callable, Sequence

from redshank_node.engine.calls import Pipeline
from redshank_node.engine.surface import Surfaces
from redshank_node.tools.support.web.rerank import best_first
from redshank_node.tools.tool import Away, Finding, WebAccess
from redshank_shared.domain.delegation import Boundary
from redshank_shared.domain.messages import ToolDescription
from redshank_shared.domain.scopes import server_visible
from redshank_shared.permissions.tool_card import server_of

# Of these the reranker chooses.
_MOST_RANKED = 40


def nobody_away() -> tuple[Away, ...]:
    """What a node without servers says."""
    return ()


def finder_of(
    pipeline: Pipeline, boundary: Boundary, away: Callable[[], tuple[Away, ...]] = nobody_away
) -> "TurnTools":
    """What a turn of this boundary looks through."""
    most = pipeline.toolbox.manner.search.max_results
    return TurnTools(pipeline.surfaces, boundary, most, away, pipeline.workspace.web)


class TurnTools:
    """`away`: the servers whose tools cannot be had at the moment; `web`: which reranker has the
    last word on what was found, where one is to.
    """

    def __init__(
        self,
        surfaces: Surfaces,
        boundary: Boundary,
        most: int,
        away: Callable[[], tuple[Away, ...]] = nobody_away,
        web: WebAccess = WebAccess(),  # noqa: B008 - a frozen struct
    ) -> None:
        self._surfaces = surfaces
        self._boundary = boundary
        self._most = most
        self._away = away
        self._web = web

    async def find(self, query: str) -> Finding:
        """Those that fit best, at most as many as the operator lets one search bring (T-60)."""
        inside = self._surfaces.inside(self._boundary)
        # Thousands of tools take longer to be indexed than other turns may be held up.
        most = max(self._most, _MOST_RANKED) if self._reranks() else self._most
        names = await asyncio.to_thread(lambda: inside.index().search(query, most))
        found = inside.of(names)
        if self._reranks():
            found = await self._reranked(query, found)
        return Finding(
            tools=found,
            searched=dict(Counter(server_of(name) for name in inside.sorted.waiting)),
            away=tuple(away for away in self._away() if self._shows(away.server)),
        )

    def _reranks(self) -> bool:
        return self._web.rerank.tool_search and bool(self._web.rerank.url)

    async def _reranked(
        self, query: str, found: Sequence[ToolDescription]
    ) -> tuple[ToolDescription, ...]:
        """The best by the reranker (T-32); a tool that the query names stays where it is."""
        named = [tool for tool in found[:1] if tool.name == query.strip()]
        others = found[len(named) :]
        texts = [f"{tool.name}\n{tool.description}" for tool in others]
        places = await best_first(self._web, query, texts)
        return tuple([*named, *(others[place] for place in places)][: self._most])

    def _shows(self, server: str) -> bool:
        """What the scope hides is absent, with all that is said of it (K-72)."""
        return server_visible(self._boundary.capability, server)
