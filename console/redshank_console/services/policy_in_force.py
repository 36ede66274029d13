"""Gathers the rules that hold for somebody's calls."""

from collections.abc import Iterable

import msgspec

from redshank_console.services.cluster_surface import ClusterSurface, LiveTools
from redshank_shared.domain.delegation import UNBOUNDED, Boundary, offered
from redshank_shared.domain.events import Mode
from redshank_shared.domain.ids import WorkstreamId, checked_id
from redshank_shared.domain.scopes import server_usable
from redshank_shared.permissions.rules import Rule
from redshank_shared.permissions.ruleset import RuleSet
from redshank_shared.permissions.session_rules import session_rules
from redshank_shared.permissions.tool_card import ToolCard, unregistered_card
from redshank_shared.profiles.profile import (
    Profile,
    card_of,
    known_profiles,
    load,
    own_asks,
)
from redshank_shared.session_commands import SessionCommands
from redshank_shared.stores.database import Database
from redshank_shared.stores.mcp_tools import McpTools
from redshank_shared.stores.permission_rules import PROJECT, PermissionRules

DEFAULT_PROFILE = "default"


class Standpoint(msgspec.Struct, frozen=True):
    """From where a call is judged: whose it is, in which mode, profile, under which rules, within
    what boundary.
    """

    owner: str
    mode: Mode
    profile: Profile
    session: tuple[Rule, ...] = ()
    boundary: Boundary = UNBOUNDED

    def offers(self, card: ToolCard) -> bool:
        """Whether the tool is there at all (K-5)."""
        return offered(self.boundary, card.canonical, card.names, card.effect, card.server)

    def uses(self, card: ToolCard) -> bool:
        """Whether its lists let a call go to the tool's server, credentials apart (K-68)."""
        return not card.server or server_usable(self.boundary.credentials, card.server, False)


class PolicyInForce:
    """The same functions as in a node's pipeline, with no effect (K-47)."""

    def __init__(
        self,
        database: Database,
        rules: PermissionRules,
        surface: ClusterSurface,
        commands: SessionCommands,
    ) -> None:
        self._database = database
        self._rules = rules
        self._surface = surface
        self._commands = commands
        self._mcp_tools = McpTools(database)

    async def standpoint(
        self, asker: str, workstream: str | None, mode: Mode | None, profile: str | None
    ) -> Standpoint:
        """That of a workstream, with its session rules, or else of the asker; NotFound where there
        is no such workstream, Invalid for a profile.
        """
        if not workstream:
            return Standpoint(asker, mode or "default", load(profile or DEFAULT_PROFILE))
        checked_id("ws", workstream, "workstream")
        state = await self._commands.load(WorkstreamId(workstream))
        return Standpoint(
            owner=state.created.owner,
            mode=mode or state.mode,
            profile=load(profile or state.created.profile),
            session=session_rules(state),
            boundary=state.created.boundary,
        )

    async def live(self) -> LiveTools:
        """The tools of live nodes."""
        return await self._surface.live()

    async def changed_tools(self, cards: Iterable[ToolCard]) -> frozenset[str]:
        """The tools of servers that are no longer what was accepted of them, by name (F64)."""
        if not any(card.server for card in cards):
            return frozenset()
        return await self._database.run(self._mcp_tools.changed_names)

    async def ruleset(self, standpoint: Standpoint, live: LiveTools) -> RuleSet:
        """Session, project, user, the profile's own tier, as a node lays them out (K-38, O1)."""
        _, stored = await self._database.run(self._rules.in_force, standpoint.owner, PROJECT)
        return ruleset_over((*standpoint.session, *stored), standpoint.profile, live)


def ruleset_over(rules: Iterable[Rule], profile: Profile, live: LiveTools) -> RuleSet:
    """These rules above the profile's built-in tier."""
    return RuleSet((*rules, *own_asks(live.cards, profile), *profile.rules))


def tool_named(name: str, profile: Profile, live: LiveTools) -> ToolCard:
    """The tool that a call of this name reaches; a card of its own where nobody has it."""
    found = live.named(name) if profile.name == DEFAULT_PROFILE else None
    return found or card_of(profile, name) or live.named(name) or unregistered_card(name)


def surface_of(profile: Profile, live: LiveTools) -> tuple[ToolCard, ...]:
    """A profile's tools, behind them those that MCP servers bring (K-48)."""
    known = {name for card in profile.tools for name in card.names}
    return (*profile.tools, *(card for card in live.cards if _joins(card, profile, known)))


def _joins(card: ToolCard, profile: Profile, known: set[str]) -> bool:
    if known & set(card.names):
        return False
    return bool(card.server) or profile.name == DEFAULT_PROFILE


def known_names(live: LiveTools) -> set[str]:
    """Every name that a rule may mean: of live tools, of any profile's."""
    cards = (card for name in known_profiles() for card in load(name).tools)
    return live.names() | {name for card in cards for name in card.names}
