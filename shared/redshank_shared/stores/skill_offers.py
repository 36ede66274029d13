"""What each node's MCP servers offer as prompts, kept as skills of origin `mcp` (T-77)."""

from collections.abc import Iterable, Mapping

import msgspec
from sqlalchemy import Connection, delete, select, update

from redshank_shared.stores.database import Database
from redshank_shared.stores.dialect import now_seconds
from redshank_shared.stores.policy_revisions import moved
from redshank_shared.stores.skill_tables import skill_offers, skills
from redshank_shared.stores.skills import (
    REVISION,
    SkillArgument,
    SkillRow,
    add_row,
    is_row,
    manual_among,
    row_of,
    values_of,
)
from redshank_shared.stores.tables import services
from redshank_shared.stores.text import storable

# Longer than any pause of a node that comes back: it offers anew by itself.
SILENT_SECONDS = 60.0


class OfferedPrompt(msgspec.Struct, frozen=True):
    """A prompt under its skill's name, as one node sees it."""

    name: str
    description: str = ""
    body: str = ""
    arguments: tuple[SkillArgument, ...] = ()


Prompts = tuple[OfferedPrompt, ...]


class SkillChanges(msgspec.Struct, frozen=True):
    """Names of the skills that came, changed, went; `overruled`: those of the first two whose name
    a manual skill has.
    """

    added: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    overruled: tuple[str, ...] = ()


_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(Prompts).decode


class SkillOffers:
    """A prompt is a skill for as long as any node sees it: one that lost the server takes nothing
    from the others. Where nodes see it differently, what was seen last counts.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    def offer(self, node_id: str, offered: Mapping[str, Prompts], at: str) -> SkillChanges:
        """All that this node's servers offer now, in place of what they offered before.

        The same again costs one read. `at`: RFC 3339 UTC.
        """
        texts = {storable(server): _text(prompts) for server, prompts in offered.items()}
        with self._database.read() as connection:
            if _offered_by(connection, node_id) == texts:
                return SkillChanges()
        with self._database.begin() as connection:
            # First of all: two nodes that offer the same at the same time take turns.
            moved(self._database, connection, REVISION)
            before = _offered_by(connection, node_id)
            differing = {
                server for server in before | texts if before.get(server) != texts.get(server)
            }
            for server in differing:
                self._write(connection, node_id, server, texts.get(server), at)
            return _settled(connection, differing, at)

    def forget(
        self, kept: str, at: str, silent_for_seconds: float = SILENT_SECONDS
    ) -> SkillChanges:
        """Take back what nodes offered that left, or were silent for so long; never `kept`'s."""
        heard = select(services.c.service_id).where(
            services.c.heartbeat_at >= now_seconds() - silent_for_seconds
        )
        gone = skill_offers.c.node_id.not_in(heard) & (skill_offers.c.node_id != kept)
        with self._database.read() as connection:
            if connection.execute(select(skill_offers.c.server).where(gone)).first() is None:
                return SkillChanges()
        with self._database.begin() as connection:
            moved(self._database, connection, REVISION)
            statement = delete(skill_offers).where(gone).returning(skill_offers.c.server)
            servers = {server for (server,) in connection.execute(statement)}
            return _settled(connection, servers, at)

    def _write(
        self, connection: Connection, node_id: str, server: str, offered: str | None, at: str
    ) -> None:
        columns = skill_offers.c
        if offered is None:
            mine = (columns.node_id == node_id) & (columns.server == server)
            connection.execute(delete(skill_offers).where(mine))
            return
        said = {"offered": offered, "offered_at": at}
        statement = self._database.dialect.insert(skill_offers).values(
            node_id=node_id, server=server, **said
        )
        key = [columns.node_id, columns.server]
        connection.execute(statement.on_conflict_do_update(index_elements=key, set_=said))


def _text(prompts: Prompts) -> str:
    return storable(_encode(sorted(prompts, key=lambda prompt: prompt.name)).decode())


def _offered_by(connection: Connection, node_id: str) -> dict[str, str]:
    columns = skill_offers.c
    statement = select(columns.server, columns.offered).where(columns.node_id == node_id)
    return {server: offered for server, offered in connection.execute(statement)}


def _settled(connection: Connection, servers: Iterable[str], at: str) -> SkillChanges:
    """Make the skills of these servers what nodes offer of them."""
    added: list[str] = []
    changed: list[str] = []
    removed: list[str] = []
    for server in sorted(servers):
        wanted = _wanted(connection, server)
        mine = (skills.c.origin == "mcp") & (skills.c.server == server)
        known = {row.name: row_of(row) for row in connection.execute(select(skills).where(mine))}
        for name, prompt in wanted.items():
            row = _row(server, prompt, known.get(name), at)
            if name not in known:
                add_row(connection, row)
                added.append(name)
            elif row != known[name]:
                connection.execute(update(skills).where(is_row(row)).values(values_of(row)))
                changed.append(name)
        for name in known.keys() - wanted.keys():
            connection.execute(delete(skills).where(is_row(known[name])))
            removed.append(name)
    overruled = manual_among(connection, added + changed)
    return SkillChanges(
        tuple(added), tuple(changed), tuple(sorted(removed)), tuple(sorted(overruled))
    )


def _wanted(connection: Connection, server: str) -> dict[str, OfferedPrompt]:
    columns = skill_offers.c
    # The last seen of each name overwrites what stood before.
    statement = select(columns.offered).where(columns.server == server)
    statement = statement.order_by(columns.offered_at, columns.node_id)
    found: dict[str, OfferedPrompt] = {}
    for (offered,) in connection.execute(statement):
        found.update((prompt.name, prompt) for prompt in _decode(offered))
    return found


def _row(server: str, prompt: OfferedPrompt, known: SkillRow | None, at: str) -> SkillRow:
    row = SkillRow(
        name=prompt.name,
        origin="mcp",
        server=server,
        description=prompt.description,
        body=prompt.body,
        arguments=prompt.arguments,
        enabled=True,
        created_at=at if known is None else known.created_at,
        updated_at=at,
    )
    if known is not None and msgspec.structs.replace(row, updated_at=known.updated_at) == known:
        return known
    return row
