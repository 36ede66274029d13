"""Decides which tools wait until a search finds them."""

from collections.abc import Sequence
from typing import Annotated, Literal

import msgspec

SearchMode = Literal["auto", "on", "off"]


class ToolSearch(msgspec.Struct, frozen=True):
    """When tools wait for a search. `auto`: where a surface has more than `threshold` tools in all;
    `on`: always; `max_results`: how many one search brings (T-60).
    """

    mode: SearchMode = "auto"
    threshold: int = 20
    max_results: int = 5


NO_SEARCH = ToolSearch("off")


class SearchChoice(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a profile says in its own place; None where it says nothing."""

    search: SearchMode | None = None
    search_threshold: Annotated[int, msgspec.Meta(ge=0)] | None = None
    search_max_results: Annotated[int, msgspec.Meta(ge=1, le=50)] | None = None


def chosen(usual: ToolSearch, choice: SearchChoice) -> ToolSearch:
    """What counts where a profile makes this choice."""
    mode, threshold, most = choice.search, choice.search_threshold, choice.search_max_results
    return ToolSearch(
        usual.mode if mode is None else mode,
        usual.threshold if threshold is None else threshold,
        usual.max_results if most is None else most,
    )


class Sorted(msgspec.Struct, frozen=True):
    """A surface's tools by name: `shown` from the start, `waiting` until found, `searched`: whether
    there is anything to search with.
    """

    shown: tuple[str, ...]
    waiting: tuple[str, ...] = ()
    searched: bool = False


def sorted_out(
    search: ToolSearch, tools: Sequence[str], remote: Sequence[str], search_tool: str
) -> Sorted:
    """Which of a surface's tools wait (T-60, T-63). `remote`: those of MCP servers, the others are
    always shown; `search_tool`: the one that searches, empty where the surface has none: then
    nothing waits. It counts for nothing itself, is shown where it has something to find.
    """
    others = tuple(name for name in tools if name != search_tool)
    if not search_tool or search.mode == "off":
        return Sorted(others)
    many = search.mode == "on" or len(others) > search.threshold
    waiting = tuple(remote) if many else ()
    if not waiting and search.mode != "on":
        return Sorted(others)
    hidden = frozenset(waiting)
    return Sorted(tuple(name for name in tools if name not in hidden), waiting, searched=True)
