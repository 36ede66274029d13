"""Hooks of a configuration file in a real `redshank up`: the example of K-78."""

import json
import re
import sys
from pathlib import Path

import pytest

from redshank_console.cli.exits import USAGE, WAITS_FOR_A_PERSON
from tests.e2e.redshank_up import ROOT, Home

pytestmark = pytest.mark.timeout(120)


@pytest.fixture
def home(tmp_path: Path) -> Home:
    """A home whose configuration declares the gate of docs/hooks.md."""
    made = Home(tmp_path / "home")
    document = (ROOT / "docs" / "hooks.md").read_text()
    (gate,) = re.findall(r"```python\n(.*?)```", document, re.S)
    (tmp_path / "gate.py").write_text(str(gate))
    config = tmp_path / "redshank.toml"
    config.write_text(
        '[[hooks]]\nname = "docs-gate"\nevent = "permission_request"\ntools = ["write_file"]\n'
        f"command = {json.dumps([sys.executable, str(tmp_path / 'gate.py')])}\n"
        '[[hooks]]\nname = "reviewer"\nevent = "permission_request"\ntools = ["bash"]\n'
        '[hooks.agent]\nprompt = "look at the notes first"\nmodel = "judge"\n'
        'tool_surface = { allow = ["list_files"] }\n'
        '[models.demo]\nprovider = "demo"\n'
        f'[models.judge]\nprovider = "scripted"\nbase_url = "file:{tmp_path / "judge.json"}"\n'
    )
    look = {"provider_id": "1", "tool": "list_files", "arguments": "{}"}
    steps = [
        {"text": "", "finish": "tool_calls", "calls": [look]},
        {"text": '{"behavior": "approve", "reason": "the notes allow it"}', "finish": "stop"},
    ]
    script = {"by": "answers", "steps": [{"answer": step} for step in steps]}
    (tmp_path / "judge.json").write_text(json.dumps(script))
    made.environ["REDSHANK_CONFIG"] = str(config)
    return made


@pytest.mark.req("K-78", "K-79", "K-44")
def test_what_a_gate_lets_through_runs_and_the_rest_waits_for_a_person(home: Home) -> None:
    with home.up() as up:
        up.ready()
        free = home.run("run", "write: docs/tide.md low", "--name", "free", "--wait")
        asked = home.run("run", "write: src/tide.md low", "--name", "asked", "--wait")
        audits = json.loads(home.run("ws", "audits", "free", "-o", "json").stdout)
        judged = home.run("run", "run: touch judged.txt", "--name", "judged", "--wait")
        verdict = json.loads(home.run("ws", "audits", "judged", "-o", "json").stdout)

    assert free.returncode == 0, free.stderr
    assert (home.workspace / "docs" / "tide.md").read_text().strip() == "low"
    assert asked.returncode == WAITS_FOR_A_PERSON, asked.stderr
    assert not (home.workspace / "src").exists()
    assert [audit["decision"] for audit in audits] == ["allow"]
    assert "the hook docs-gate approves it: docs/ may be written freely" in audits[0]["why"]
    assert judged.returncode == 0, judged.stderr
    assert (home.workspace / "judged.txt").exists()
    assert "the hook reviewer approves it: the notes allow it" in verdict[0]["why"]


@pytest.mark.req("K-80")
def test_a_hook_that_cannot_be_refuses_the_start_with_the_mend(home: Home) -> None:
    config = Path(home.environ["REDSHANK_CONFIG"])
    config.write_text(config.read_text().replace("command =", "comand ="))

    done = home.run("up", "--data", str(home.data))

    assert done.returncode == USAGE
    assert "hook docs-gate has no key comand; did you mean command?" in done.stderr
    assert not home.data.exists()
