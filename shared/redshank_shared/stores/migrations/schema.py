"""Brings a database to the schema that this program needs."""

import subprocess
import sys
from pathlib import Path

from sqlalchemy import text

from redshank_shared.domain.errors import Misconfigured, Unavailable
from redshank_shared.stores.database import Database

HEAD = "0008"
_MIGRATION_SECONDS = 600
_UPGRADE = "redshank_shared.stores.migrations.upgrade"


def migrate(database: Database) -> None:
    """Bring the database to HEAD. Any number of processes may do this at once (F44).

    Misconfigured if it is of a newer version; Unavailable with the reason if it does not succeed.
    """
    if _is_at_head(database):
        return
    # Alembic is loaded by that process alone: a start that finds nothing to do never pays for it.
    # The URL may hold a password, so that it goes in by standard input.
    package_folder = Path(__file__).parents[3]
    try:
        done = subprocess.run(
            [sys.executable, "-m", _UPGRADE],
            input=database.url,
            cwd=package_folder,
            capture_output=True,
            text=True,
            timeout=_MIGRATION_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise Unavailable(
            f"the migration did not end within {_MIGRATION_SECONDS} seconds: see who else holds "
            "the database, then try again"
        ) from error
    if done.returncode != 0:
        last = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
        raise Unavailable(f"the database was not migrated: {last}; mend this, then try again")
    check(database)


def check(database: Database) -> None:
    """Return if the database is at HEAD; else Misconfigured names both versions and the mend."""
    if not _is_at_head(database):
        raise Misconfigured(
            f"the database is at schema {current_version(database) or 'none'}, this Redshank needs "
            f"{HEAD}: run `redshank migrate`",
            code="not_migrated",
        )


def current_version(database: Database) -> str | None:
    """The schema version that the database has; None before the first migration."""
    if database.dialect.is_empty():
        return None
    try:
        with database.read() as connection:
            return connection.execute(text("SELECT version_num FROM alembic_version")).scalar()
    except Misconfigured:
        return None


def _is_at_head(database: Database) -> bool:
    version = current_version(database)
    if version is not None and version > HEAD:
        raise Misconfigured(
            f"the database is at schema {version}, this Redshank knows {HEAD} at most: install the "
            "newer Redshank again, or restore a backup from before its migration",
            code="newer_schema",
        )
    return version == HEAD
