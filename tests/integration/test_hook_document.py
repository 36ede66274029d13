"""docs/hooks.md: its configuration loads, its program answers as it says (F48)."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from redshank_node.engine.hook_tools import tools_of_hooks
from redshank_node.tools.builtin import grep_search, read_file
from redshank_node.tools.catalog import BUILTIN
from redshank_shared.settings.environment import process_environment
from redshank_shared.settings.hooks import Hook, HookAgent
from redshank_shared.settings.load import load
from tests.e2e.test_readme import ROOT, prints, steps

DOCUMENT = (ROOT / "docs" / "hooks.md").read_text()


def block(language: str) -> str:
    """The document's blocks of this language."""
    return "\n".join(re.findall(rf"```{language}\n(.*?)```", DOCUMENT, re.S))


@pytest.mark.fault("F48")
@pytest.mark.req("B-31")
def test_the_tables_of_the_document_are_read(tmp_path: Path) -> None:
    file = tmp_path / "redshank.toml"
    file.write_text(block("toml"))

    first, second, third = load(file, {"HOME": str(tmp_path)}).hooks

    assert first == Hook(
        "docs-gate",
        "permission_request",
        ("write_file", "edit_file"),
        command=("python3", "/etc/redshank/gate.py"),
    )
    assert (second.url, second.failure_policy) == ("https://gate.example/advice", "open")
    assert third.agent is not None
    assert third.agent.prompt.startswith("Commands that only look are fine.")
    assert tools_of_hooks([third], BUILTIN) == {"reviewer": (read_file.TOOL, grep_search.TOOL)}


@pytest.mark.fault("F48")
@pytest.mark.req("B-31", "K-78")
def test_the_program_of_the_document_answers_as_the_document_says(tmp_path: Path) -> None:
    (tmp_path / "gate.py").write_text(block("python"))
    path = f"{Path(sys.executable).parent}:{process_environment()['PATH']}"
    ran = 0
    for command, lines in steps("docs/hooks.md"):
        done = subprocess.run(
            ["bash", "-c", command],
            cwd=tmp_path,
            env={"PATH": path},
            capture_output=True,
            text=True,
            timeout=30,
            check=True,
        )
        assert prints(lines, done.stdout), done.stdout
        ran += 1
    assert ran == 2


@pytest.mark.req("B-31")
def test_every_key_of_a_hook_is_documented_with_its_default() -> None:
    table, agent = DOCUMENT.split("## A hook that is an agent")
    pattern = re.compile(r"^\| `([a-z_]+)` \|([^|]*)\|[^|]*\|[^|]*\|$", re.M)
    rows, agents = (dict(pattern.findall(part)) for part in (table, agent))

    assert list(rows) == list(Hook.__struct_fields__)
    assert set(agents) == {*HookAgent.__struct_fields__} - {"tools"} | {"tool_surface"}
    assert rows["timeout_seconds"].strip(" `") == "10`, of an agent `30"
    assert agents["steps"].strip(" `") == "8"
    assert rows["retries"].strip(" `") == "1"
