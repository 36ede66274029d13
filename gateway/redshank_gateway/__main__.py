"""`python -m redshank_gateway [--config FILE]`: one gateway process."""

import argparse
import asyncio
import sys
from pathlib import Path

from redshank_gateway.bootstrap import GatewayProcess
from redshank_shared import logs
from redshank_shared.domain.errors import RedshankError
from redshank_shared.settings.environment import process_environment
from redshank_shared.settings.load import load, secrets_of


def main() -> int:
    """0 after an orderly stop; 2, with one line on standard error, where it cannot start."""
    parser = argparse.ArgumentParser(prog="redshank gateway")
    parser.add_argument("--config", type=Path, default=None, help="redshank.toml to read")
    arguments = parser.parse_args()
    try:
        settings = load(arguments.config, process_environment())
        logs.configure(settings.log.level, settings.log.format, secrets=secrets_of(settings))
        asyncio.run(GatewayProcess(settings, sys.stdout).run())
    except RedshankError as error:
        sys.stderr.write(f"redshank gateway: {error.detail}\n")
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
