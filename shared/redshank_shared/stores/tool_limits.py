"""Runtime limits as they were set, each under its revision."""

from collections.abc import Callable

import msgspec
from sqlalchemy import insert, select

from redshank_shared.domain.errors import Conflict
from redshank_shared.domain.limits import Limits, checked
from redshank_shared.stores.database import Database
from redshank_shared.stores.permission_rules import Beside, write_beside
from redshank_shared.stores.policy_revisions import moved
from redshank_shared.stores.tables import tool_limits
from redshank_shared.stores.text import storable

REVISION = "tool_limits"

_decode = msgspec.json.Decoder(Limits).decode


class StoredLimits(msgspec.Struct, frozen=True):
    """Limits with who set them when (RFC 3339 UTC). Revision 0: nothing was ever set."""

    revision: int
    limits: Limits
    set_by: str = ""
    set_at: str = ""


Change = Callable[[Limits | None], Limits]
# What goes beside the limits as stored.
MakeBeside = Callable[[StoredLimits], Beside]


class ToolLimits:
    """Every change is a further row, so that the history of limits can be read."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def current(self) -> StoredLimits | None:
        """What was set last, if anything was."""
        statement = select(tool_limits).order_by(tool_limits.c.revision.desc()).limit(1)
        with self._database.read() as connection:
            row = connection.execute(statement).first()
        if row is None:
            return None
        return StoredLimits(row.revision, _decode(row.limits), row.set_by, row.set_at)

    def set(
        self,
        change: Change,
        by: str,
        at: str,
        expected_revision: int | None = None,
        make_beside: MakeBeside | None = None,
    ) -> StoredLimits:
        """Write what `change` makes of the standing limits (None: never set) as the next revision.

        Conflict where `expected_revision` is no longer the standing one, Invalid for limits that
        cannot be; nothing is written then. `make_beside` gives what is written in the same
        transaction; IdempotencyRace, and nothing written, where its answer's key is taken.
        """
        with self._database.begin() as connection:
            # First of all: whoever changes the limits at the same time waits here.
            revision = moved(self._database, connection, REVISION)
            if expected_revision is not None and expected_revision != revision - 1:
                raise Conflict(
                    f"the limits have revision {revision - 1}, not {expected_revision}: "
                    f"read them again, then change what is there now",
                    code="revision_moved",
                    field="expected_revision",
                )
            last = connection.execute(
                select(tool_limits.c.limits).order_by(tool_limits.c.revision.desc()).limit(1)
            ).scalar()
            limits = checked(change(_decode(last) if last is not None else None))
            stored = StoredLimits(revision, limits, storable(by), at)
            connection.execute(
                insert(tool_limits).values(
                    revision=revision,
                    limits=msgspec.json.encode(limits).decode(),
                    set_by=stored.set_by,
                    set_at=at,
                )
            )
            if make_beside is not None:
                write_beside(self._database, connection, make_beside(stored))
        return stored
