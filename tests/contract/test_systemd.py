"""The systemd units: stopped after the drain, shut in as far as agents' commands allow."""

import shutil
import subprocess

import pytest

from redshank_shared.settings.sections import Node
from tests.contract.deployed import (
    DEPLOY,
    HAND_OVER_SECONDS,
    environment_of,
    seconds,
    settings_under,
    unit,
)

UNITS = ("redshank-console.service", "redshank-gateway.service", "redshank-node.service")
NODE = "redshank-node.service"


def test_there_is_a_unit_for_each_process() -> None:
    assert tuple(sorted(path.name for path in (DEPLOY / "systemd").iterdir())) == UNITS


@pytest.mark.parametrize("name", UNITS)
def test_each_starts_its_process_without_a_privilege(name: str) -> None:
    directives = unit(name)
    part = name.removeprefix("redshank-").removesuffix(".service")
    assert directives["ExecStart"] == [f"/opt/redshank/bin/redshank {part}"]
    assert directives["User"][0] != "root"
    assert directives["NoNewPrivileges"] == ["yes"]
    assert directives["CapabilityBoundingSet"] == [""]
    assert directives["ProtectSystem"] == ["strict"]
    assert directives["ProtectHome"] == ["yes"]
    assert directives["PrivateTmp"] == ["yes"]


@pytest.mark.parametrize("name", UNITS)
def test_each_comes_back_whatever_ends_it(name: str) -> None:
    directives = unit(name)
    assert directives["Restart"] == ["always"]
    assert directives["StartLimitIntervalSec"] == ["0"]


@pytest.mark.parametrize("name", UNITS)
def test_every_variable_is_one_that_the_settings_know(name: str) -> None:
    settings_under(environment_of(unit(name).get("Environment", [])))


@pytest.mark.parametrize("name", UNITS)
def test_no_secret_stands_in_a_unit_which_anyone_may_read(name: str) -> None:
    given = environment_of(unit(name).get("Environment", []))
    assert [each for each in given if "__URL" in each or "SLOT" in each] == []
    assert all(file.lstrip("-").startswith("/etc/") for file in unit(name)["EnvironmentFile"])


def test_the_admin_token_comes_as_a_credential() -> None:
    directives = unit("redshank-console.service")
    assert directives["LoadCredential"] == ["admin-token:/etc/redshank/admin-token"]
    given = environment_of(directives["Environment"])
    assert given["REDSHANK_CONSOLE__ADMIN_TOKEN_FILE"] == "%d/admin-token"


def test_a_node_is_killed_later_than_it_drains() -> None:
    directives = unit(NODE)
    grace = settings_under(environment_of(directives["Environment"])).node.grace_seconds
    assert grace >= Node().grace_seconds
    assert seconds(directives["TimeoutStopSec"][0]) >= grace + HAND_OVER_SECONDS + 5


def test_commands_in_hand_get_the_grace_but_none_outlives_the_node() -> None:
    """mixed: SIGTERM to the node alone, SIGKILL at the end to all that is left of the group."""
    assert unit(NODE)["KillMode"] == ["mixed"]


@pytest.mark.parametrize(
    "directive",
    [
        "MemoryDenyWriteExecute",
        "RestrictNamespaces",
        "LockPersonality",
        "ProcSubset",
        "ProtectKernelTunables",
        "ProtectKernelLogs",
        "ProtectHostname",
        "SystemCallFilter",
        "UMask",
    ],
)
def test_what_agents_commands_need_stays_allowed_on_a_node(directive: str) -> None:
    """Compilers just in time, a sandbox with its own /proc, debuggers, files with usual modes."""
    assert directive not in unit(NODE)
    assert directive in unit("redshank-console.service")


def test_a_node_may_write_where_its_tools_work() -> None:
    directives = unit(NODE)
    workspace = "/var/lib/redshank-node/workspace"
    given = environment_of(directives["Environment"])
    assert given["REDSHANK_NODE__WORKSPACE"] == workspace
    assert directives["StateDirectory"][0].split()[-1] == workspace.removeprefix("/var/lib/")


def test_the_gateway_shares_neither_user_nor_secrets_with_the_others() -> None:
    users = [unit(name)["User"][0] for name in UNITS]
    assert len(set(users)) == len(users)
    assert unit("redshank-gateway.service")["EnvironmentFile"] == ["/etc/redshank/gateway.env"]


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="no systemd here")
def test_systemd_understands_every_line() -> None:
    done = subprocess.run(
        ["systemd-analyze", "verify", *(str(DEPLOY / "systemd" / name) for name in UNITS)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    # Only that the program is not installed on this machine may be said.
    complaints = [line for line in done.stderr.splitlines() if "/opt/redshank" not in line]
    assert [line for line in complaints if "redshank-" in line] == []
