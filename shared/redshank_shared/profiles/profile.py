"""A profile: the names under which a surface has its tools, with what each does by default."""

import difflib
import functools
from typing import Literal

import msgspec

from redshank_shared.domain.errors import Invalid, Misconfigured
from redshank_shared.domain.events import Decision
from redshank_shared.permissions.rules import Rule, check_pattern
from redshank_shared.permissions.tool_card import MCP_PREFIX, ToolCard, default_rules
from redshank_shared.profiles.catalogue import catalogue, decoded, shipped

_SHIPPED = ("default", "turnstone", "kheish", "cireilclaw")


class Profile(msgspec.Struct, frozen=True):
    """A surface as data. `rules`: the built-in tier that lies below all other rules (O1), the
    catch-all last; it says all that defaults and labels of `tools` say. `mcp_default`: what it says
    of a tool of an MCP server.
    """

    name: str
    title: str
    tools: tuple[ToolCard, ...]
    rules: tuple[Rule, ...]
    mcp_default: Decision = "ask"


def known_profiles() -> tuple[str, ...]:
    """The names of the profiles that ship, Redshank's own first."""
    return _SHIPPED


@functools.cache
def load(name: str) -> Profile:
    """The profile of this name; Invalid names the nearest one where there is none."""
    if name not in _SHIPPED:
        raise Invalid(
            f"there is no profile {name}{_meant(name, _SHIPPED)}: use {', '.join(_SHIPPED)}",
            code="unknown_profile",
            field="profile",
        )
    return read(name, shipped(name))


def read(name: str, text: str) -> Profile:
    """The profile that this TOML text describes. Misconfigured names the field to mend: an unknown
    key, a canonical tool that the catalogue has not, one name for two tools, a wrong value.
    """
    written = decoded(name, text, _ProfileFile)
    cards = tuple(_card(name, exposed, tool) for exposed, tool in written.tools.items())
    given = tuple(_rule(name, at, rule) for at, rule in enumerate(written.rules))
    return Profile(
        name=name,
        title=written.title,
        tools=cards,
        rules=given or _generated(cards, written.mcp.default),
        mcp_default=written.mcp.default,
    )


def card_of(profile: Profile, tool: str) -> ToolCard | None:
    """The tool that is exposed under this name, else the one whose canonical name it is, else whose
    alias; None where the profile has no such tool, as for tools of MCP servers.
    """
    exposed = next((card for card in profile.tools if card.name == tool), None)
    canonical = next((card for card in profile.tools if card.canonical == tool), None)
    alias = next((card for card in profile.tools if tool in card.aliases), None)
    return exposed or canonical or alias


def _card(profile: str, exposed: str, tool: "_ExposedTool") -> ToolCard:
    canonical = tool.canonical or exposed
    known = catalogue().get(canonical)
    if known is None:
        raise Misconfigured(
            f"profile {profile}: tools.{exposed} stands for {canonical}, which is no canonical tool"
            f"{_meant(canonical, tuple(catalogue()))}",
            code="profile_invalid",
            field=f"tools.{exposed}",
        )
    return ToolCard(
        name=exposed,
        canonical=canonical,
        aliases=tuple(name for name in known.aliases if name != exposed),
        effect=known.effect,
        plan=known.plan,
        parallel=known.parallel if tool.parallel is None else tool.parallel,
        default=tool.default,
        asks=tool.asks,
        labelled_by=known.labelled_by,
    )


def _rule(profile: str, at: int, written: "_WrittenRule") -> Rule:
    try:
        check_pattern(written.pattern, f"rules[{at}].pattern")
    except Invalid as error:
        raise Misconfigured(
            f"profile {profile}: {error.detail}", code="profile_invalid", field=error.field
        ) from error
    return Rule(written.pattern, written.decision, "builtin")


def _generated(cards: tuple[ToolCard, ...], mcp_default: Decision) -> tuple[Rule, ...]:
    """The built-in tier that the defaults amount to; what no rule names is allowed."""
    rules = default_rules(cards)
    if mcp_default != "allow":
        rules = (*rules, Rule(f"{MCP_PREFIX}*", mcp_default, "builtin"))
    return (*rules, Rule("*", "allow", "builtin"))


def _meant(name: str, known: tuple[str, ...]) -> str:
    near = difflib.get_close_matches(name, known, n=1)
    return f" (did you mean {near[0]}?)" if near else ""


class _ExposedTool(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a profile may say of a tool: all that is not the same under every name."""

    canonical: str = ""
    default: Decision | Literal[""] = ""
    asks: tuple[str, ...] = ()
    parallel: bool | None = None


class _WrittenRule(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    pattern: str
    decision: Decision


class _Mcp(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    default: Decision = "ask"


class _ProfileFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    title: str
    tools: dict[str, _ExposedTool]
    mcp: _Mcp = _Mcp()
    rules: tuple[_WrittenRule, ...] = ()
