"""Commands of agents on a machine that one `redshank up` runs: confined, refused, set free."""

import json
from pathlib import Path

import httpx
import pytest

from tests.e2e.redshank_up import Home

SECONDS = 60.0


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "home")


def node_health(home: Home) -> dict[str, object]:
    url = f"http://127.0.0.1:{home.node_port}/health"
    sandbox: dict[str, object] = httpx.get(url, trust_env=False).json()["sandbox"]
    return sandbox


def can(home: Home) -> str:
    """What confines commands on this machine, as its doctor finds it."""
    found = {each["name"]: each for each in json.loads(home.run("doctor", "-o", "json").stdout)}
    return str(found["sandbox"]["says"]).partition(":")[0]


def run(home: Home, line: str) -> str:
    done = home.run("run", line, "--mode", "bypassPermissions", "--wait", seconds=SECONDS)
    return done.stdout + done.stderr


@pytest.mark.req("B-30")
def test_commands_see_their_workspace_and_nothing_of_the_node(home: Home) -> None:
    if can(home) != "bwrap":
        pytest.skip("this machine permits no user namespaces")
    data = home.workspace / "data"
    home.data = data
    with home.up() as up:
        up.ready()
        assert "confined by bwrap" in up.text
        health = node_health(home)
        assert health["backend"] == "bwrap"
        assert health["levels"] == ["read_only", "workspace_write", "network_enabled"]
        token = (data / "admin.token").read_text().strip()
        said = run(home, f"run: cat {data}/admin.token {data}/vault.key {data}/redshank.db; ls -a")
        assert token not in said
        assert "vault.key" not in said.replace(f"{data}/vault.key", "")
        assert "data" in said
        said = run(home, f"run: cat /proc/*/environ </dev/tcp/127.0.0.1/{home.console_port}")
        assert "refused" in said.lower() or "unreachable" in said.lower()
        said = run(home, "run: echo kept > file && cat file")
        assert "kept" in said
        assert (home.workspace / "file").read_text() == "kept\n"


def test_a_node_that_cannot_confine_starts_and_refuses_with_what_to_do(home: Home) -> None:
    # Landlock cannot cover a part of what it permits: here that is the data folder.
    home.data = home.workspace / "data"
    home.environ["REDSHANK_SANDBOX__BACKEND"] = "landlock"
    with home.up() as up:
        up.ready()
        assert "commands refused, nothing confines them here" in up.text
        assert node_health(home)["levels"] == []
        # Nobody is asked about what cannot run.
        done = home.run("run", "run: echo ran > file", "--wait", seconds=SECONDS)
        said = done.stdout + done.stderr
        assert "sandbox: bash needs workspace_write, this node cannot give it" in said
        assert not (home.workspace / "file").exists()


def test_commands_run_unconfined_only_where_the_operator_said_so(home: Home) -> None:
    outside = home.folder / "outside.txt"
    outside.write_text("seen from a command\n")
    home.environ["REDSHANK_SANDBOX__BACKEND"] = "none"
    with home.up() as up:
        up.ready()
        assert "commands not confined: sandbox.backend is none" in up.text
        assert node_health(home)["levels"] == ["inherited"]
        assert "seen from a command" in run(home, f"run: cat {outside}")


def test_the_network_is_there_where_the_operator_gave_it(home: Home) -> None:
    if can(home) not in ("bwrap", "landlock"):
        pytest.skip("nothing confines commands on this machine")
    home.environ["REDSHANK_SANDBOX__BASH"] = "network_enabled"
    with home.up() as up:
        up.ready()
        reach = f"exec 3<>/dev/tcp/127.0.0.1/{home.console_port} && echo reached it"
        assert "reached it" in run(home, f"run: {reach}")


def test_a_doctor_names_what_confines_here(home: Home) -> None:
    text = (Path(__file__).parents[2] / "docs" / "sandbox.md").read_text()
    assert "$ redshank doctor\n" in text
    assert can(home) in ("bwrap", "landlock", "bash is refused")
    home.environ["REDSHANK_SANDBOX__BACKEND"] = "none"
    assert can(home) == "the operator chose it"
