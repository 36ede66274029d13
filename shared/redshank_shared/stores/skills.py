"""Skills by name; a manual one wins over an MCP server's (T-77)."""

from collections.abc import Callable, Iterable
from typing import Any, Literal

import msgspec
from sqlalchemy import Connection, Row, and_, delete, func, insert, select, tuple_, update

from redshank_shared.domain.errors import NotAllowed, NotFound
from redshank_shared.stores.admin_audits import AdminAct, write_act
from redshank_shared.stores.database import Database
from redshank_shared.stores.idempotency import IdempotencyEntry, keep_entry
from redshank_shared.stores.paging import Page, checked_limit, cut, decode_cursor, encode_cursor
from redshank_shared.stores.policy_revisions import moved
from redshank_shared.stores.skill_tables import skills
from redshank_shared.stores.text import storable

Origin = Literal["manual", "mcp"]
# The name under which skills have their revision: whoever writes them waits for the others there.
REVISION = "skills"


class SkillArgument(msgspec.Struct, frozen=True):
    """What a skill asks for when it is used; values are strings (T-76)."""

    name: str
    description: str = ""
    required: bool = False


class SkillRow(msgspec.Struct, frozen=True):
    """A skill. `server`: the MCP server whose prompt it is, empty for a manual one. Times are RFC
    3339 UTC.
    """

    name: str
    origin: Origin
    server: str
    description: str
    body: str
    arguments: tuple[SkillArgument, ...]
    enabled: bool
    created_at: str
    updated_at: str


class SkillFilters(msgspec.Struct, frozen=True):
    """Which skills; an empty field means all."""

    origin: str = ""
    server: str = ""


class Listed(msgspec.Struct, frozen=True):
    """A skill, and whether a manual one of the same name stands in its place."""

    row: SkillRow
    overruled: bool


_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(tuple[SkillArgument, ...]).decode
# A change of a manual skill: what it was to what it will be.
Change = Callable[[SkillRow], SkillRow]


class Skills:
    """Manual skills are written here, an MCP server's through SkillOffers alone."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def named(self, name: str) -> tuple[SkillRow, ...]:
        """The skills of this name, the one that counts first; none where there is no such."""
        with self._database.read() as connection:
            return _named(connection, name)

    def page(
        self, filters: SkillFilters, limit: int = 50, cursor: str | None = None
    ) -> Page[Listed]:
        """Skills by name, the manual one first; Invalid names `limit` or `cursor`."""
        limit = checked_limit(limit)
        given = msgspec.structs.asdict(filters)
        wanted = [skills.c[field] == storable(value) for field, value in given.items() if value]
        place = tuple_(skills.c.name, skills.c.origin, skills.c.server)
        statement = select(skills).where(*wanted)
        statement = statement.order_by(skills.c.name, skills.c.origin, skills.c.server)
        if cursor is not None:
            statement = statement.where(place > decode_cursor(cursor, tuple[str, str, str]))
        counting = select(func.count()).select_from(skills).where(*wanted)
        with self._database.read() as connection:
            total = connection.execute(counting).scalar_one()
            found = [row_of(row) for row in connection.execute(statement.limit(limit + 1))]
            manual = manual_among(connection, (row.name for row in found))
        rows, more = cut(found, limit)
        last = rows[-1] if more else None
        following = encode_cursor((last.name, last.origin, last.server)) if last else None
        listed = (Listed(row, row.origin == "mcp" and row.name in manual) for row in rows)
        return Page(tuple(listed), following, total)

    def create(self, row: SkillRow, act: AdminAct, answer: IdempotencyEntry | None = None) -> bool:
        """A new manual skill, with the answer to its sender; False, and nothing written, where
        there is one of its name. IdempotencyRace, and nothing written, where the answer's key is
        taken.
        """
        new = self._database.dialect.insert(skills).values(values_of(row))
        new = new.on_conflict_do_nothing()
        with self._database.begin() as connection:
            moved(self._database, connection, REVISION)
            if connection.execute(new.returning(skills.c.name)).first() is None:
                return False
            write_act(connection, act)
            if answer is not None:
                keep_entry(self._database, connection, answer)
            return True

    def change(self, name: str, change: Change, act: AdminAct) -> SkillRow:
        """The manual skill of this name as `change` makes it. NotFound; NotAllowed
        (`skill_read_only`) where only an MCP server has one of this name.
        """
        with self._database.begin() as connection:
            moved(self._database, connection, REVISION)
            after = change(_manual(connection, name))
            connection.execute(update(skills).where(is_row(after)).values(values_of(after)))
            write_act(connection, act)
            return after

    def remove(self, name: str, act: AdminAct) -> SkillRow:
        """The manual skill of this name as it was, there no more. Raises what `change` does."""
        with self._database.begin() as connection:
            moved(self._database, connection, REVISION)
            before = _manual(connection, name)
            connection.execute(delete(skills).where(is_row(before)))
            write_act(connection, act)
            return before


def manual_among(connection: Connection, names: Iterable[str]) -> set[str]:
    """Those of the names that a manual skill has."""
    listed = list(set(names))
    if not listed:
        return set()
    statement = select(skills.c.name).where(skills.c.origin == "manual", skills.c.name.in_(listed))
    return {name for (name,) in connection.execute(statement)}


def add_row(connection: Connection, row: SkillRow) -> None:
    """Write a skill that is not there yet."""
    connection.execute(insert(skills).values(values_of(row)))


def values_of(row: SkillRow) -> dict[str, Any]:
    """The skill as the table holds it."""
    values: dict[str, Any] = msgspec.structs.asdict(row)
    arguments = _encode(row.arguments).decode()
    texts = {field: storable(text) for field, text in values.items() if isinstance(text, str)}
    return {**values, **texts, "arguments": storable(arguments)}


def row_of(row: Row[Any]) -> SkillRow:
    """The skill that a row of the table holds."""
    return SkillRow(**{**row._asdict(), "arguments": _decode(row.arguments)})


def is_row(row: SkillRow) -> Any:
    """The condition that holds for this skill's row alone."""
    columns = skills.c
    same = columns.name == row.name, columns.origin == row.origin, columns.server == row.server
    return and_(*same)


def _named(connection: Connection, name: str) -> tuple[SkillRow, ...]:
    statement = select(skills).where(skills.c.name == storable(name))
    statement = statement.order_by(skills.c.origin, skills.c.server)
    return tuple(row_of(row) for row in connection.execute(statement))


def _manual(connection: Connection, name: str) -> SkillRow:
    found = _named(connection, name)
    if not found:
        raise NotFound(
            f"there is no skill {name}: GET /v1/skills lists them",
            code="no_such_skill",
            field="name",
        )
    if found[0].origin == "mcp":
        raise NotAllowed(
            f"the skill {name} is a prompt of the MCP server {found[0].server} and can be changed "
            "there alone; POST /v1/skills makes a manual one of this name, which wins over it",
            code="skill_read_only",
            field="name",
        )
    return found[0]
