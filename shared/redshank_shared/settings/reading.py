"""Turns what a file or the environment says into sections, naming what is wrong."""

import difflib
from collections.abc import Iterable, Mapping
from typing import Any, get_origin

import msgspec

from redshank_shared.domain.errors import Misconfigured
from redshank_shared.domain.events import Decision
from redshank_shared.settings.sections import (
    BashSeconds,
    Count,
    Model,
    NotNegative,
    Port,
    Seconds,
    Share,
)

# A model's name is its table's; its key never stands in a file.
_NOT_IN_A_FILE = ("name", "api_key")
_TAKES = {
    Port: "a whole number from 1 to 65535",
    BashSeconds: "a whole number from 1 to 600",
    Count: "a whole number above 0",
    Seconds: "a number of seconds above 0",
    Share: "a number from 0 to 1",
    NotNegative: "a whole number from 0",
    int: "a whole number",
    bool: "true or false",
    bool | None: "true or false",
    dict[str, Decision]: 'a table of "allow", "ask", "deny" by tools',
    str: "a text",
}


def section_from(
    kind: type[msgspec.Struct], table: Mapping[str, Any], where: str, dotted: str
) -> msgspec.Struct:
    """A section of these values; Misconfigured names the key that is unknown or of another type."""
    values: dict[str, Any] = {}
    for key, value in table.items():
        takes = type_of(kind, key, where, f"{dotted}.{key}")
        if isinstance(value, dict) and _is_section(takes):
            values[key] = section_from(takes, value, f"{where} {key}", f"{dotted}.{key}")
            continue
        try:
            values[key] = msgspec.convert(value, takes)
        except msgspec.ValidationError as error:
            raise _wrong(f"{where} {key}", value, takes, f"{dotted}.{key}") from error
    return kind(**values)


def type_of(kind: type[msgspec.Struct], key: str, where: str, dotted: str) -> Any:
    """What a section's key takes; Misconfigured with the nearest key if there is none."""
    types = {
        field.name: field.type
        for field in msgspec.structs.fields(kind)
        if kind is not Model or field.name not in _NOT_IN_A_FILE
    }
    if key not in types:
        raise Misconfigured(f"{where} has no key {key}{nearest(key, types)}", field=dotted)
    return types[key]


def value_from(takes: Any, text: str, variable: str) -> Any:
    """The value that an environment variable's text stands for."""
    if _is_section(takes) or get_origin(takes) is dict:
        try:
            return msgspec.json.decode(text.encode(), type=dict[str, Any])
        except msgspec.DecodeError as error:
            raise Misconfigured(f"{variable} must be a JSON object", field=variable) from error
    try:
        return msgspec.convert(text, takes, strict=False)
    except msgspec.ValidationError as error:
        raise _wrong(variable, text, takes, variable) from error


def nearest(name: str, known: Iterable[str]) -> str:
    """The end of an error's sentence: the known name that was probably meant, else all of them."""
    near = difflib.get_close_matches(name, list(known), n=1, cutoff=0.5)
    return f"; did you mean {near[0]}?" if near else f"; there are {', '.join(sorted(known))}"


def _is_section(takes: Any) -> bool:
    return isinstance(takes, type) and issubclass(takes, msgspec.Struct)


def _wrong(what: str, value: object, takes: Any, dotted: str) -> Misconfigured:
    words = _TAKES.get(takes) or " or ".join(f'"{word}"' for word in getattr(takes, "__args__", ()))
    return Misconfigured(f"{what} is {value!r}; it takes {words or 'a table'}", field=dotted)
