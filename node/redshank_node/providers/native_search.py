"""Lets a provider of the anthropic wire look through tools by itself (T-61).

Tools that wait go along marked, so that the model reads none of them until a search finds it. The
blocks of a search go back with the conversation: they show the model the tools that it found.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

SEARCH = {"type": "tool_search_tool_bm25_20251119", "name": "tool_search_tool_bm25"}
BETA = "advanced-tool-use-2025-11-20"
RESULT = "tool_search_tool_result"


def is_search(block: Mapping[str, Any]) -> bool:
    """Whether this block is the beginning of such a search."""
    name = block.get("name")
    is_use = block.get("type") == "server_tool_use"
    return is_use and isinstance(name, str) and name.startswith("tool_search_tool")


def found_in(blocks: Iterable[Mapping[str, Any]]) -> tuple[str, ...]:
    """The names of the tools that these results show."""
    references = (each for block in blocks for each in _references(block))
    names = (reference.get("tool_name") for reference in references)
    return tuple(name for name in names if isinstance(name, str))


def answered(blocks: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The blocks without searches that have no result, as where an answer was cut off: a provider
    refuses a history with them.
    """
    done = {block.get("tool_use_id") for block in blocks if block.get("type") == RESULT}
    return [block for block in blocks if not is_search(block) or block.get("id") in done]


def replayed(
    blocks: Iterable[dict[str, Any]], offered: Collection[str]
) -> Iterator[dict[str, Any]]:
    """The blocks as they may go back where these tools are offered with the search: a result shows
    no tool that has vanished. Without any the searches are left out.
    """
    for block in blocks:
        if block.get("type") == RESULT and offered:
            yield _narrowed(block, offered)
        elif block.get("type") != RESULT and (offered or not is_search(block)):
            yield block


def _narrowed(block: dict[str, Any], offered: Collection[str]) -> dict[str, Any]:
    found = _references(block)
    if not found:
        return block
    there = [reference for reference in found if reference.get("tool_name") in offered]
    return {**block, "content": {**block["content"], "tool_references": there}}


def _references(block: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    content = block.get("content") if block.get("type") == RESULT else None
    found = content.get("tool_references") if isinstance(content, Mapping) else None
    if not isinstance(found, list):
        return []
    return [reference for reference in found if isinstance(reference, Mapping)]
