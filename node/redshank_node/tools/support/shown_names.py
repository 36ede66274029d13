"""Turns a tool's own argument names into those that a profile shows, back again."""

import re
from collections.abc import Container, Mapping
from typing import Any

from redshank_shared.profiles.profile import Exposure

_FIRST_PATH = re.compile(r"^\w+(?:\[\d+\]|\.\w+)*")
_PLACE = re.compile(r"\[\d+\]")


def paths_of(parameters: Mapping[str, Any], prefix: str = "") -> list[str]:
    """Every argument of a schema, dotted where it stands inside another."""
    found: list[str] = []
    for own, described in parameters.get("properties", {}).items():
        path = f"{prefix}{own}"
        found += [path, *paths_of(_inside(described), f"{path}.")]
    return found


def shown_schema(
    parameters: Mapping[str, Any], exposure: Exposure, given: Container[str]
) -> dict[str, Any]:
    """The schema as the model reads it: shown names, nothing that is given or left out."""
    made = _shown(parameters, exposure, given, "")
    required = [exposure.rename.get(own, own) for own in exposure.require]
    return {**made, "required": list(dict.fromkeys([*made.get("required", ()), *required]))}


def own_arguments(
    value: Any, described: Mapping[str, Any], exposure: Exposure, prefix: str = ""
) -> Any:
    """What was sent under shown names, under the tool's own."""
    if isinstance(value, list):
        items = described.get("items", {})
        return [own_arguments(item, items, exposure, prefix) for item in value]
    if not isinstance(value, dict) or "properties" not in described:
        return value
    properties = described["properties"]
    own_of = {exposure.rename.get(f"{prefix}{own}", own): own for own in properties}
    made = {}
    for shown, item in value.items():
        own = own_of.get(shown, shown)
        path = f"{prefix}{own}"
        words = exposure.values.get(path)
        inner = properties.get(own, {})
        made[own] = words[item] if words else own_arguments(item, inner, exposure, f"{path}.")
    return made


def in_shown_names(words: str, exposure: Exposure) -> str:
    """A text for the model with the names that it knows: where it begins with an argument's name,
    and wherever a name cannot be taken for a plain word. Only its first line speaks of arguments.
    """
    line, end, rest = words.partition("\n")
    found = _FIRST_PATH.match(line)
    if found:
        line = _shown_path(found[0], exposure.rename) + line[found.end() :]
    for own, shown in exposure.rename.items():
        last = own.rpartition(".")[2]
        if "_" in last:
            line = re.sub(rf"\b{re.escape(last)}\b", shown, line)
    return f"{line}{end}{rest}"


def _shown(
    described: Mapping[str, Any], exposure: Exposure, given: Container[str], prefix: str
) -> dict[str, Any]:
    made = dict(described)
    if "description" in made:
        made["description"] = in_shown_names(made["description"], exposure)
    own = [
        name
        for name in described.get("properties", ())
        if f"{prefix}{name}" not in exposure.without and (prefix or name not in given)
    ]
    rename = exposure.rename
    if "properties" in described:
        made["properties"] = {
            rename.get(f"{prefix}{name}", name): _shown_value(
                described["properties"][name], exposure, given, f"{prefix}{name}"
            )
            for name in own
        }
    if "required" in described:
        made["required"] = [
            rename.get(f"{prefix}{name}", name) for name in described["required"] if name in own
        ]
    if isinstance(described.get("items"), Mapping):
        made["items"] = _shown(described["items"], exposure, given, prefix)
    return made


def _shown_value(
    described: Mapping[str, Any], exposure: Exposure, given: Container[str], path: str
) -> dict[str, Any]:
    words = exposure.values.get(path)
    if words:
        made = {"type": "string", "enum": list(words), "description": described.get("description")}
    else:
        made = _shown(described, exposure, given, f"{path}.")
    if path in exposure.describe:
        made["description"] = exposure.describe[path]
    return made


def _inside(described: Mapping[str, Any]) -> Mapping[str, Any]:
    """The schema of the objects that a value is or holds."""
    items = described.get("items")
    return items if isinstance(items, Mapping) else described


def _shown_path(path: str, rename: Mapping[str, str]) -> str:
    """`edits[0].old_string` with each part as it is shown."""
    dotted: list[str] = []
    made: list[str] = []
    for part in path.split("."):
        name = _PLACE.sub("", part)
        dotted.append(name)
        made.append(rename.get(".".join(dotted), name) + part[len(name) :])
    return ".".join(made)
