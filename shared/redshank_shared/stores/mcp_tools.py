"""What was accepted of each MCP server's tools, what their servers say of them since (F64)."""

from collections.abc import Sequence
from typing import Any

import msgspec
from sqlalchemy import Row, and_, func, select, update

from redshank_shared.stores.database import Database
from redshank_shared.stores.mcp_tables import mcp_tools
from redshank_shared.stores.text import storable

FIRST_SIGHT = "first sight"


class SeenTool(msgspec.Struct, frozen=True):
    """A tool as its server describes it: `digest` of all of it, `description` and `input_schema`
    (JSON text) as far as they are shown.
    """

    server: str
    tool: str
    digest: str
    description: str
    input_schema: str


class AcceptedTool(SeenTool, frozen=True):
    """A tool as it was accepted, by whom (FIRST_SIGHT: nobody asked), when (RFC 3339 UTC). The
    `changed_` fields are what its server said last, empty while it says what was accepted.
    """

    accepted_at: str = ""
    accepted_by: str = ""
    changed_digest: str = ""
    changed_description: str = ""
    changed_schema: str = ""
    changed_at: str = ""


_FIELDS = tuple(field.name for field in msgspec.structs.fields(AcceptedTool))
_UNCHANGED = dict.fromkeys(
    ("changed_digest", "changed_description", "changed_schema", "changed_at"), ""
)


class McpTools:
    """The accepted tools of the whole cluster."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def saw(self, seen: SeenTool, at: str) -> AcceptedTool:
        """The tool as it is accepted, after it was seen like this: at first sight it is accepted;
        another digest than the accepted one is noted as a change.
        """
        found = self._found(seen.server, seen.tool)
        if found is None:
            self._add(seen, at)
            found = self._found(seen.server, seen.tool)
            assert found is not None
        if seen.digest == found.digest:
            return self._as_accepted(found)
        if seen.digest == found.changed_digest:
            return found
        self._note(seen, at)
        return msgspec.structs.replace(
            found,
            changed_digest=seen.digest,
            changed_description=seen.description,
            changed_schema=seen.input_schema,
            changed_at=at,
        )

    def saw_all(self, server: str, seen: Sequence[SeenTool], at: str) -> None:
        """`saw` for many tools of one server: those that are new in one statement."""
        known = {found.tool: found for found in self.of(server)}
        new = [each for each in seen if storable(each.tool) not in known]
        if new:
            rows = {
                storable(each.tool): _stored(each) | _first_sight(at) | _UNCHANGED for each in new
            }
            statement = self._database.dialect.insert(mcp_tools).on_conflict_do_nothing(
                index_elements=["server", "tool"]
            )
            with self._database.begin() as connection:
                connection.execute(statement, [*rows.values()])
        for each in seen:
            found = known.get(storable(each.tool))
            if found is not None and each.digest not in (found.digest, found.changed_digest):
                self._note(each, at)

    def accept(self, seen: SeenTool, by: str, at: str) -> None:
        """From now on the tool is accepted as it is seen here."""
        values = _stored(seen) | {"accepted_at": at, "accepted_by": storable(by)} | _UNCHANGED
        statement = update(mcp_tools).where(_named(seen.server, seen.tool)).values(**values)
        with self._database.begin() as connection:
            connection.execute(statement)

    def accept_change(self, server: str, tool: str, digest: str, by: str, at: str) -> bool:
        """Accept what the tool changed to; False where this digest is not its change (any more)."""
        columns = mcp_tools.c
        statement = (
            update(mcp_tools)
            .where(_named(server, tool), columns.changed_digest == storable(digest))
            .where(columns.changed_digest != "")
            .values(
                digest=columns.changed_digest,
                description=columns.changed_description,
                input_schema=columns.changed_schema,
                accepted_at=at,
                accepted_by=storable(by),
                **_UNCHANGED,
            )
        )
        with self._database.begin() as connection:
            return connection.execute(statement).rowcount == 1

    def of(self, server: str) -> list[AcceptedTool]:
        """All of a server's, by name."""
        columns = mcp_tools.c
        statement = (
            select(mcp_tools).where(columns.server == storable(server)).order_by(columns.tool)
        )
        with self._database.read() as connection:
            return [_accepted(row) for row in connection.execute(statement)]

    def changed_counts(self) -> dict[str, int]:
        """How many tools of each server differ from what was accepted; none is left out."""
        columns = mcp_tools.c
        statement = (
            select(columns.server, func.count())
            .where(columns.changed_digest != "")
            .group_by(columns.server)
        )
        with self._database.read() as connection:
            return {server: count for server, count in connection.execute(statement)}

    def _found(self, server: str, tool: str) -> AcceptedTool | None:
        with self._database.read() as connection:
            row = connection.execute(select(mcp_tools).where(_named(server, tool))).first()
        return None if row is None else _accepted(row)

    def _add(self, seen: SeenTool, at: str) -> None:
        """Two nodes may see it at once: the first one's word stands."""
        values = _stored(seen) | _first_sight(at) | _UNCHANGED
        statement = self._database.dialect.insert(mcp_tools).values(**values)
        with self._database.begin() as connection:
            connection.execute(statement.on_conflict_do_nothing(index_elements=["server", "tool"]))

    def _as_accepted(self, found: AcceptedTool) -> AcceptedTool:
        """Its server says again what was accepted: there is no change (any more)."""
        if not found.changed_digest:
            return found
        statement = update(mcp_tools).where(_named(found.server, found.tool)).values(**_UNCHANGED)
        with self._database.begin() as connection:
            connection.execute(statement)
        return msgspec.structs.replace(found, **_UNCHANGED)

    def _note(self, seen: SeenTool, at: str) -> None:
        values = {
            "changed_digest": seen.digest,
            "changed_description": storable(seen.description),
            "changed_schema": storable(seen.input_schema),
            "changed_at": at,
        }
        statement = update(mcp_tools).where(_named(seen.server, seen.tool)).values(**values)
        with self._database.begin() as connection:
            connection.execute(statement)


def _named(server: str, tool: str) -> Any:
    columns = mcp_tools.c
    return and_(columns.server == storable(server), columns.tool == storable(tool))


def _first_sight(at: str) -> dict[str, str]:
    return {"accepted_at": at, "accepted_by": FIRST_SIGHT}


def _stored(seen: SeenTool) -> dict[str, str]:
    return {name: storable(getattr(seen, name)) for name in SeenTool.__struct_fields__}


def _accepted(row: Row[Any]) -> AcceptedTool:
    known = row._mapping
    return AcceptedTool(**{name: known[name] for name in _FIELDS})
