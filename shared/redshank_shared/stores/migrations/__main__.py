"""`python -m redshank_shared.stores.migrations`: brings the configured database to this version."""

import sys

from redshank_shared.domain.errors import RedshankError
from redshank_shared.settings.environment import process_environment
from redshank_shared.settings.load import load
from redshank_shared.stores.database import Database
from redshank_shared.stores.migrations.schema import migrate


def main() -> int:
    """0 when the database is at this version; 2, with one line on standard error, if it is not."""
    try:
        settings = load(None, process_environment())
        database = Database(settings.database.url)
        try:
            migrate(database)
        finally:
            database.close()
    except RedshankError as error:
        sys.stderr.write(f"redshank migrate: {error.detail}\n")
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
