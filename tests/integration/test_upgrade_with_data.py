"""A database that an earlier version filled is brought up to date with all that it holds."""

from alembic.config import Config
from alembic.runtime.environment import EnvironmentContext
from sqlalchemy import Connection, text

from redshank_shared.stores.database import Database
from redshank_shared.stores.mcp_tools import McpTools, SeenTool
from redshank_shared.stores.migrations.schema import check, current_version, migrate
from redshank_shared.stores.migrations.upgrade import scripts
from redshank_shared.stores.services import Services

AT = "2026-11-30T08:15:00.250Z"


def up_to(connection: Connection, version: str) -> None:
    """Run the migrations to this one, as the program of that time did."""
    script = scripts()
    environment = EnvironmentContext(
        Config(), script, fn=lambda revision, _: script._upgrade_revs(version, revision)
    )
    with environment:
        environment.configure(connection=connection, render_as_batch=True, transactional_ddl=True)
        environment.run_migrations()


def test_a_node_that_was_registered_before_mcp_stays_and_offers_nothing_yet(
    empty_database_url: str,
) -> None:
    database = Database(empty_database_url, synchronous="NORMAL")
    try:
        with database.begin() as connection:
            up_to(connection, "0005")
            connection.execute(
                text(
                    "INSERT INTO services (service_id, kind, address, version, started_at, report, "
                    "heartbeat_at, surface) VALUES ('nd_1', 'node', 'http://x', '1', :at, '{}', "
                    "1.0, '[]')"
                ),
                {"at": AT},
            )
        assert current_version(database) == "0005"
        migrate(database)
        check(database)
        services = Services(database)
        assert not services.is_described("nd_1")
        assert services.describe("nd_1", "[]", '{"servers":[]}')
        assert services.is_described("nd_1")
        tools = McpTools(database)
        assert tools.saw(SeenTool("wiki", "look", "sha256:1", "", "{}"), AT).changed_digest == ""
    finally:
        database.close()
