"""Reads the pages of what a server lists; what cannot be used is dropped with a reason."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from typing import Any, TypeVar

import msgspec

from redshank_node.mcp_client.inventory import (
    Dropped,
    PromptArgument,
    RemotePrompt,
    RemoteResource,
    RemoteTool,
)

MOST_PAGES = 1000
MOST_ITEMS = 10_000
# Of all that is kept of one list, as JSON.
MOST_BYTES = 16 * 1024 * 1024
_SLICE = 50
_LONGEST_NAME = 1024
_LONGEST_TEXT = 65_536
_LARGEST_SCHEMA = 262_144
_DEEPEST_SCHEMA = 64
_MOST_DROPPED = 100

Item = TypeVar("Item")
# From a cursor to the page, as the server wrote it; None: the first.
Page = Callable[[str | None], Awaitable[dict[str, Any]]]


class Unusable(Exception):
    """An item that cannot be used; the message says why."""


class Listed(msgspec.Struct):
    """What was listed so far. `size`: of what is kept, in bytes; `stopped`: why it was not followed
    to its end, empty if it was.
    """

    items: list[Any] = []
    dropped: list[Dropped] = []
    stopped: str = ""
    size: int = 0


async def listed(page: Page, key: str, read: Callable[[dict[str, Any]], Any]) -> Listed:
    """All items of all pages, in order, each once where a page comes again.

    A page without items is not the end, a cursor that was seen before is one; so is the 1,000th
    page, the 10,000th item, the item with which all are 16 MiB (F67).
    """
    found = Listed()
    cursor: str | None = None
    seen: set[str] = set()
    for _ in range(MOST_PAGES):
        answer = await page(cursor)
        items = answer.get(key)
        await _read_all(items if isinstance(items, list) else [], read, found)
        following = answer.get("nextCursor")
        if len(found.items) >= MOST_ITEMS:
            found.stopped = f"lists more than {MOST_ITEMS} {key}: the rest is left out"
            return found
        if found.size >= MOST_BYTES:
            found.stopped = f"lists more than {MOST_BYTES} bytes of {key}: the rest is left out"
            return found
        if not isinstance(following, str):
            return found
        if following in seen or following == cursor:
            found.stopped = f"gave a cursor of {key} that it had given before: the listing ends"
            return found
        seen.add(following)
        cursor = following
    found.stopped = f"lists {key} on more than {MOST_PAGES} pages: the rest is left out"
    return found


async def _read_all(
    items: Iterable[Any], read: Callable[[dict[str, Any]], Any], found: Listed
) -> None:
    for number, item in enumerate(items):
        if number % _SLICE == _SLICE - 1:
            await asyncio.sleep(0)
        if len(found.items) >= MOST_ITEMS or found.size >= MOST_BYTES:
            return
        try:
            if not isinstance(item, dict):
                raise Unusable("it is no object")
            kept = read(item)
            found.items.append(kept)
            found.size += len(msgspec.json.encode(kept))
        except Unusable as error:
            if len(found.dropped) < _MOST_DROPPED:
                name = item.get("name") if isinstance(item, dict) else None
                found.dropped.append(Dropped(str(name or "?")[:_LONGEST_NAME], str(error)))


def tool_of(item: dict[str, Any]) -> RemoteTool:
    """A tool. Raises Unusable."""
    output = item.get("outputSchema")
    return RemoteTool(
        name=_name(item, "name"),
        description=_text(item, "description"),
        input_schema=_schema(item.get("inputSchema"), "inputSchema"),
        output_schema=None if output is None else _schema(output, "outputSchema"),
        title=_text(item, "title") or _text(item.get("annotations") or {}, "title"),
    )


def resource_of(item: dict[str, Any]) -> RemoteResource:
    """A resource. Raises Unusable."""
    return _resource(item, "uri")


def template_of(item: dict[str, Any]) -> RemoteResource:
    """A template of resources. Raises Unusable."""
    return msgspec.structs.replace(_resource(item, "uriTemplate"), is_template=True)


def prompt_of(item: dict[str, Any]) -> RemotePrompt:
    """A prompt. Raises Unusable."""
    arguments = item.get("arguments")
    return RemotePrompt(
        name=_name(item, "name"),
        description=_text(item, "description"),
        arguments=tuple(
            PromptArgument(
                name=_name(argument, "name"),
                description=_text(argument, "description"),
                required=argument.get("required") is True,
            )
            for argument in (arguments if isinstance(arguments, list) else [])
            if isinstance(argument, dict)
        ),
    )


def _resource(item: dict[str, Any], field: str) -> RemoteResource:
    return RemoteResource(
        uri=_name(item, field),
        name=_text(item, "name"),
        description=_text(item, "description"),
        media_type=_text(item, "mimeType"),
    )


def _name(item: dict[str, Any], field: str) -> str:
    value = item.get(field)
    if not isinstance(value, str) or not value:
        raise Unusable(f"it has no {field}")
    if len(value) > _LONGEST_NAME:
        raise Unusable(f"its {field} has more than {_LONGEST_NAME} characters")
    return value


def _text(item: Any, field: str) -> str:
    value = item.get(field) if isinstance(item, dict) else None
    return value[:_LONGEST_TEXT] if isinstance(value, str) else ""


def _schema(value: Any, field: str) -> dict[str, Any]:
    if not isinstance(value, dict) or value.get("type") != "object":
        raise Unusable(f'its {field} is no JSON schema of an object: "type" must be "object"')
    if not _is_flat(value):
        raise Unusable(f"its {field} is nested deeper than {_DEEPEST_SCHEMA}")
    if len(msgspec.json.encode(value)) > _LARGEST_SCHEMA:
        raise Unusable(f"its {field} has more than {_LARGEST_SCHEMA} bytes")
    return value


def _is_flat(value: Any) -> bool:
    level = [value]
    for _ in range(_DEEPEST_SCHEMA):
        level = [
            inner
            for outer in level
            if isinstance(outer, dict | list)
            for inner in (outer.values() if isinstance(outer, dict) else outer)
        ]
        if not level:
            return True
    return False
