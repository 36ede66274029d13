"""`python -m redshank_console [--config FILE] [--no-migrate]`: one console process."""

import argparse
import sys
from pathlib import Path

import uvloop

from redshank_console.bootstrap import Console
from redshank_shared import logs
from redshank_shared.domain.errors import RedshankError
from redshank_shared.settings.environment import hide_process, process_environment
from redshank_shared.settings.load import load
from redshank_shared.stores.opening import redactor_of
from redshank_shared.vault.redaction import Redactor


def main() -> int:
    """0 after an orderly stop; 2, with one line on standard error, where it cannot start."""
    parser = argparse.ArgumentParser(prog="redshank console")
    parser.add_argument("--config", type=Path, default=None, help="redshank.toml to read")
    parser.add_argument("--no-migrate", action="store_true", help="leave the database's schema")
    arguments = parser.parse_args()
    status = 0
    hide_process()
    redactor = Redactor()
    try:
        environ = process_environment()
        settings = load(arguments.config, environ)
        redactor = redactor_of(settings, environ)
        logs.configure(settings.log.level, settings.log.format, redact=redactor.of_log)
        console = Console(settings, redactor=redactor)
        uvloop.run(console.run(migrates=not arguments.no_migrate))
    except* RedshankError as errors:
        first = errors.exceptions[0]
        detail = first.detail if isinstance(first, RedshankError) else str(first)
        sys.stderr.write(f"redshank console: {redactor.of_output(detail)}\n")
        status = 2
    return status


if __name__ == "__main__":
    sys.exit(main())
