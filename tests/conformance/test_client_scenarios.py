"""The scenarios of the public MCP conformance suite for clients: `make conformance`."""

import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from redshank_shared.settings.environment import process_environment

ROOT = Path(__file__).parents[2]
MODULES = ROOT / ".cache" / "conformance" / "node_modules"
SUITE = MODULES / "@modelcontextprotocol" / "conformance" / "dist" / "index.js"
NODE = MODULES / "node" / "bin" / "node"
CLIENT = Path(__file__).with_name("client.py")
SECONDS = 60
# The suite's own set `core`: what a client has to do, as of the protocol's version 2025-11-25.
REQUIRED = [
    "initialize",
    "tools_call",
    "elicitation-sep1034-client-defaults",
    "sse-retry",
    "auth/metadata-default",
    "auth/metadata-var1",
    "auth/metadata-var2",
    "auth/metadata-var3",
    "auth/basic-cimd",
    "auth/scope-from-www-authenticate",
    "auth/scope-from-scopes-supported",
    "auth/scope-omitted-when-undefined",
    "auth/scope-step-up",
    "auth/scope-retry-limit",
    "auth/token-endpoint-auth-basic",
    "auth/token-endpoint-auth-post",
    "auth/token-endpoint-auth-none",
    "auth/pre-registration",
]
# Its set `draft`.
AHEAD = [
    "auth/resource-mismatch",
    "auth/offline-access-scope",
    "auth/offline-access-not-supported",
]


@pytest.mark.req("B-11")
@pytest.mark.timeout(SECONDS * 2)
@pytest.mark.parametrize("scenario", REQUIRED + AHEAD)
def test_a_scenario_passes(scenario: str, sqlite_template: Path) -> None:
    if not SUITE.exists():
        pytest.skip("the suite is not installed: make conformance")
    path = [str(ROOT / each) for each in ("shared", "node", "console", "gateway", "")]
    client = shlex.join((sys.executable, str(CLIENT), str(sqlite_template)))
    done = subprocess.run(
        [
            *(NODE, SUITE, "client", "--scenario", scenario),
            *("--timeout", f"{SECONDS}000", "--command", client),
        ],
        env={**process_environment(), "PYTHONPATH": ":".join(path)},
        capture_output=True,
        text=True,
        timeout=SECONDS * 1.5,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "OVERALL: PASSED" in done.stdout + done.stderr
