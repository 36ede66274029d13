"""Permission rules of scope project or user, in the order in which they were added."""

from collections.abc import Callable, Iterable
from typing import Any, Literal

import msgspec
from sqlalchemy import ColumnElement, Connection, Row, delete, func, insert, or_, select, update
from sqlalchemy.sql.expression import and_

from redshank_shared.domain.events import Decision
from redshank_shared.permissions.rules import Origin, Rule
from redshank_shared.stores.admin_audits import AdminAct, write_act
from redshank_shared.stores.database import Database
from redshank_shared.stores.idempotency import IdempotencyEntry, keep_entry
from redshank_shared.stores.paging import Page, checked_limit, cut, decode_cursor, encode_cursor
from redshank_shared.stores.policy_revisions import moved, revision_in
from redshank_shared.stores.tables import RULES, permission_rules
from redshank_shared.stores.text import storable

StoredScope = Literal["project", "user"]
EVERYBODY = "*"
# Every workstream belongs to this one.
PROJECT = "default"


class RuleRow(msgspec.Struct, frozen=True):
    """A stored rule. `subject`: a project's or an owner's name, `*` for all of them.

    `position` is given by the store; `created_at`: RFC 3339 UTC.
    """

    rule_id: str
    scope: StoredScope
    subject: str
    pattern: str
    decision: Decision
    locked: bool
    origin: Origin
    note: str
    created_by: str
    created_at: str
    position: int = 0


class Beside(msgspec.Struct, frozen=True):
    """What is written in the transaction of a change: who did it, the answer to its sender."""

    act: AdminAct | None = None
    answer: IdempotencyEntry | None = None


# What goes beside a rule as stored, and whether it is new.
MakeBeside = Callable[[RuleRow, bool], Beside]


class AllowedAlways(msgspec.Struct, frozen=True):
    """The rule that a person's "always" makes, with what is written beside it."""

    row: RuleRow
    beside: MakeBeside


class RuleFilters(msgspec.Struct, frozen=True):
    """Which rules; an empty field means all."""

    scope: str = ""
    subject: str = ""
    origin: str = ""


class PermissionRules:
    """Every change moves the revision `rules` in its own transaction."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def put(self, row: RuleRow, beside: MakeBeside | None = None) -> tuple[RuleRow, bool]:
        """Write the rule; the row as stored, and whether it is new.

        One of the same scope, subject, pattern is replaced and keeps id and place (K-43).
        IdempotencyRace, and nothing written, where the key of what goes `beside` is taken.
        """
        row = _as_stored(row)
        with self._database.begin() as connection:
            moved(self._database, connection, RULES)
            known = self._same(connection, row)
            row = self._written(connection, row, known)
            if beside is not None:
                write_beside(self._database, connection, beside(row, known is None))
        return row, known is None

    def allow_always(self, connection: Connection, allowed: AllowedAlways) -> None:
        """Write the rule in the transaction of the answer that makes it (T-14). One of the same
        scope, subject, pattern stays, unless it asks: then it is replaced.
        """
        row = _as_stored(allowed.row)
        moved(self._database, connection, RULES)
        known = self._same(connection, row)
        if known is not None and known.decision != "ask":
            return
        row = self._written(connection, row, known)
        write_beside(self._database, connection, allowed.beside(row, known is None))

    def get(self, rule_id: str) -> RuleRow | None:
        """The rule of this id, if there is one."""
        statement = select(permission_rules).where(permission_rules.c.rule_id == storable(rule_id))
        with self._database.read() as connection:
            row = connection.execute(statement).first()
        return None if row is None else _row(row)

    def delete(self, rule_id: str, beside: MakeBeside | None = None) -> RuleRow | None:
        """Take the rule away; the rule as it was, None if there was none."""
        same = permission_rules.c.rule_id == storable(rule_id)
        with self._database.begin() as connection:
            if connection.execute(select(permission_rules).where(same)).first() is None:
                return None
            # Before the row itself, as `put` does: two writers must not wait for each other.
            moved(self._database, connection, RULES)
            statement = delete(permission_rules).where(same).returning(permission_rules)
            found = connection.execute(statement).first()
            row = None if found is None else _row(found)
            if row is not None and beside is not None:
                write_beside(self._database, connection, beside(row, False))
        return row

    def page(
        self, filters: RuleFilters, limit: int = 50, cursor: str | None = None
    ) -> Page[RuleRow]:
        """The rules in the order of their places; Invalid names `limit` or `cursor`."""
        limit = checked_limit(limit)
        wanted = and_(True, *_conditions(filters))
        statement = select(permission_rules).where(wanted).order_by(permission_rules.c.position)
        if cursor is not None:
            statement = statement.where(permission_rules.c.position > decode_cursor(cursor, int))
        counting = select(func.count()).select_from(permission_rules).where(wanted)
        with self._database.read() as connection:
            total = connection.execute(counting).scalar_one()
            rows = list(connection.execute(statement.limit(limit + 1)))
        rows, more = cut(rows, limit)
        following = encode_cursor(rows[-1].position) if more else None
        return Page(tuple(_row(row) for row in rows), following, total)

    def all(self) -> tuple[int, tuple[RuleRow, ...]]:
        """The revision with every rule at it."""
        statement = select(permission_rules).order_by(permission_rules.c.position)
        with self._database.read() as connection:
            revision = revision_in(connection, RULES)
            return revision, tuple(_row(row) for row in connection.execute(statement))

    def in_force(self, owner: str, project: str) -> tuple[int, tuple[Rule, ...]]:
        """The revision with the rules that speak for this owner's calls in this project (K-38)."""
        columns = permission_rules.c
        subjects = or_(
            and_(columns.scope == "user", columns.subject.in_((storable(owner), EVERYBODY))),
            and_(columns.scope == "project", columns.subject.in_((storable(project), EVERYBODY))),
        )
        statement = select(permission_rules).where(subjects).order_by(columns.position)
        with self._database.read() as connection:
            revision = revision_in(connection, RULES)
            rows = [_row(row) for row in connection.execute(statement)]
        return revision, rules_of(rows)

    def _written(self, connection: Connection, row: RuleRow, known: RuleRow | None) -> RuleRow:
        if known is not None:
            row = msgspec.structs.replace(row, rule_id=known.rule_id, position=known.position)
            same = permission_rules.c.rule_id == row.rule_id
            values = msgspec.structs.asdict(row)
            connection.execute(update(permission_rules).where(same).values(values))
            return row
        last = connection.execute(select(func.max(permission_rules.c.position))).scalar()
        row = msgspec.structs.replace(row, position=(last or 0) + 1)
        connection.execute(insert(permission_rules).values(msgspec.structs.asdict(row)))
        return row

    def _same(self, connection: Connection, row: RuleRow) -> RuleRow | None:
        columns = permission_rules.c
        statement = select(permission_rules).where(
            columns.scope == row.scope,
            columns.subject == row.subject,
            columns.pattern == row.pattern,
        )
        found = connection.execute(statement).first()
        return None if found is None else _row(found)


def write_beside(database: Database, connection: Connection, beside: Beside) -> None:
    """Write it in the transaction at hand; IdempotencyRace where its answer's key is taken."""
    if beside.act is not None:
        write_act(connection, beside.act)
    if beside.answer is not None:
        keep_entry(database, connection, beside.answer)


def speaks_for(row: RuleRow, owner: str, project: str) -> bool:
    """Whether the rule is in force for this owner's calls in this project."""
    return row.subject in (EVERYBODY, owner if row.scope == "user" else project)


def rules_of(rows: Iterable[RuleRow]) -> tuple[Rule, ...]:
    """The rows as the engine reads them: in their order, but of those with one pattern, for
    somebody and for everybody, a deny first, then the one that names somebody.
    """
    listed = sorted(rows, key=lambda row: row.position)
    places: dict[tuple[str, str], int] = {}
    for row in listed:
        places.setdefault((row.scope, row.pattern), row.position)
    listed.sort(
        key=lambda row: (
            places[row.scope, row.pattern],
            row.decision != "deny",
            row.subject == EVERYBODY,
        )
    )
    return tuple(
        Rule(row.pattern, row.decision, row.scope, row.origin, row.locked) for row in listed
    )


def _as_stored(row: RuleRow) -> RuleRow:
    return msgspec.structs.replace(
        row,
        subject=storable(row.subject),
        pattern=storable(row.pattern),
        note=storable(row.note),
    )


def _conditions(filters: RuleFilters) -> list[ColumnElement[bool]]:
    given = msgspec.structs.asdict(filters)
    return [permission_rules.c[name] == storable(value) for name, value in given.items() if value]


def _row(row: Row[Any]) -> RuleRow:
    return RuleRow(
        rule_id=row.rule_id,
        scope=row.scope,
        subject=row.subject,
        pattern=row.pattern,
        decision=row.decision,
        locked=row.locked,
        origin=row.origin,
        note=row.note,
        created_by=row.created_by,
        created_at=row.created_at,
        position=row.position,
    )
