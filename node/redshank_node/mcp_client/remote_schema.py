"""Makes a remote tool's schema one that every provider takes (K-70, F67)."""

import re
from collections.abc import Mapping
from typing import Any

import msgspec

from redshank_node.mcp_client.harmless import bounded_text, harmless

MOST_FIELD_DESCRIPTION_CHARACTERS = 1024
_MOST_CHARACTERS = 65_536
_MOST_DEPTH = 24
_MOST_EXPANDED = 10_000
# Providers refuse a whole request in which one property is called otherwise.
_PROPERTY = re.compile(r"[a-zA-Z0-9_.-]{1,64}")
# None of these may stand at the top of what providers take.
_NOT_AT_THE_TOP = ("anyOf", "oneOf", "allOf", "not", "enum", "if", "then", "else", "const", "$ref")
# They name documents elsewhere, which nobody here or there may be led to.
_ELSEWHERE = ("$schema", "$id", "$anchor", "$dynamicRef", "$dynamicAnchor", "$vocabulary")


class Unusable(Exception):
    """A tool whose schema cannot be handed to a model. The message says why."""


def usable(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The schema as models are shown it: an object at the top, descriptions of at most 1,024
    characters, nothing that leads elsewhere. Unusable where that cannot be made of it: it is too
    deep, too large, refers to itself in a way that explodes, needs an argument that no provider
    takes.
    """
    made = _copied(schema, _MOST_DEPTH)
    if made.get("type", "object") != "object":
        raise Unusable(f"its input is of type {str(made['type'])[:40]}, it must be an object")
    kept = {key: value for key, value in made.items() if key not in _NOT_AT_THE_TOP}
    kept["type"] = "object"
    kept["properties"] = _properties(kept)
    _keep_required(kept)
    characters = len(msgspec.json.encode(kept))
    if characters > _MOST_CHARACTERS:
        raise Unusable(f"its schema takes {characters} bytes, at most {_MOST_CHARACTERS} are taken")
    _check_references(kept)
    return kept


def _keep_required(schema: dict[str, Any]) -> None:
    required = schema.pop("required", None)
    if not isinstance(required, list):
        return
    schema["required"] = [name for name in required if isinstance(name, str)]
    for name in schema["required"]:
        if not _PROPERTY.fullmatch(name):
            raise Unusable(f"it needs an argument {name[:80]!r}, a name that providers refuse")


def _properties(schema: Mapping[str, Any]) -> dict[str, Any]:
    properties = schema.get("properties", {})
    if not isinstance(properties, dict):
        raise Unusable("its properties are no table")
    return {
        name: value if isinstance(value, dict | bool) else {}
        for name, value in properties.items()
        if _PROPERTY.fullmatch(name)
    }


def _copied(value: Mapping[str, Any], depth: int) -> dict[str, Any]:
    copied = _copy(value, depth)
    if not isinstance(copied, dict):
        raise Unusable("its schema is no table")
    return copied


def _copy(value: Any, depth: int) -> Any:
    if depth <= 0:
        raise Unusable(f"its schema is deeper than {_MOST_DEPTH} levels")
    match value:
        case dict():
            return {
                harmless(str(key)): _described(key, item, depth - 1)
                for key, item in value.items()
                if key not in _ELSEWHERE and not _leads_away(key, item)
            }
        case list() | tuple():
            return [_copy(item, depth - 1) for item in value]
        case str():
            return harmless(value)
        case bool() | None:
            return value
        case int() | float():
            return value if abs(value) < 2**53 else 2**53
        case _:
            raise Unusable("its schema is no JSON")


def _described(key: Any, item: Any, depth: int) -> Any:
    if key in ("description", "title") and isinstance(item, str):
        return bounded_text(item, MOST_FIELD_DESCRIPTION_CHARACTERS)
    return _copy(item, depth)


def _leads_away(key: Any, item: Any) -> bool:
    return key == "$ref" and not (isinstance(item, str) and item.startswith("#"))


def _check_references(schema: dict[str, Any]) -> None:
    """Unusable where writing out its references would make a large schema of a small one."""
    sizes: dict[str, int] = {}

    def written_out(value: Any) -> int:
        if isinstance(value, dict):
            reference = value.get("$ref")
            size = 1 + sum(written_out(item) for item in value.values())
            return size + of(reference) if isinstance(reference, str) else size
        return 1 + sum(map(written_out, value)) if isinstance(value, list) else 1

    def of(reference: str) -> int:
        if reference not in sizes:
            # One that leads back to itself counts once: it is a tree's node, not a bomb.
            sizes[reference] = 1
            sizes[reference] = written_out(_target(schema, reference))
        return sizes[reference]

    try:
        size = written_out(schema)
    except RecursionError:
        raise Unusable("its schema's references are nested too deeply") from None
    if size > _MOST_EXPANDED:
        raise Unusable(f"its schema is {size} parts once references are written out")


def _target(schema: Any, reference: str) -> Any:
    found = schema
    for step in reference.removeprefix("#").split("/")[1:]:
        name = step.replace("~1", "/").replace("~0", "~")
        found = found.get(name) if isinstance(found, dict) else None
    return found
