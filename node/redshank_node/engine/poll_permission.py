"""Says whether the rules still let a watch run its command."""

import msgspec

from redshank_node.engine.policy import Policy
from redshank_node.engine.tool_cards import card_of
from redshank_node.engine.toolsets import profile_of
from redshank_node.tools.builtin import bash, watch
from redshank_shared.domain.ids import WorkstreamId
from redshank_shared.domain.scopes import permits
from redshank_shared.profiles.profile import Profile
from redshank_shared.stores.database import Database
from redshank_shared.stores.folds import Folds

_LABEL = "create"


class Forbidden(msgspec.Struct, frozen=True):
    """Why a poll may not run. `ends`: a rule says so, and the watch is over; else it is only not
    known now, and the next poll asks again.
    """

    why: str
    ends: bool


class PollPermission:
    """A person allowed the watch when it was created; a deny that came since stops it, as it would
    stop the command itself. What asks, or what a mode alone denies, was settled then.
    """

    def __init__(self, database: Database, folds: Folds, policy: Policy) -> None:
        self._database = database
        self._folds = folds
        self._policy = policy
        self._cards = ((card_of(watch.TOOL), _LABEL), (card_of(bash.TOOL), ""))

    async def profile(self, workstream_id: str) -> Profile:
        """The profile whose commands the workstream's watches run as."""
        state = await self._database.run(self._folds.load, WorkstreamId(workstream_id))
        return profile_of(state.created.profile)

    async def forbidden(self, workstream_id: str) -> Forbidden | None:
        """Why this workstream's watches may not poll now; None where they may (K-38, F75)."""
        await self._policy.refresh()
        state = await self._database.run(self._folds.load, WorkstreamId(workstream_id))
        blocked = state.created.boundary.tools_deny
        for card, label in self._cards:
            if not permits(None, blocked, card.names):
                return Forbidden(f"the workstream's boundary blocks {card.name}", ends=True)
            verdict = self._policy.verdict(state, card, label)
            if verdict.decision != "deny" or verdict.mode_effect:
                continue
            if not verdict.pattern:
                return Forbidden(verdict.why, ends=False)
            rule = f"the {verdict.scope} rule {verdict.pattern} denies {card.name}"
            return Forbidden(rule, ends=True)
        return None
