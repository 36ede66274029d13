"""Migrations: safe together, told apart by version, the same as the tables in the program."""

import subprocess
import sys
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy import text

from redshank_shared.domain.errors import Misconfigured, Unavailable
from redshank_shared.stores import mcp_tables, skill_tables, tables
from redshank_shared.stores.columns import metadata
from redshank_shared.stores.database import Database
from redshank_shared.stores.migrations.schema import HEAD, check, current_version, migrate
from redshank_shared.stores.migrations.upgrade import scripts

PROGRAM = """
import sys
from redshank_shared.stores.database import Database
from redshank_shared.stores.migrations.schema import check, migrate
sys.stdin.readline()
database = Database(sys.argv[1])
migrate(database)
check(database)
database.close()
"""
SHARED = Path(__file__).parents[2] / "shared"
# Whole consoles with nodes, six of them, start together in tests/e2e/test_first_start.py.
PROCESSES = 3


@pytest.mark.fault("F44")
def test_processes_that_migrate_at_the_same_moment_are_all_well(empty_database_url: str) -> None:
    started = [
        subprocess.Popen(
            [sys.executable, "-c", PROGRAM, empty_database_url],
            cwd=SHARED,
            stdin=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(PROCESSES)
    ]
    for process in started:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    outcomes = [(process.communicate(timeout=60)[1], process.returncode) for process in started]
    assert outcomes == [("", 0)] * PROCESSES


def test_the_migrated_schema_is_the_one_in_the_program(database: Database) -> None:
    one_of_each = (tables.events, mcp_tables.mcp_servers, skill_tables.skills)
    assert {table.name for table in one_of_each} < set(metadata.tables)
    with database.begin() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        assert compare_metadata(context, metadata) == []
    assert scripts().get_current_head() == HEAD


def test_an_unmigrated_database_is_told_from_a_migrated_one(empty_database_url: str) -> None:
    database = Database(empty_database_url)
    assert current_version(database) is None
    with pytest.raises(Misconfigured, match="redshank migrate"):
        check(database)
    migrate(database)
    check(database)
    assert current_version(database) == HEAD
    database.close()


def test_a_database_of_a_newer_version_is_refused_with_both_versions(database: Database) -> None:
    with database.begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    for refuse in (check, migrate):
        with pytest.raises(Misconfigured, match=f"9999.*{HEAD}.*newer Redshank"):
            refuse(database)


def test_a_migration_that_fails_says_why(tmp_path: Path) -> None:
    path = tmp_path / "redshank.db"
    path.write_text("these are no tables, and they are longer than a header" * 10)
    database = Database(f"sqlite:///{path}")
    with pytest.raises(Unavailable, match="not a database"):
        migrate(database)
    database.close()


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("mysql://host/name", "scheme"),
        ("no url", "not a URL"),
        ("sqlite://", "no file"),
        ("sqlite:////no/such/folder/redshank.db", "no folder /no/such/folder; make it"),
    ],
)
def test_a_url_that_names_no_database_is_refused(url: str, why: str) -> None:
    with pytest.raises(Misconfigured, match=why) as refused:
        Database(url)
    assert refused.value.field == "database.url"
