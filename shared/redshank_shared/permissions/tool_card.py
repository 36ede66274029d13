"""What rules, matrix or registry know of a tool: names, effect, flags, never its code."""

from collections.abc import Iterable
from typing import Literal

import msgspec

from redshank_shared.domain.events import Decision, Effect
from redshank_shared.permissions.matching import Subject
from redshank_shared.permissions.rules import NETWORK, Rule

MCP_PREFIX = "mcp__"
# The label of a call that leads into a private network, before a colon with the host (T-30).
PRIVATE = "private"


class ToolCard(msgspec.Struct, frozen=True):
    """A tool as a profile exposes it. `name` is what the model calls, `canonical` what the
    catalogue calls it; `plan`: plan mode lists it (K-37, O2, O4); `default`: what the profile
    decides on it where no rule speaks, "" for nothing of its own; `asks`: labels of calls that a
    person is asked about by default (T-28); `server`: the MCP server it comes from, else "";
    `labelled_by`: the argument whose value is a call's label, where one is.
    """

    name: str
    canonical: str
    aliases: tuple[str, ...]
    effect: Effect
    plan: bool
    parallel: bool = True
    default: Decision | Literal[""] = ""
    asks: tuple[str, ...] = ()
    server: str = ""
    labelled_by: str = ""

    @property
    def names(self) -> tuple[str, ...]:
        """Every name of the tool once, the exposed one first."""
        return tuple(dict.fromkeys((self.name, self.canonical, *self.aliases)))


def subject(card: ToolCard, label: str = "") -> Subject:
    """What rules match a call of this tool against; `label` is the call's own (O14)."""
    names = card.names
    if label:
        names += tuple(f"{name}:{label}" for name in names)
    into_private = card.effect == "network" and label.partition(":")[0] == PRIVATE
    for_network = card.effect == "process" and label == NETWORK
    return Subject(names, card.effect, insisted=into_private or for_network)


def default_rules(cards: Iterable[ToolCard]) -> tuple[Rule, ...]:
    """What the profile's tools bring to the built-in tier: a default of their own, labels that ask,
    where the default does not deny all of it. They go before the profile's other defaults.
    """
    made: list[Rule] = []
    for card in cards:
        if card.default:
            made.append(Rule(card.name, card.default, "builtin"))
        if card.default != "deny":
            made.extend(Rule(f"{card.name}:{label}", "ask", "builtin") for label in card.asks)
    return tuple(made)


def server_of(name: str) -> str:
    """The MCP server that a tool of this name comes from, or "" (K-66)."""
    if not name.startswith(MCP_PREFIX):
        return ""
    return name.removeprefix(MCP_PREFIX).partition("__")[0]


def unregistered_card(name: str) -> ToolCard:
    """The card of a name that no node has registered, so that a dry run can decide on it (K-48): an
    MCP tool by its name, else the effect that rules and modes are most careful about.
    """
    if name.startswith(MCP_PREFIX):
        return ToolCard(name, name, (), "mcp", plan=False, server=server_of(name))
    return ToolCard(name, name, (), "process", plan=False)
