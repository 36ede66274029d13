"""What was accepted of each MCP server's tools, what their servers say of them since (F64)."""

from collections.abc import Iterable, Sequence
from typing import Any

import msgspec
from sqlalchemy import Row, and_, bindparam, func, select, update

from redshank_shared.domain.mcp_names import PREFIX, server_part, tool_part
from redshank_shared.stores.admin_audits import AdminAct, write_act
from redshank_shared.stores.database import Database
from redshank_shared.stores.mcp_tables import mcp_tools
from redshank_shared.stores.text import storable

FIRST_SIGHT = "first sight"
# More than any server offers at once; one that goes on inventing names fills no database.
MOST_KEPT = 20_000
_AT_ONCE = 500


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
    """The accepted tools of the whole cluster, `most_kept` of a server: of one with more of them
    the others are never accepted.
    """

    def __init__(self, database: Database, most_kept: int = MOST_KEPT) -> None:
        self._database = database
        self._most_kept = most_kept

    def saw(self, seen: SeenTool, at: str) -> AcceptedTool:
        """The tool as it is accepted, after it was seen like this: at first sight it is accepted,
        unless it reads as another one in a turn, whose place it then takes; another digest than
        the accepted one is noted as a change.
        """
        found = self._found(seen.server, seen.tool)
        if found is None:
            self.saw_all(seen.server, [seen], at)
            found = self._found(seen.server, seen.tool)
        if found is None:
            return _changed(AcceptedTool(seen.server, seen.tool, "", "", ""), seen, at)
        if seen.digest == found.digest:
            return self._as_accepted(found)
        if seen.digest == found.changed_digest:
            return found
        self._note([seen], at)
        return _changed(found, seen, at)

    def saw_all(self, server: str, seen: Sequence[SeenTool], at: str) -> None:
        """`saw` for many tools of one server: few transactions, however many there are."""
        known = {found.tool: found for found in self.of(server)}
        new = [each for each in seen if storable(each.tool) not in known]
        new = new[: max(self._most_kept - len(known), 0)]
        if new:
            places = _places(known.values())
            rows = {
                storable(each.tool): _first(each, places.get(tool_part(each.tool)), at)
                for each in new
            }
            # Two nodes may see them at once: the first one's word stands.
            statement = self._database.dialect.insert(mcp_tools).on_conflict_do_nothing(
                index_elements=["server", "tool"]
            )
            with self._database.begin() as connection:
                connection.execute(statement, [*rows.values()])
            known = {found.tool: found for found in self.of(server)}
        self._note([each for each in seen if _differs(each, known.get(storable(each.tool)))], at)

    def accept(self, seen: SeenTool, by: str, at: str) -> None:
        """From now on the tool is accepted as it is seen here."""
        values = _stored(seen) | {"accepted_at": at, "accepted_by": storable(by)} | _UNCHANGED
        statement = update(mcp_tools).where(_named(seen.server, seen.tool)).values(**values)
        with self._database.begin() as connection:
            connection.execute(statement)

    def accept_change(self, server: str, tool: str, digest: str, act: AdminAct) -> bool:
        """Accept what the tool changed to, with the act that it is; False, and nothing written,
        where this digest is not its change (any more).
        """
        columns = mcp_tools.c
        statement = (
            update(mcp_tools)
            .where(_named(server, tool), columns.changed_digest == storable(digest))
            .where(columns.changed_digest != "")
            .values(
                digest=columns.changed_digest,
                description=columns.changed_description,
                input_schema=columns.changed_schema,
                accepted_at=act.at,
                accepted_by=storable(act.who),
                **_UNCHANGED,
            )
        )
        with self._database.begin() as connection:
            if connection.execute(statement).rowcount != 1:
                return False
            write_act(connection, act)
            return True

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

    def changed_names(self) -> frozenset[str]:
        """The names under which models call the tools that differ from what was accepted."""
        columns = mcp_tools.c
        statement = select(columns.server, columns.tool).where(columns.changed_digest != "")
        with self._database.read() as connection:
            return frozenset(
                f"{PREFIX}{server_part(server)}__{tool_part(tool)}"
                for server, tool in connection.execute(statement)
            )

    def _found(self, server: str, tool: str) -> AcceptedTool | None:
        with self._database.read() as connection:
            row = connection.execute(select(mcp_tools).where(_named(server, tool))).first()
        return None if row is None else _accepted(row)

    def _as_accepted(self, found: AcceptedTool) -> AcceptedTool:
        """Its server says again what was accepted: there is no change (any more)."""
        if not found.changed_digest:
            return found
        statement = update(mcp_tools).where(_named(found.server, found.tool)).values(**_UNCHANGED)
        with self._database.begin() as connection:
            connection.execute(statement)
        return msgspec.structs.replace(found, **_UNCHANGED)

    def _note(self, changed: Sequence[SeenTool], at: str) -> None:
        columns = mcp_tools.c
        named = columns.server == bindparam("at_server"), columns.tool == bindparam("at_tool")
        statement = update(mcp_tools).where(*named)
        # So few that nobody waits long for the turn to write.
        for begin in range(0, len(changed), _AT_ONCE):
            rows = [
                {"at_server": storable(each.server), "at_tool": storable(each.tool)}
                | _change(each, at)
                for each in changed[begin : begin + _AT_ONCE]
            ]
            with self._database.begin() as connection:
                connection.execute(statement, rows)


def _named(server: str, tool: str) -> Any:
    columns = mcp_tools.c
    return and_(columns.server == storable(server), columns.tool == storable(tool))


def _differs(seen: SeenTool, found: AcceptedTool | None) -> bool:
    return found is not None and seen.digest not in (found.digest, found.changed_digest)


def _places(known: Iterable[AcceptedTool]) -> dict[str, AcceptedTool]:
    """The tool that was accepted last under each name that turns call it by."""
    ordered = sorted(known, key=lambda each: each.accepted_at)
    return {tool_part(each.tool): each for each in ordered}


def _first(seen: SeenTool, before: AcceptedTool | None, at: str) -> dict[str, str]:
    """The row of a tool at first sight. What was allowed under this name in turns was allowed as it
    was `before`: a server could change a tool unnoticed by one other character in its name.
    """
    if before is None or before.digest == seen.digest:
        accepted = {"accepted_at": at, "accepted_by": FIRST_SIGHT}
        return _stored(seen) | accepted | _UNCHANGED
    same = ("digest", "description", "input_schema", "accepted_at", "accepted_by")
    kept = {name: getattr(before, name) for name in same}
    return _stored(seen) | kept | _change(seen, at)


def _change(seen: SeenTool, at: str) -> dict[str, str]:
    return {
        "changed_digest": seen.digest,
        "changed_description": storable(seen.description),
        "changed_schema": storable(seen.input_schema),
        "changed_at": at,
    }


def _changed(found: AcceptedTool, seen: SeenTool, at: str) -> AcceptedTool:
    return msgspec.structs.replace(
        found,
        changed_digest=seen.digest,
        changed_description=seen.description,
        changed_schema=seen.input_schema,
        changed_at=at,
    )


def _stored(seen: SeenTool) -> dict[str, str]:
    return {name: storable(getattr(seen, name)) for name in SeenTool.__struct_fields__}


def _accepted(row: Row[Any]) -> AcceptedTool:
    known = row._mapping
    return AcceptedTool(**{name: known[name] for name in _FIELDS})
