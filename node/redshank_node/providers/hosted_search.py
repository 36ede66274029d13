"""Lets a provider of the responses wire look through tools by itself (T-61).

Tools that wait go along in a namespace for each server: the model reads what the namespace is for,
their own words once a search has loaded them. The items of a search go back with the conversation.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

SEARCH = {"type": "tool_search"}
CALL = "tool_search_call"
OUTPUT = "tool_search_output"


def namespaces(waiting: Iterable[tuple[str, dict[str, Any]]]) -> list[dict[str, Any]]:
    """The waiting functions, each given with its server, in a namespace for each."""
    by_server: dict[str, list[dict[str, Any]]] = {}
    for server, function in waiting:
        by_server.setdefault(server, []).append({**function, "defer_loading": True})
    return [
        {
            "type": "namespace",
            "name": server,
            "description": f"Tools of the MCP server {server}.",
            "tools": functions,
        }
        for server, functions in by_server.items()
    ]


def found_in(items: Iterable[Mapping[str, Any]]) -> tuple[str, ...]:
    """The names of the functions that these searches have loaded."""
    loaded = (each for item in items if item.get("type") == OUTPUT for each in _functions(item))
    names = (function.get("name") for function in loaded)
    return tuple(name for name in names if isinstance(name, str))


def answered(items: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The items without what an end cut off: a search without its output, thinking that leads to
    nothing.
    """
    kept = [
        item
        for place, item in enumerate(items)
        if item.get("type") != CALL or _type_at(items, place + 1) == OUTPUT
    ]
    while kept and kept[-1].get("type") == "reasoning":
        kept.pop()
    return kept


def replayed(items: Sequence[dict[str, Any]], offered: Collection[str]) -> Iterator[dict[str, Any]]:
    """The items as they may go back where these tools are offered with the search: an output loads
    no tool that has vanished. Without any, searches are left out with the thinking that led there.
    """
    for place, item in enumerate(items):
        kind = item.get("type")
        if kind == OUTPUT and offered:
            yield {**item, "tools": list(_narrowed(item.get("tools"), offered))}
        elif offered or not _is_of_search(items, place):
            yield item


def _is_of_search(items: Sequence[dict[str, Any]], place: int) -> bool:
    kind = items[place].get("type")
    return kind in (CALL, OUTPUT) or (kind == "reasoning" and _type_at(items, place + 1) == CALL)


def _type_at(items: Sequence[dict[str, Any]], place: int) -> object:
    return items[place].get("type") if place < len(items) else None


def _functions(holder: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """The functions of an output, those inside its namespaces too."""
    tools = holder.get("tools")
    for tool in tools if isinstance(tools, list) else ():
        if isinstance(tool, Mapping) and tool.get("type") == "namespace":
            yield from _functions(tool)
        elif isinstance(tool, Mapping):
            yield tool


def _narrowed(tools: Any, offered: Collection[str]) -> Iterator[dict[str, Any]]:
    for tool in tools if isinstance(tools, list) else ():
        if not isinstance(tool, dict):
            continue
        if tool.get("type") != "namespace":
            if tool.get("name") in offered:
                yield tool
        elif inner := list(_narrowed(tool.get("tools"), offered)):
            yield {**tool, "tools": inner}
