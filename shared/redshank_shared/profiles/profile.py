"""A profile: the names under which a surface has its tools, with what each does by default."""

import difflib
import functools
import re
from collections.abc import Iterable, Mapping
from typing import Annotated, Any, Literal

import msgspec

from redshank_shared.domain.errors import Invalid, Misconfigured
from redshank_shared.domain.events import Decision
from redshank_shared.domain.tool_deferral import SearchChoice
from redshank_shared.permissions.rules import Rule, check_pattern
from redshank_shared.permissions.tool_card import MCP_PREFIX, ToolCard, default_rules
from redshank_shared.profiles.catalogue import catalogue, decoded, shipped
from redshank_shared.profiles.mcp_manner import McpManner
from redshank_shared.profiles.root_choice import RootChoice
from redshank_shared.profiles.sandbox_choice import SandboxChoice

SHIPPED = ("default", "turnstone", "kheish", "cireilclaw")
_INSTALLED: dict[str, "Profile"] = {}
_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")


class Exposure(msgspec.Struct, frozen=True):
    """What a profile changes of a tool beside its name. `rename`: the tool's own argument to the
    one that is shown, dotted for one inside another (`edits.old_string`); `preset`: values that the
    profile gives to arguments or options, which the model then neither sees nor sets; `without`:
    arguments that are not shown; `require`: those that each call must give here; `values`: words
    that are shown for an argument's values, as in `{append = {overwrite = false, append = true}}`;
    `description`, `describe`: what a model reads in place of the tool's own words on itself, on
    arguments; `form`: another set of arguments that the tool knows, which all of these go by.
    """

    rename: Mapping[str, str] = {}
    preset: Mapping[str, Any] = {}
    without: tuple[str, ...] = ()
    require: tuple[str, ...] = ()
    values: Mapping[str, Mapping[str, Any]] = {}
    description: str = ""
    describe: Mapping[str, str] = {}
    form: str = ""


class Profile(msgspec.Struct, frozen=True):
    """A surface as data. `rules`: the built-in tier that lies below all other rules (O1), the
    catch-all last; it says all that defaults and labels of `tools` say. `mcp_default`: what it says
    of a tool of an MCP server, `mcp`: how it takes what they offer. `exposures` has what is changed
    of tools, by their shown names.
    `max_parallel`: how many calls of a batch may run at once, 0 for as many as the limits say;
    `disable_after_failures`: how often running a tool may fail before it is off for the turn, 0 for
    no such end (C-9); `ends_with`: the canonical tools of which a call must end each turn, none
    where an answer does (C-9); `rescue`: whether a bare string stands for the primary key (T-10);
    `unlisted`: whether a tool that tools.toml does not name is there (C-3); where it is not, the
    file must be (C-1); `tool_search`: what it says of tools that wait to be found (T-60);
    `roots`: the folders beside the workspace that its tools have too (C-25);
    `folder_notes`: whether descriptions say in which folder a tool works (T-04); `sandbox`: at
    which levels its commands run, where not at those that are set.
    """

    name: str
    title: str
    tools: tuple[ToolCard, ...]
    rules: tuple[Rule, ...]
    mcp_default: Decision = "ask"
    mcp: McpManner = McpManner()
    exposures: Mapping[str, Exposure] = {}
    max_parallel: int = 0
    disable_after_failures: int = 0
    ends_with: tuple[str, ...] = ()
    rescue: bool = False
    unlisted: bool = True
    tool_search: SearchChoice = SearchChoice()
    folder_notes: bool = False
    roots: RootChoice = RootChoice()
    sandbox: SandboxChoice = SandboxChoice()


def known_profiles() -> tuple[str, ...]:
    """The names of the profiles that there are, Redshank's own first, the operator's last."""
    return (*SHIPPED, *(name for name in _INSTALLED if name not in SHIPPED))


def install(profiles: Iterable[Profile]) -> None:
    """Make these the operator's profiles of this process, in place of any before. One with the name
    of a shipped profile stands in for it. Once at a start: what runs keeps what it has.
    """
    _INSTALLED.clear()
    _INSTALLED.update({profile.name: profile for profile in profiles})


def load(name: str) -> Profile:
    """The profile of this name; Invalid names the nearest one where there is none."""
    installed = _INSTALLED.get(name)
    if installed is not None:
        return installed
    if name not in SHIPPED:
        known = known_profiles()
        raise Invalid(
            f"there is no profile {name}{_meant(name, known)}: use {', '.join(known)}",
            code="unknown_profile",
            field="profile",
        )
    return shipped_profile(name)


@functools.cache
def shipped_profile(name: str) -> Profile:
    """The profile of this name as it ships, one of SHIPPED."""
    return read(name, shipped(name))


def read(name: str, text: str) -> Profile:
    """The profile that this TOML text describes. Misconfigured names the field to mend: an unknown
    key, a canonical tool that the catalogue has not, one name for two tools, a wrong value.
    """
    written = decoded(name, text, _ProfileFile)
    cards = tuple(_card(name, exposed, tool) for exposed, tool in written.tools.items())
    _each_once(name, cards)
    _check_ends(name, written.batch.ends_with, cards)
    given = tuple(_rule(name, at, rule) for at, rule in enumerate(written.rules))
    return Profile(
        name=name,
        title=written.title,
        tools=cards,
        rules=given or _generated(cards, written.mcp.default),
        mcp_default=written.mcp.default,
        mcp=_manner(written.mcp),
        exposures={exposed: _exposure(tool) for exposed, tool in written.tools.items()},
        max_parallel=written.batch.max_parallel,
        disable_after_failures=written.batch.disable_after_failures,
        ends_with=written.batch.ends_with,
        rescue=written.arguments.rescue,
        unlisted=written.tools_file.unlisted == "on",
        tool_search=written.tool_search,
        folder_notes=written.folder_notes == "on",
        roots=written.roots,
        sandbox=written.sandbox,
    )


def with_defaults(profile: Profile, defaults: Mapping[str, Decision]) -> Profile:
    """The profile with other default decisions of tools, by their shown names. Misconfigured names
    the tool that it has not.
    """
    names = tuple(card.name for card in profile.tools)
    for name in defaults:
        if name not in names:
            raise Misconfigured(
                f"profile {profile.name} has no tool {name}{_meant(name, names)}",
                code="profile_invalid",
                field=f"profiles.{profile.name}.defaults.{name}",
            )
    said = tuple(Rule(name, decision, "builtin") for name, decision in defaults.items())
    cards = tuple(
        msgspec.structs.replace(card, default=defaults.get(card.name, card.default))
        for card in profile.tools
    )
    rules = (*said, *(rule for rule in profile.rules if rule.pattern not in defaults))
    return msgspec.structs.replace(profile, tools=cards, rules=rules)


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
        raise _wrong(
            profile,
            exposed,
            f"stands for {canonical}, which is no canonical tool"
            f"{_meant(canonical, tuple(catalogue()))}",
        )
    if not _NAME.fullmatch(exposed):
        raise _wrong(profile, exposed, "is no name: 1 to 64 letters, digits, _ or -")
    for other, theirs in catalogue().items():
        taken = exposed == other or exposed in theirs.aliases
        if other != canonical and taken and exposed not in known.aliases:
            raise _wrong(profile, exposed, f"is what {other} is called; give {canonical} another")
    return ToolCard(
        name=exposed,
        canonical=canonical,
        aliases=tuple(name for name in known.aliases if name != exposed),
        effect=known.effect,
        plan=known.plan,
        parallel=known.parallel if tool.parallel is None else tool.parallel,
        default=tool.default,
        asks=tool.asks,
        labelled_by=tool.rename.get(known.labelled_by, known.labelled_by),
    )


def _manner(written: "_Mcp") -> McpManner:
    return McpManner(**{name: getattr(written, name) for name in McpManner.__struct_fields__})


def _exposure(tool: "_ExposedTool") -> Exposure:
    return Exposure(
        rename=tool.rename,
        preset=tool.preset,
        without=tool.without,
        require=tool.require,
        values=tool.values,
        description=tool.description,
        describe=tool.describe,
        form=tool.form,
    )


def _each_once(profile: str, cards: tuple[ToolCard, ...]) -> None:
    named: dict[str, str] = {}
    for card in cards:
        other = named.setdefault(card.canonical, card.name)
        if other != card.name:
            raise _wrong(profile, card.name, f"stands for {card.canonical}, as tools.{other} does")


def _check_ends(profile: str, ends_with: tuple[str, ...], cards: tuple[ToolCard, ...]) -> None:
    there = sorted(card.canonical for card in cards)
    for canonical in ends_with:
        if canonical not in there:
            raise Misconfigured(
                f"profile {profile}: batch.ends_with names {canonical}, which is the canonical "
                f"name of none of its tools; those are {', '.join(there) or 'none'}",
                code="profile_invalid",
                field="batch.ends_with",
            )


def _wrong(profile: str, exposed: str, what: str) -> Misconfigured:
    return Misconfigured(
        f"profile {profile}: tools.{exposed} {what}",
        code="profile_invalid",
        field=f"tools.{exposed}",
    )


def _rule(profile: str, at: int, written: "_WrittenRule") -> Rule:
    try:
        check_pattern(written.pattern, f"rules[{at}].pattern")
    except Invalid as error:
        raise Misconfigured(
            f"profile {profile}: {error.detail}", code="profile_invalid", field=error.field
        ) from error
    return Rule(written.pattern, written.decision, "builtin")


def own_asks(cards: Iterable[ToolCard], profile: Profile) -> tuple[Rule, ...]:
    """The labels that tools themselves ask a person about, in front of the profile's own tier
    (T-28), but of tools that the profile denies: a label would otherwise open them by half.
    """
    patterns = {rule.pattern for rule in profile.rules if rule.decision == "deny"}
    denied = {card.canonical for card in profile.tools if patterns & set(card.names)}
    left = (card for card in cards if card.canonical not in denied)
    return default_rules(msgspec.structs.replace(card, default="") for card in left)


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
    rename: dict[str, str] = {}
    preset: dict[str, Any] = {}
    without: tuple[str, ...] = ()
    require: tuple[str, ...] = ()
    values: dict[str, dict[str, Any]] = {}
    description: str = ""
    describe: dict[str, str] = {}
    form: str = ""


class _WrittenRule(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    pattern: str
    decision: Decision


class _Mcp(McpManner, frozen=True, forbid_unknown_fields=True):
    default: Decision = "ask"


class _Batch(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    max_parallel: Annotated[int, msgspec.Meta(ge=0)] = 0
    disable_after_failures: Annotated[int, msgspec.Meta(ge=0)] = 0
    ends_with: tuple[str, ...] = ()


class _Arguments(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    rescue: bool = False


class _ToolsFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    unlisted: Literal["on", "off"] = "on"


class _ProfileFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    title: str
    tools: dict[str, _ExposedTool]
    folder_notes: Literal["on", "off"] = "off"
    mcp: _Mcp = _Mcp()
    batch: _Batch = _Batch()
    arguments: _Arguments = _Arguments()
    tools_file: _ToolsFile = _ToolsFile()
    roots: RootChoice = RootChoice()
    sandbox: SandboxChoice = SandboxChoice()
    tool_search: SearchChoice = SearchChoice()
    rules: tuple[_WrittenRule, ...] = ()
