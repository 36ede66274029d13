"""`python -m redshank_node [--config FILE]`: one worker process."""

import argparse
import sys
from pathlib import Path

import uvloop

from redshank_node.bootstrap import Node
from redshank_node.engine.dry_run import DryRun
from redshank_node.mcp_client.looking import looked_at
from redshank_node.tools.catalog import BUILTIN
from redshank_shared import logs
from redshank_shared.domain.errors import RedshankError
from redshank_shared.settings.environment import hide_process, process_environment
from redshank_shared.settings.load import load
from redshank_shared.settings.models import check_keys
from redshank_shared.settings.sections import Settings
from redshank_shared.stores.opening import redactor_of
from redshank_shared.vault.redaction import Redactor


def main() -> int:
    """0 after an orderly stop; 2, with one line on standard error, where the node cannot start.
    With --dry-run 0, or 1 where something must be mended.
    """
    parser = argparse.ArgumentParser(prog="redshank node")
    parser.add_argument("--config", type=Path, default=None, help="redshank.toml to read")
    parser.add_argument("--dry-run", action="store_true", help="look only, call nothing")
    arguments = parser.parse_args()
    hide_process()
    redactor = Redactor()
    try:
        environ = process_environment()
        settings = load(arguments.config, environ)
        if arguments.dry_run:
            return _look(settings, redactor_of(settings, environ))
        check_keys(settings)
        redactor = redactor_of(settings, environ)
        logs.configure(settings.log.level, settings.log.format, redact=redactor.of_log)
        uvloop.run(Node(settings, redactor).run())
    except RedshankError as error:
        sys.stderr.write(f"redshank node: {redactor.of_output(error.detail)}\n")
        return 1 if arguments.dry_run else 2
    return 0


def _look(settings: Settings, redactor: Redactor) -> int:
    servers = uvloop.run(looked_at(settings, redactor.of_output))
    look = DryRun(settings, BUILTIN, servers.lines)
    for line in look.lines():
        sys.stdout.write(f"{redactor.of_output(line)}\n")
    errors = [*look.errors, *servers.errors]
    for error in errors:
        sys.stderr.write(f"redshank dry-run: {redactor.of_output(error)}\n")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
