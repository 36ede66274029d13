"""Who may advance a workstream, who leads: leases by the database's clock."""

from typing import Any

import msgspec
from sqlalchemy import delete, func, or_, select, tuple_
from sqlalchemy.engine.interfaces import DBAPICursor

from redshank_shared.domain.events import Recorded, decode
from redshank_shared.stores.database import Database
from redshank_shared.stores.dialect import now_seconds
from redshank_shared.stores.event_log import read_recorded
from redshank_shared.stores.tables import leaders, workstreams


class Claim(msgspec.Struct, frozen=True):
    """A lease just taken.

    `attempts` counts the claims since the last append by a holder, this one included.
    `previous` is the node whose lease ran out; None after an orderly release. `rules_revision`: of
    the stored permission rules at that moment.
    """

    version: int
    epoch: int
    attempts: int
    previous: str | None
    rules_revision: int = 0


_CLAIM_WIDTH = len(Claim.__struct_fields__)


class Held(msgspec.Struct, frozen=True):
    """A lease that the node still has, and how far its log is."""

    epoch: int
    version: int


class Due(msgspec.Struct, frozen=True):
    """A workstream that waits for a node. `since`: the database's clock, seconds."""

    workstream_id: str
    directed_to: str
    since: float


class Leases:
    """Every statement compares times within the database: no process's clock matters."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def claim(self, workstream_id: str, node_id: str, lease_seconds: float) -> Claim | None:
        """Take the lease if the workstream is pending and nobody alive holds it; else None."""
        with self._database.hot_write() as cursor:
            return self._claim(cursor, workstream_id, node_id, lease_seconds)

    def claim_and_read(
        self, workstream_id: str, node_id: str, lease_seconds: float, known_version: int
    ) -> tuple[Claim, list[Recorded]] | None:
        """`claim`, with the facts behind `known_version` as they are after it."""
        with self._database.hot_write() as cursor:
            if not self._database.dialect.is_in_process:
                return self._claim_with_facts(
                    cursor, workstream_id, node_id, lease_seconds, known_version
                )
            claim = self._claim(cursor, workstream_id, node_id, lease_seconds)
            if claim is None:
                return None
            return claim, read_recorded(self._database, cursor, workstream_id, known_version)

    def renew(self, node_id: str, lease_seconds: float) -> dict[str, Held]:
        """Prolong every lease of the node; those it has, by workstream.

        What is in hand and missing here is fenced. What is here and not in hand (a claim whose
        answer was lost) must be released by the caller, or nobody else ever takes it up.
        """
        with self._database.hot_write() as cursor:
            values = {"b_node": node_id, "b_seconds": float(lease_seconds)}
            rows = self._database.hot.renew.execute(cursor, values).fetchall()
        return {workstream_id: Held(epoch, version) for workstream_id, epoch, version in rows}

    def release(self, workstream_id: str, node_id: str, epoch: int) -> bool:
        """Give the lease back without an append; False if it was not this holder's any more."""
        with self._database.hot_write() as cursor:
            values = {"b_id": workstream_id, "b_node": node_id, "b_epoch": epoch}
            return self._database.hot.release.execute(cursor, values).rowcount == 1

    def due_for_nudge(
        self, idle_seconds: float = 1.0, limit: int = 100, after: Due | None = None
    ) -> list[Due]:
        """Pending workstreams that nobody alive held for longer than this.

        Oldest first; the page behind `after`.
        """
        columns = workstreams.c
        since = func.coalesce(columns.lease_until, columns.pending_since)
        statement = (
            select(columns.id, columns.directed_to, since)
            .where(columns.pending, since < now_seconds() - idle_seconds)
            .order_by(since, columns.id)
            .limit(limit)
        )
        if after is not None:
            statement = statement.where(
                tuple_(since, columns.id) > tuple_(after.since, after.workstream_id)
            )
        with self._database.read() as connection:
            return [Due(*row) for row in connection.execute(statement)]

    def leader(self, name: str, holder: str, seconds: float) -> bool:
        """Take or keep the lead of this name for so long; False while another has it."""
        statement = self._database.dialect.insert(leaders).values(
            name=name, holder=holder, until=now_seconds() + seconds
        )
        mine = or_(leaders.c.holder == holder, leaders.c.until < now_seconds())
        statement = statement.on_conflict_do_update(
            index_elements=[leaders.c.name],
            set_={"holder": holder, "until": now_seconds() + seconds},
            where=mine,
        )
        with self._database.begin() as connection:
            return connection.execute(statement.returning(leaders.c.holder)).first() is not None

    def leave(self, name: str, holder: str) -> None:
        """Give the lead up, if it is this holder's."""
        statement = delete(leaders).where(leaders.c.name == name, leaders.c.holder == holder)
        with self._database.begin() as connection:
            connection.execute(statement)

    def _claim(
        self, cursor: DBAPICursor, workstream_id: str, node_id: str, lease_seconds: float
    ) -> Claim | None:
        values: dict[str, Any] = {
            "b_id": workstream_id,
            "b_node": node_id,
            "b_seconds": float(lease_seconds),
        }
        rows = self._database.hot.claim.execute(cursor, values).fetchall()
        return Claim(*rows[0]) if rows else None

    def _claim_with_facts(
        self,
        cursor: DBAPICursor,
        workstream_id: str,
        node_id: str,
        lease_seconds: float,
        known_version: int,
    ) -> tuple[Claim, list[Recorded]] | None:
        """Both in one statement, which reads the log as it was when the statement began: what
        somebody appended while it waited for the row is read after it.
        """
        values = {
            "b_id": workstream_id,
            "b_node": node_id,
            "b_seconds": float(lease_seconds),
            "b_after": known_version,
        }
        rows = self._database.hot.claim_with_facts.execute(cursor, values).fetchall()
        if not rows:
            return None
        claim = Claim(*rows[0][:_CLAIM_WIDTH])
        facts = [
            Recorded(seq, at, decode(kind, fact))
            for seq, kind, at, fact in (row[_CLAIM_WIDTH:] for row in rows)
            if seq is not None
        ]
        known = facts[-1].seq if facts else known_version
        if known < claim.version:
            facts += read_recorded(self._database, cursor, workstream_id, known)
        return claim, facts
