"""The rules that a node judges by: a snapshot of the stored ones, with a workstream's own."""

import asyncio
import logging
from collections.abc import Callable, Iterable

import msgspec

from redshank_node.engine.tool_cards import card_of
from redshank_node.engine.toolsets import profile_of
from redshank_node.tools.tool import Tool
from redshank_shared.domain.errors import RedshankError
from redshank_shared.domain.events import Effect
from redshank_shared.domain.workstream import Workstream
from redshank_shared.permissions.decision import Verdict, judge
from redshank_shared.permissions.ruleset import RuleSet
from redshank_shared.permissions.session_rules import session_rules
from redshank_shared.permissions.tool_card import ToolCard, subject
from redshank_shared.profiles.profile import own_asks
from redshank_shared.stores.database import Database
from redshank_shared.stores.permission_rules import (
    PROJECT,
    PermissionRules,
    RuleRow,
    rules_of,
    speaks_for,
)
from redshank_shared.stores.policy_revisions import PolicyRevisions
from redshank_shared.stores.tables import RULES

logger = logging.getLogger(__name__)

FRESH_SECONDS = 0.25
KNOWN_SECONDS = 5.0
_MOST_COMPILED = 512
_STILL_DECIDED: tuple[Effect, ...] = ("read", "human")

UNREACHED = (
    "the policy store cannot be reached, so whether this is allowed is unknown; "
    "effects are denied until it answers"
)


class Policy:
    """One for a node. `refresh` before a batch is judged; what is judged then is a few moments old
    at most. `monotonic`: seconds on a steady clock.
    """

    def __init__(
        self,
        database: Database,
        rules: PermissionRules,
        revisions: PolicyRevisions,
        cards: Iterable[ToolCard],
        monotonic: Callable[[], float],
    ) -> None:
        self._database = database
        self._rules = rules
        self._revisions = revisions
        self._cards = tuple(cards)
        self._monotonic = monotonic
        self._revision = -1
        self._rows: tuple[RuleRow, ...] = ()
        self._read_at = float("-inf")
        self._moved = False
        self._reading = asyncio.Lock()
        self._stored: dict[tuple[str, str], RuleSet] = {}
        self._whole: dict[tuple[object, ...], RuleSet] = {}

    @property
    def is_known(self) -> bool:
        """Whether the snapshot is young enough to allow effects by (F75)."""
        return self._monotonic() - self._read_at <= KNOWN_SECONDS

    def told(self, revision: int, at: float) -> None:
        """The store said at this moment of the steady clock that its rules have this revision."""
        if revision != self._revision:
            self._moved = True
        elif not self._moved:
            self._read_at = max(self._read_at, at)

    async def refresh(self) -> None:
        """Make sure that the snapshot is at most a quarter of a second old, and no older than what
        was `told`: one small query, none where the store was heard within that time. While it does
        not answer, the last one stays.
        """
        if self._is_fresh:
            return
        async with self._reading:
            if self._is_fresh:
                return
            asked_at, self._moved = self._monotonic(), False
            try:
                revisions = await self._database.run(self._revisions.all)
                if revisions.get(RULES, 0) != self._revision:
                    await self._load()
                self._read_at = asked_at
            except RedshankError as error:
                self._moved = True
                logger.warning("the policy is not read: %s", error.detail)

    def verdict(self, state: Workstream, card: ToolCard, label: str) -> Verdict:
        """What rules and mode say of a call with this label in this workstream.

        While the store cannot be reached, effects are denied, reads go by the last rules known
        (F75).
        """
        said = judge(self._ruleset(state), state.mode, subject(card, label), card.plan)
        if self.is_known or said.decision == "deny":
            return said
        if card.effect in _STILL_DECIDED and self._revision >= 0:
            return said
        return msgspec.structs.replace(
            said, decision="deny", mode_effect="", pattern="", scope="", why=UNREACHED
        )

    @property
    def _is_fresh(self) -> bool:
        return not self._moved and self._monotonic() - self._read_at <= FRESH_SECONDS

    async def _load(self) -> None:
        self._revision, self._rows = await self._database.run(self._rules.all)
        self._stored.clear()
        self._whole.clear()

    def _ruleset(self, state: Workstream) -> RuleSet:
        """Session rules (hook updates first), project, user, the profile's own tier (K-38, O1)."""
        owner, profile = state.created.owner, state.created.profile
        if not state.granted and not state.hook_rules:
            return self._stored_for(owner, profile)
        key = (owner, profile, state.hook_rules, state.granted)
        found = self._whole.get(key)
        if found is None:
            if len(self._whole) >= _MOST_COMPILED:
                self._whole.clear()
            found = self._stored_for(owner, profile).adding(session_rules(state))
            self._whole[key] = found
        return found

    def _stored_for(self, owner: str, profile: str) -> RuleSet:
        found = self._stored.get((owner, profile))
        if found is None:
            if len(self._stored) >= _MOST_COMPILED:
                self._stored.clear()
            rows = [row for row in self._rows if speaks_for(row, owner, PROJECT)]
            tier = profile_of(profile)
            asks = own_asks(self._cards, tier)
            found = RuleSet((*rules_of(rows), *asks, *tier.rules))
            self._stored[owner, profile] = found
        return found


def policy_over(
    database: Database, tools: Iterable[Tool], monotonic: Callable[[], float]
) -> Policy:
    """The policy of a node with these tools, read from this database."""
    cards = [card_of(tool) for tool in tools]
    rules, revisions = PermissionRules(database), PolicyRevisions(database)
    return Policy(database, rules, revisions, cards, monotonic)
