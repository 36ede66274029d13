"""Describes a node's tools as rules, the matrix, the registry know them."""

from collections.abc import Iterable

import msgspec

from redshank_node.tools.tool import Tool
from redshank_shared.permissions.tool_card import ToolCard
from redshank_shared.profiles.catalogue import catalogue
from redshank_shared.profiles.profile import known_profiles, load

_encode = msgspec.json.Encoder().encode


def card_of(tool: Tool) -> ToolCard:
    """The tool with every name that any profile gives it, the operator's own among them, so that no
    deny is dodged through one.
    """
    known = catalogue().get(tool.name)
    # No profile names the tools of servers, of which there may be thousands.
    own = (
        card.name
        for name in (known_profiles() if tool.origin is None else ())
        for card in load(name).tools
        if card.canonical == tool.name
    )
    aliases = dict.fromkeys((*tool.aliases, *(known.aliases if known else ()), *own))
    aliases.pop(tool.name, None)
    return ToolCard(
        name=tool.name,
        canonical=tool.name,
        aliases=tuple(aliases),
        effect=tool.effect,
        plan=tool.plan,
        parallel=tool.parallel,
        asks=tool.asks,
        server=tool.server,
        labelled_by=tool.labelled_by,
    )


def encoded_cards(tools: Iterable[Tool]) -> str:
    """The tools' cards as the registry keeps them (K-48)."""
    return _encode([card_of(tool) for tool in tools]).decode()
