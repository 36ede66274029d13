"""Finds the answer to a server's question that the question itself holds."""

from typing import Any

MOST_ANSWERS = 100


def defaults_of(schema: Any) -> dict[str, Any] | None:
    """The default of each property that has one: the server's own words, nothing of ours. None
    where a required property has none, or where there are more than 100: then it is declined.
    """
    if not isinstance(schema, dict):
        return None
    properties, required = schema.get("properties"), schema.get("required") or []
    if not isinstance(properties, dict) or not isinstance(required, list):
        return None
    if len(properties) > MOST_ANSWERS:
        return None
    found = {
        name: described["default"]
        for name, described in properties.items()
        if isinstance(described, dict) and _may_stand(described.get("default"))
    }
    return None if set(map(str, required)) - set(found) else found


def _may_stand(value: Any) -> bool:
    """Whether it is text, a number, yes or no, a list of texts: what an answer may hold."""
    if isinstance(value, list):
        return all(isinstance(item, str) for item in value)
    return isinstance(value, str | int | float)
