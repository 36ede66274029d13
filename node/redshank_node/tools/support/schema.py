"""Checks the arguments of a call against its tool's JSON schema, strictly."""

import difflib
from collections.abc import Callable, Mapping
from typing import Any

from redshank_node.tools.tool import BadArguments

Schema = Mapping[str, Any]


def validated(arguments: Mapping[str, Any], schema: Schema) -> dict[str, Any]:
    """A copy of the arguments that the schema allows.

    Else BadArguments that names the argument and the mend.

    Knows type, properties, required, enum, items, minimum, maximum, minLength, maxLength, minItems,
    maxItems. A property that the schema does not name is refused; null stands for an optional
    argument left out.
    """
    return _object(arguments, schema, "")


def _object(value: Any, schema: Schema, name: str) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        raise BadArguments(f"{name or 'the arguments'} must be an object, not {_kind(value)}")
    properties: Mapping[str, Schema] = schema.get("properties", {})
    required = schema.get("required", ())
    dot = f"{name}." if name else ""
    for key in value:
        if key not in properties:
            raise BadArguments(_unknown(key, properties, dot))
    for key in required:
        if value.get(key) is None:
            raise BadArguments(f"{dot}{key} is required")
    return {
        key: _value(item, properties[key], f"{dot}{key}")
        for key, item in value.items()
        if item is not None
    }


def _unknown(key: str, properties: Mapping[str, Schema], dot: str) -> str:
    near = difflib.get_close_matches(key, list(properties), n=1)
    guess = f"; did you mean {dot}{near[0]}?" if near else "."
    return f"{dot}{key} is not an argument of this tool{guess} It takes: {', '.join(properties)}"


def _array(value: Any, schema: Schema, name: str) -> list[Any]:
    if not isinstance(value, list):
        raise BadArguments(f"{name} must be a list, not {_kind(value)}")
    if len(value) < schema.get("minItems", 0):
        raise BadArguments(f"{name} must have at least {schema['minItems']} item(s)")
    if "maxItems" in schema and len(value) > schema["maxItems"]:
        raise BadArguments(f"{name} must have at most {schema['maxItems']} items, not {len(value)}")
    return [
        _value(item, schema.get("items", {}), f"{name}[{place}]")
        for place, item in enumerate(value)
    ]


def _string(value: Any, schema: Schema, name: str) -> str:
    if not isinstance(value, str):
        raise BadArguments(f"{name} must be a string, not {_kind(value)}")
    if len(value) < schema.get("minLength", 0):
        raise BadArguments(f"{name} must not be empty")
    if "maxLength" in schema and len(value) > schema["maxLength"]:
        raise BadArguments(
            f"{name} must have at most {schema['maxLength']} characters, not {len(value)}"
        )
    return value


def _integer(value: Any, schema: Schema, name: str) -> int:
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if not isinstance(value, int) or isinstance(value, bool):
        raise BadArguments(f"{name} must be a whole number, not {_kind(value)}")
    _bounds(value, schema, name)
    return value


def _number(value: Any, schema: Schema, name: str) -> float:
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise BadArguments(f"{name} must be a number, not {_kind(value)}")
    _bounds(value, schema, name)
    return value


def _boolean(value: Any, schema: Schema, name: str) -> bool:
    if not isinstance(value, bool):
        raise BadArguments(f"{name} must be true or false, not {_kind(value)}")
    return value


def _bounds(value: float, schema: Schema, name: str) -> None:
    low, high = schema.get("minimum"), schema.get("maximum")
    if (low is None or value >= low) and (high is None or value <= high):
        return
    if low is None or high is None:
        wanted = f"at least {low}" if high is None else f"at most {high}"
    else:
        wanted = f"between {low} and {high}"
    raise BadArguments(f"{name} must be {wanted}, not {value}")


_CHECKS: Mapping[str, Callable[[Any, Schema, str], Any]] = {
    "object": _object,
    "array": _array,
    "string": _string,
    "integer": _integer,
    "number": _number,
    "boolean": _boolean,
}


def _value(value: Any, schema: Schema, name: str) -> Any:
    check = _CHECKS.get(schema.get("type", ""))
    checked = check(value, schema, name) if check is not None else value
    allowed = schema.get("enum")
    if allowed is not None and checked not in allowed:
        raise BadArguments(
            f"{name} must be one of {', '.join(map(str, allowed))}, not {str(value)[:80]}"
        )
    return checked


def _kind(value: Any) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "a boolean"
        case str():
            return "a string"
        case int() | float():
            return f"the number {value}"
        case list() | tuple():
            return "a list"
        case _:
            return "an object"
