"""Writes administrative acts down."""

from collections.abc import Callable
from contextvars import ContextVar

from redshank_shared.domain.ids import new_id
from redshank_shared.stores.admin_audits import AdminAct, AdminAudits
from redshank_shared.stores.database import Database
from redshank_shared.stores.paging import Page

_written: ContextVar[list[str] | None] = ContextVar("acts written in this request", default=None)


class AdminAudit:
    """`at`: the present moment, RFC 3339 UTC; `now_ms` with `randomness` make ids."""

    def __init__(
        self,
        database: Database,
        audits: AdminAudits,
        at: Callable[[], str],
        now_ms: Callable[[], int],
        randomness: Callable[[int], bytes],
    ) -> None:
        self._database = database
        self._audits = audits
        self._at = at
        self._now_ms = now_ms
        self._randomness = randomness

    async def record(self, who: str, act: str, target: str, detail: str = "") -> None:
        """Write down that `who` did this, once it is done. `act` is a noun with a past verb, such
        as `rule.added`; `target` names the thing; `detail` must hold no secret (B-33).
        """
        await self._database.run(self._audits.append, self.act(who, act, target, detail))

    def act(self, who: str, act: str, target: str, detail: str = "") -> AdminAct:
        """The same to be written in the transaction that carries it out."""
        written = _written.get()
        if written is not None:
            written.append(act)
        audit_id = new_id("aud", self._now_ms(), self._randomness(8))
        return AdminAct(audit_id, self._at(), who, act, target, detail)

    async def page(self, who: str, act: str, limit: int, cursor: str | None) -> Page[AdminAct]:
        """Acts, the newest first."""
        return await self._database.run(self._audits.page, who, act, limit, cursor)


def repeated() -> None:
    """The present request gets the answer that it got before: it is no act of its own."""
    written = _written.get()
    if written is not None:
        written.append("repeated")


def begin_request() -> list[str]:
    """A list to which each act of the present request is added as it is recorded."""
    acts: list[str] = []
    _written.set(acts)
    return acts
