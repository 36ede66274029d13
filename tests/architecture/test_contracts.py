"""Imports go down only: the contracts of pyproject.toml hold."""

import subprocess
import sys
import tomllib
from pathlib import Path

from tests.architecture.sources import ROOT

# Two of the seventeen come with their first import: the MCP door, the chat channels.
CONTRACTS_OF_THE_HOUSE = 15
SECONDS = 100


def test_every_import_contract_is_kept() -> None:
    program = Path(sys.executable).parent / "lint-imports"
    done = subprocess.run(
        [program, "--no-cache"],
        cwd=ROOT,
        env={
            "PYTHONPATH": ":".join(
                str(ROOT / each) for each in ("shared", "node", "console", "gateway")
            )
        },
        capture_output=True,
        text=True,
        timeout=SECONDS,
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]


def test_no_contract_has_gone() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())
    assert len(settings["tool"]["importlinter"]["contracts"]) >= CONTRACTS_OF_THE_HOUSE
