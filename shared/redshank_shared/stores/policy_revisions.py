"""Revisions of stored policy: a number per name that moves with every change."""

from sqlalchemy import Connection, select

from redshank_shared.stores.database import Database
from redshank_shared.stores.tables import policy_revisions


class PolicyRevisions:
    """Cheap to ask: a handful of small rows, one round trip."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def all(self) -> dict[str, int]:
        """Every revision by name; what never changed is missing, which means 0."""
        with self._database.hot_statement() as cursor:
            cursor.execute("SELECT name, revision FROM policy_revisions")
            return dict(cursor.fetchall())


def moved(database: Database, connection: Connection, name: str) -> int:
    """Move a revision within the transaction at hand; the new number.

    Whoever moves the same one waits until that transaction ends.
    """
    columns = policy_revisions.c
    statement = (
        database.dialect.insert(policy_revisions)
        .values(name=name, revision=1)
        .on_conflict_do_update(
            index_elements=[columns.name], set_={"revision": columns.revision + 1}
        )
        .returning(columns.revision)
    )
    return int(connection.execute(statement).scalar_one())


def revision_in(connection: Connection, name: str) -> int:
    """The revision as the transaction at hand sees it."""
    statement = select(policy_revisions.c.revision).where(policy_revisions.c.name == name)
    return int(connection.execute(statement).scalar() or 0)
