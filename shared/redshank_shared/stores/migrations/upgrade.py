"""Runs the migrations that a database lacks: `python -m` this.

The database's URL comes on standard input.
"""

import logging
import sys
from pathlib import Path

from alembic.config import Config
from alembic.runtime.environment import EnvironmentContext
from alembic.runtime.migration import MigrationContext, RevisionStep
from alembic.script import ScriptDirectory
from sqlalchemy import Connection

from redshank_shared.domain.errors import RedshankError
from redshank_shared.stores.columns import metadata
from redshank_shared.stores.database import Database


def upgrade(database: Database) -> None:
    """Run what is missing in one transaction, while no other process does (F44)."""
    with database.migration_lock(), database.begin() as connection:
        run_missing(connection)


def run_missing(connection: Connection) -> None:
    """Run what is missing in the transaction at hand."""
    script = scripts()

    def steps(revision: object, _context: MigrationContext) -> list[RevisionStep]:
        return script._upgrade_revs("head", revision)  # type: ignore[arg-type] # alembic's own way

    environment = EnvironmentContext(Config(), script, fn=steps)
    with environment:
        environment.configure(
            connection=connection,
            target_metadata=metadata,
            render_as_batch=True,
            transactional_ddl=True,
        )
        environment.run_migrations()


def scripts() -> ScriptDirectory:
    """The migrations that ship with this package; no file of configuration is needed."""
    return ScriptDirectory(str(Path(__file__).parent))


def main() -> int:
    """0 when the database is at the newest version; 1 with the reason on standard error."""
    database = Database(sys.stdin.read())
    try:
        upgrade(database)
    except RedshankError as error:
        logging.getLogger(__name__).error("%s", error.detail)
        return 1
    finally:
        database.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
