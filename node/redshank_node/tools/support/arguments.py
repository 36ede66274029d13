"""Reads the arguments of a call from the text that a model sent."""

import ast
import json
import re
from typing import Any

import msgspec

from redshank_node.tools.tool import BadArguments, Tool

_FENCED = re.compile(r"```[a-z]*\s*(\{.*\})\s*```", re.DOTALL)
_LONGEST_LITERAL = 65536


def parsed(text: str, tool: Tool, *, rescue: bool) -> dict[str, Any]:
    """The object that the text holds (T-10).

    Nothing at all is an empty object, JSON inside a JSON string is read.

    With `rescue`, an object is read also in a fence, with line breaks inside its strings, or as
    Python writes it, and a bare string stands for the tool's primary key (T-11). Text that begins
    like an object or a list never does: it is cut off, and half of it must not run.
    """
    stripped = text.strip()
    if not stripped:
        return {}
    try:
        value = msgspec.json.decode(stripped)
    except RecursionError:
        raise BadArguments(
            f"the arguments are nested too deep to be read; send one flat object, as in "
            f"{_example(tool)}"
        ) from None
    except msgspec.DecodeError as error:
        mended = _mended(stripped) if rescue else None
        if mended is not None:
            return mended
        if rescue and stripped[0] not in "{[":
            return {tool.primary_key: text}
        raise BadArguments(
            f"the arguments are not JSON ({error}); send one JSON object, as in {_example(tool)}"
        ) from None
    if isinstance(value, str) and value.lstrip().startswith("{"):
        return parsed(value, tool, rescue=False)
    if isinstance(value, dict):
        return value
    if rescue and isinstance(value, str):
        return {tool.primary_key: value}
    raise BadArguments(f"the arguments must be one JSON object, as in {_example(tool)}")


def _mended(text: str) -> dict[str, Any] | None:
    """The whole object that is meant by what is nearly JSON; None where none is."""
    fenced = _FENCED.fullmatch(text)
    text = fenced[1] if fenced else text.removeprefix("\ufeff")
    if not text.startswith("{"):
        return None
    try:
        value = json.loads(text, strict=False)
    except (ValueError, RecursionError):
        value = _literal(text)
    return value if isinstance(value, dict) and _is_json(value) else None


def _literal(text: str) -> object:
    """What Python would read."""
    if len(text) > _LONGEST_LITERAL:
        return None
    try:
        return ast.literal_eval(text)
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        return None


def _is_json(value: dict[Any, Any]) -> bool:
    try:
        json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
    except (ValueError, TypeError, RecursionError):
        return False
    return all(isinstance(key, str) for key in value)


def _example(tool: Tool) -> str:
    return f'{{"{tool.primary_key}": "..."}}'
