"""Commands on a machine that one `redshank up` runs: as documented, beyond a turn."""

import re

import pytest

from tests.e2e.document_world import *  # noqa: F403 - fixtures are found by name
from tests.e2e.document_world import follow
from tests.e2e.redshank_up import Home, Up

pytestmark = pytest.mark.timeout(180)


@pytest.mark.req("T-18", "T-21", "K-24")
def test_the_commands_of_the_document_do_what_it_says(home: Home, running: Up) -> None:
    assert follow(home, "docs/tools-processes.md") == 3


@pytest.mark.req("C-11", "C-15")
def test_a_program_runs_on_a_node_with_its_output_in_a_file(home: Home, running: Up) -> None:
    (home.workspace / "long.txt").write_text("low water\n" * 3000)
    asked = 'call: exec {"command": "cat", "args": ["long.txt"]}'
    done = home.run("run", asked, "--mode", "bypassPermissions", "--wait")

    assert '"exitCode":0,"success":true,"stdoutLength":30000' in done.stdout
    (kept,) = (home.workspace / ".exec-output").glob("*-001-cat.out")
    assert kept.stat().st_size == 30000
    assert f'"stdoutPath":".exec-output/{kept.name}"' in done.stdout


@pytest.mark.req("K-24")
def test_a_command_goes_on_after_its_turn_and_ends_with_its_node(home: Home, running: Up) -> None:
    line = '{"command": "echo begun; until [ -e go ]; do sleep 0.1; done; echo on; sleep 300"'
    started = home.run(
        *("run", f'call: bash {line}, "background": true}}', "--name", "long"),
        *("--mode", "bypassPermissions", "--wait"),
    )
    found = re.search(r"task_\w+", started.stdout)
    assert found is not None, started.stdout
    (home.workspace / "go").touch()
    waited = f'call: task_output {{"task_id": "{found[0]}", "wait_seconds": 3}}'
    output = home.run("ws", "send", "long", waited, "--wait")
    assert "is in_progress; it wrote 9 bytes so far" in output.stdout
    assert "> begun\n> on\n" in output.stdout
    running.stop()

    with home.up() as again:
        again.ready()
        output = home.run("ws", "send", "long", waited, "--wait")

    assert f"{found[0]} is failed: node_stopped" in output.stdout
    assert "> begun\n> on\n" in output.stdout
