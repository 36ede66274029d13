"""`python -m redshank_gateway [--config FILE]`: one gateway process."""

import argparse
import asyncio
import sys
from pathlib import Path

from redshank_gateway.bootstrap import GatewayProcess
from redshank_shared import logs
from redshank_shared.domain.errors import RedshankError
from redshank_shared.settings.environment import hide_process, process_environment
from redshank_shared.settings.load import load, secrets_of
from redshank_shared.vault.redaction import Redactor
from redshank_shared.vault.variables import secret_values


def main() -> int:
    """0 after an orderly stop; 2, with one line on standard error, where it cannot start."""
    parser = argparse.ArgumentParser(prog="redshank gateway")
    parser.add_argument("--config", type=Path, default=None, help="redshank.toml to read")
    arguments = parser.parse_args()
    hide_process()
    redactor = Redactor()
    try:
        environ = process_environment()
        settings = load(arguments.config, environ)
        redactor.learn(*secrets_of(settings), *secret_values(environ))
        logs.configure(settings.log.level, settings.log.format, redact=redactor.of_log)
        asyncio.run(GatewayProcess(settings, sys.stdout).run())
    except RedshankError as error:
        sys.stderr.write(f"redshank gateway: {redactor.of_output(error.detail)}\n")
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
