"""Bounds JSON that a stranger made: small on the wire may be large to handle (K-70, F67)."""

import math
from typing import Any

from redshank_node.mcp_client.harmless import bounded_text, harmless

MOST_DEPTH = 8
MOST_ITEMS = 128
MOST_FIELDS = 128
MOST_CHARACTERS = 16_384
MOST_KEY_CHARACTERS = 512
# Within the bounds above a value could still be a tree of 128 to the 8th leaves.
MOST_VALUES = 16_384
MOST_ALL_CHARACTERS = 262_144
_EXACT = 2**63
LEFT_OUT = "[left out: there is too much of it]"


def bounded(value: Any) -> Any:
    """A copy that JSON can say, within all bounds; where something was left out, words say so."""
    return _Copy().of(value, MOST_DEPTH)


class _Copy:
    def __init__(self) -> None:
        self._room = MOST_VALUES
        self._characters = MOST_ALL_CHARACTERS

    def of(self, value: Any, depth: int) -> Any:
        self._room -= 1
        if self._room < 0 or self._characters <= 0:
            return LEFT_OUT
        if isinstance(value, dict | list | tuple):
            if depth <= 0:
                return f"[left out: deeper than {MOST_DEPTH} levels]"
            if isinstance(value, dict):
                return self._fields(value, depth)
            return self._items(value, depth)
        if isinstance(value, str):
            self._characters -= min(len(value), MOST_CHARACTERS)
        return _leaf(value)

    def _fields(self, value: dict[Any, Any], depth: int) -> Any:
        made: dict[str, Any] = {}
        most = _taken(len(value), MOST_FIELDS)
        for place, (key, item) in enumerate(value.items()):
            if place >= most or self._room <= 0:
                made[_key("…", made)] = f"[{len(value) - place} more fields]"
                break
            self._characters -= min(len(str(key)), MOST_KEY_CHARACTERS)
            made[_key(str(key), made)] = self.of(item, depth - 1)
        return made

    def _items(self, value: list[Any] | tuple[Any, ...], depth: int) -> Any:
        made: list[Any] = []
        most = _taken(len(value), MOST_ITEMS)
        for place, item in enumerate(value):
            if place >= most or self._room <= 0:
                made.append(f"[{len(value) - place} more items]")
                break
            made.append(self.of(item, depth - 1))
        return made


def _leaf(value: Any) -> Any:
    match value:
        case None | bool():
            return value
        case str():
            return bounded_text(value, MOST_CHARACTERS)
        case int() | float():
            return _number(value)
        case _:
            return f"[no JSON: {type(value).__name__}]"


def _number(value: float) -> Any:
    """Numbers that JSON or a database cannot carry are told in words."""
    if isinstance(value, float):
        return value if math.isfinite(value) else f"[no number: {value}]"
    if -_EXACT <= value < _EXACT:
        return value
    return f"[a whole number of {value.bit_length()} bits]"


def _taken(there: int, most: int) -> int:
    """How many are copied, so that the words for the rest find room."""
    return there if there <= most else most - 1


def _key(key: str, taken: dict[str, Any]) -> str:
    """The key within its bound, unlike any other: cut ones may have become the same."""
    cut, number = harmless(key[:MOST_KEY_CHARACTERS]), len(taken)
    unlike = cut
    while unlike in taken:
        unlike, number = f"{cut[: MOST_KEY_CHARACTERS - 12]}…{number}", number + 1
    return unlike
