"""Lets a tool speak of the other tools by the names that its profile shows."""

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import msgspec

from redshank_node.tools.tool import BadArguments, CallContext, Prepared, Result, Tool, Workspace
from redshank_shared.permissions.tool_card import ToolCard

# What does another tool's job where a profile has not got it.
_INSTEAD = {"list_files": ("bash", "exec")}
# What these give back when they fail was written elsewhere.
_STRANGERS = ("process", "network", "mcp")


def other_names(cards: Iterable[ToolCard]) -> Mapping[str, str]:
    """The shown name of each tool that its own name would not lead to in this profile."""
    shown = {card.canonical: card.name for card in cards}
    names = {own: name for own, name in shown.items() if own != name and "_" in own}
    for absent in _INSTEAD.keys() - shown.keys():
        there = [shown[other] for other in _INSTEAD[absent] if other in shown]
        names |= {absent: there[0]} if there else {}
    return names


def speaking(tool: Tool, names: Mapping[str, str]) -> Tool:
    """The tool, its descriptions and refusals in these names. What runs is the same."""
    if not names or tool.origin is not None:
        return tool
    said = _rewording(names)

    def prepare(arguments: dict[str, Any], workspace: Workspace) -> Prepared:
        try:
            return tool.prepare(arguments, workspace)
        except BadArguments as wrong:
            raise BadArguments(_first_line(str(wrong), said)) from None

    async def run(prepared: Prepared, context: CallContext) -> Result:
        result = await tool.run(prepared, context)
        if not result.is_error or tool.effect in _STRANGERS:
            return result
        return msgspec.structs.replace(result, output=_first_line(result.output, said))

    return msgspec.structs.replace(
        tool,
        description=said(tool.description),
        parameters=_described(tool.parameters, said),
        prepare=prepare,
        run=run,
    )


def _rewording(names: Mapping[str, str]) -> Callable[[str], str]:
    """Names that stand as words of their own; in quotes or in a path they are a file's."""
    own = "|".join(map(re.escape, names))
    word = re.compile(rf"(?<![\w'\"/.-])(?:{own})(?![\w'\"/-])")
    return lambda text: word.sub(lambda found: names[found[0]], text)


def _first_line(text: str, said: Callable[[str], str]) -> str:
    """Behind the first line of a refusal stands what it speaks of."""
    line, end, rest = text.partition("\n")
    return f"{said(line)}{end}{rest}"


def _described(schema: Mapping[str, Any], said: Callable[[str], str]) -> dict[str, Any]:
    made = dict(schema)
    if isinstance(made.get("description"), str):
        made["description"] = said(made["description"])
    if isinstance(made.get("properties"), Mapping):
        made["properties"] = {
            name: _described(inner, said) for name, inner in made["properties"].items()
        }
    if isinstance(made.get("items"), Mapping):
        made["items"] = _described(made["items"], said)
    return made
