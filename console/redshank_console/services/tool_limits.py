"""Shows runtime limits, changes them."""

import msgspec

from redshank_console.services.admin_audit import AdminAudit
from redshank_console.services.kept_answers import KeptAnswers, entry_of
from redshank_console.services.orders import Answer, Clock
from redshank_shared.domain.errors import Conflict
from redshank_shared.domain.limits import Limits
from redshank_shared.session_commands import KeyedRequest
from redshank_shared.stores.database import Database
from redshank_shared.stores.idempotency import Idempotency
from redshank_shared.stores.permission_rules import Beside
from redshank_shared.stores.tool_limits import StoredLimits, ToolLimits
from redshank_shared.wire.limit_requests import NewToolLimits
from redshank_shared.wire.limit_views import LimitsView, ToolLimitsView


class ToolLimitOrders:
    """Each change is a revision; nodes run their next batches under it (K-84)."""

    def __init__(
        self,
        database: Database,
        store: ToolLimits,
        idempotency: Idempotency,
        configured: Limits,
        audit: AdminAudit,
        clock: Clock,
    ) -> None:
        self._database = database
        self._store = store
        self._kept = KeptAnswers(database, idempotency)
        self._configured = configured
        self._audit = audit
        self._clock = clock

    async def current(self) -> ToolLimitsView:
        """The limits in force."""
        stored = await self._database.run(self._store.current)
        return _view(stored or StoredLimits(0, self._configured))

    async def set(self, new: NewToolLimits, by: str, keyed: KeyedRequest | None) -> Answer:
        """200 and the limits from now on; Conflict where `expected_revision` has moved, Invalid for
        a limit that cannot be.
        """
        earlier = await self._kept.earlier(keyed)
        if earlier is not None:
            return earlier
        changes = new.limits.model_dump(exclude_none=True)

        def change(standing: Limits | None) -> Limits:
            return msgspec.structs.replace(standing or self._configured, **changes)

        said = ", ".join(f"{name}={value}" for name, value in changes.items())

        def beside(stored: StoredLimits) -> Beside:
            act = self._audit.act(by, "tool_limits.set", f"revision {stored.revision}", said)
            return Beside(act, entry_of(keyed, _answer(stored)))

        try:
            stored = await self._database.run(
                self._store.set,
                change,
                by,
                self._clock.at(),
                new.expected_revision,
                beside,
            )
        except Conflict:
            # The same request may have moved the revision, or taken the key, a moment ago.
            earlier = await self._kept.earlier(keyed)
            if earlier is None:
                raise
            return earlier
        return _answer(stored)


def _answer(stored: StoredLimits) -> Answer:
    return Answer(200, _view(stored).model_dump_json())


def _view(stored: StoredLimits) -> ToolLimitsView:
    return ToolLimitsView(
        limits=LimitsView(**msgspec.structs.asdict(stored.limits)),
        revision=stored.revision,
        set_by=stored.set_by,
        set_at=stored.set_at or None,
    )
