"""`python -m redshank_node [--config FILE]`: one worker process."""

import argparse
import asyncio
import sys
from pathlib import Path

from redshank_node.bootstrap import Node
from redshank_shared import logs
from redshank_shared.domain.errors import RedshankError
from redshank_shared.settings.environment import process_environment
from redshank_shared.settings.load import load, secrets_of
from redshank_shared.settings.models import check_keys


def main() -> int:
    """0 after an orderly stop; 2, with one line on standard error, where the node cannot start."""
    parser = argparse.ArgumentParser(prog="redshank node")
    parser.add_argument("--config", type=Path, default=None, help="redshank.toml to read")
    arguments = parser.parse_args()
    try:
        settings = load(arguments.config, process_environment())
        check_keys(settings)
        logs.configure(settings.log.level, settings.log.format, secrets=secrets_of(settings))
        asyncio.run(Node(settings).run())
    except RedshankError as error:
        sys.stderr.write(f"redshank node: {error.detail}\n")
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
