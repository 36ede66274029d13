"""The tools that searches have found for a workstream, folded from its facts.

Each by its name, in the order found; True while a provider's own blocks show it.
"""

from collections.abc import Iterable, Mapping

from redshank_shared.domain.tool_events import ToolsFound

_MOST_FOUND = 500


def with_found(known: Mapping[str, bool], fact: ToolsFound) -> dict[str, bool]:
    """The found tools with these further ones; of very many those found last. What the workstream's
    own search has found needs no provider's blocks any more.
    """
    after = dict(known)
    for name in fact.names:
        after[name] = fact.by_provider and after.get(name, True)
    for name in list(after)[:-_MOST_FOUND]:
        del after[name]
    return after


def without_blocks(known: Mapping[str, bool]) -> dict[str, bool]:
    """The found tools once a summary stands in place of the blocks that showed them."""
    return dict.fromkeys(known, False)


def newly_found(known: Mapping[str, bool], names: Iterable[str]) -> tuple[str, ...]:
    """Those of the names that no search of the workstream's own has found before."""
    return tuple(name for name in dict.fromkeys(names) if known.get(name, True))
