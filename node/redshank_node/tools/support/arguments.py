"""Reads the arguments of a call from the text that a model sent."""

from typing import Any

import msgspec

from redshank_node.tools.tool import BadArguments, Tool


def parsed(text: str, tool: Tool, *, rescue: bool) -> dict[str, Any]:
    """The object that the text holds (T-10).

    Nothing at all is an empty object, JSON inside a JSON string is read.

    With `rescue`, a bare string stands for the tool's primary key (T-11). Text that begins like an
    object or a list is never rescued: it is JSON cut off or misspelt, and half of it must not run.
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


def _example(tool: Tool) -> str:
    return f'{{"{tool.primary_key}": "..."}}'
