"""Checks the arguments of a remote tool against what its server asks for, as far as that is sure.

The server judges in the end: here only what is plainly wrong is refused, at once and in words that
a model can act on. No pattern of a stranger is ever run, no reference followed.
"""

from collections.abc import Mapping
from typing import Any

from redshank_node.tools.tool import BadArguments

_MOST_DEPTH = 12
# The protocol's library writes some 250, and breaks down over more.
_MOST_LEVELS = 100
_MOST_SHOWN = 20
_TYPES: Mapping[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "null": (type(None),),
}


def checked(arguments: Mapping[str, Any], schema: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments as they go to the server: null for an optional one that takes no null is left
    out. BadArguments names the argument, with the mend.
    """
    _check_levels(arguments)
    made = _object(dict(arguments), schema, "", _MOST_DEPTH)
    assert isinstance(made, dict)
    return made


def _check_levels(arguments: Mapping[str, Any]) -> None:
    level: list[Any] = [arguments]
    for _ in range(_MOST_LEVELS):
        level = [
            inner
            for outer in level
            for inner in (outer.values() if isinstance(outer, Mapping) else outer)
            if isinstance(inner, dict | list)
        ]
        if not level:
            return
    raise BadArguments(f"the arguments are nested deeper than {_MOST_LEVELS} levels")


def _value(value: Any, schema: Any, name: str, depth: int) -> Any:
    if not isinstance(schema, Mapping) or depth <= 0:
        return value
    types = _types(schema)
    if types and not any(_is(value, each) for each in types):
        raise BadArguments(f"{name} must be {' or '.join(types)}, not {_kind(value)}")
    allowed = schema.get("enum")
    if isinstance(allowed, list) and value not in allowed:
        shown = ", ".join(str(each)[:80] for each in allowed[:_MOST_SHOWN])
        raise BadArguments(f"{name} must be one of {shown}, not {str(value)[:80]}")
    if isinstance(value, dict):
        return _object(value, schema, name, depth)
    if isinstance(value, list):
        return [
            _value(item, schema.get("items"), f"{name}[{place}]", depth - 1)
            for place, item in enumerate(value)
        ]
    return value


def _object(value: dict[str, Any], schema: Mapping[str, Any], name: str, depth: int) -> Any:
    properties = schema.get("properties")
    known = properties if isinstance(properties, Mapping) else {}
    needed = schema.get("required")
    named = needed if isinstance(needed, list) else []
    required = [each for each in named if isinstance(each, str)]
    dot = f"{name}." if name else ""
    for key in required:
        if key not in value:
            raise BadArguments(f"{dot}{key} is required")
    if schema.get("additionalProperties") is False:
        for key in value:
            if key not in known:
                takes = ", ".join([*known][:_MOST_SHOWN]) or "nothing"
                raise BadArguments(f"{dot}{key} is not an argument of this tool. It takes: {takes}")
    return {
        key: _value(item, known.get(key), f"{dot}{key}", depth - 1)
        for key, item in value.items()
        if item is not None or key in required or _takes_null(known.get(key))
    }


def _types(schema: Mapping[str, Any]) -> tuple[str, ...]:
    """The types that it names; none where one of them is unknown, so that nothing is refused."""
    said = schema.get("type")
    named = said if isinstance(said, list) else [said]
    known = tuple(each for each in named if isinstance(each, str) and each in _TYPES)
    return known if len(known) == len(named) else ()


def _takes_null(schema: Any) -> bool:
    types = _types(schema) if isinstance(schema, Mapping) else ()
    return not types or "null" in types


def _is(value: Any, kind: str) -> bool:
    if isinstance(value, bool):
        return kind == "boolean"
    if kind == "integer" and isinstance(value, float):
        return value.is_integer()
    return isinstance(value, _TYPES[kind])


def _kind(value: Any) -> str:
    return next((name for name in _TYPES if _is(value, name)), "something else")
