"""Each profile is used from the command line, under its own names."""

import json
from pathlib import Path

import pytest

from tests.e2e.document_world import *  # noqa: F403 - fixtures are found by name
from tests.e2e.document_world import follow
from tests.e2e.redshank_up import Home, Up

pytestmark = pytest.mark.timeout(180)


@pytest.fixture(scope="module", autouse=True)
def read_me(home: Home) -> None:
    """What there is to read in the workspace."""
    (home.workspace / "README.md").write_text("# The redshank\nA wader.\n")


@pytest.mark.req("T-28", "C-1", "C-2")
def test_the_commands_of_the_document_do_what_it_says(home: Home, running: Up) -> None:
    assert follow(home, "docs/profiles.md") >= 6


@pytest.mark.parametrize(
    ("profile", "text", "tool"),
    [
        ("kheish", "read: README.md", "read_file"),
        ("turnstone", "search: wader", "search"),
        ("default", "search: wader", "grep_search"),
    ],
)
def test_the_demo_uses_the_names_of_the_profile(
    home: Home, running: Up, profile: str, text: str, tool: str
) -> None:
    done = home.run("run", "--profile", profile, text, "--wait")

    assert done.returncode == 0, done.stderr
    assert f"{tool} returned" in done.stdout
    assert "wader" in done.stdout


def test_a_shell_asks_in_kheish_and_in_turnstone(home: Home, running: Up) -> None:
    for profile in ("kheish", "turnstone"):
        waits = home.run("run", "--profile", profile, "run: echo hi > a.txt", "--wait")
        assert waits.returncode == 6, waits.stderr
        assert not (home.workspace / "a.txt").exists()


@pytest.mark.req("C-1", "C-4", "C-6")
def test_cireilclaw_works_under_its_own_names_without_asking(home: Home, running: Up) -> None:
    tools = home.folder / "config" / "tools.toml"
    tools.parent.mkdir(exist_ok=True)
    tools.write_text("read = true\nwrite = true\nlist-dir = true\nexec = true\n")
    text = (
        "write: nest.txt four eggs\nthen\nread: nest.txt\n"
        'call: list-dir {"path": "."}\nrun: cat nest.txt'
    )

    done = home.run("run", "--profile", "cireilclaw", text, "--wait")

    assert done.returncode == 0, done.stderr
    for tool in ("write", "read", "list-dir", "exec"):
        assert f"{tool} returned" in done.stdout, done.stdout
    assert done.stdout.count("four eggs") >= 2


@pytest.mark.req("C-9")
def test_cireilclaw_answers_through_its_own_tool(home: Home, running: Up) -> None:
    tools = home.folder / "config" / "tools.toml"
    tools.parent.mkdir(exist_ok=True)
    tools.write_text("read = true\nrespond = true\nno-response = true\n")

    done = home.run("run", "--profile", "cireilclaw", "read: README.md", "--wait", "-o", "json")

    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    log = home.run("ws", "tail", answer["id"], "-o", "json")
    kinds = [json.loads(line)["kind"] for line in log.stdout.splitlines()]
    assert "read returned" in answer["answer"]
    assert "output.emitted" in kinds


def test_an_unknown_profile_is_refused_with_those_there_are(home: Home, running: Up) -> None:
    refused = home.run("run", "--profile", "keish", "read: README.md")

    assert refused.returncode != 0
    assert "default, turnstone, kheish, cireilclaw" in refused.stderr


@pytest.mark.req("C-2")
def test_a_dry_run_names_each_thing_to_mend_and_a_node_does_not_start(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    (home.folder / "mine.toml").write_text('title = "Mine"\n[tools]\nbsh = {}\n')
    (home.folder / "tools.toml").write_text("raed = false\n")
    config = home.folder / "redshank.toml"
    config.write_text(
        '[default]\nprofile = "mien"\n'
        f'[profiles.mine]\nfile = "{home.folder / "mine.toml"}"\n'
        f'[profiles.kheish]\ntools_config = "{home.folder / "tools.toml"}"\n'
        '[profiles.turnstone]\ndefaults = { serach = "allow" }\n'
    )

    looked = home.run("dry-run", "--config", str(config))
    started = home.run("node", "--config", str(config))

    assert looked.returncode == 1
    assert "profile default (Redshank)" in looked.stdout
    for field in (
        "tools.bsh: ",
        "raed: ",
        "profiles.turnstone.defaults.serach: ",
        "default.profile: ",
    ):
        assert f"redshank dry-run: {field}" in looked.stderr
    assert "did you mean bash?" in looked.stderr
    assert "did you mean read?" in looked.stderr or "did you mean read_file?" in looked.stderr
    assert started.returncode == 2
    assert "redshank node: " in started.stderr


def test_a_dry_run_of_a_file_that_cannot_be_read_ends_with_1(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    config = home.folder / "redshank.toml"
    config.write_text("[profiles]\nmine = 1\n")

    looked = home.run("dry-run", "--config", str(config))

    assert looked.returncode == 1
    assert "write [profiles.mine] with its keys below" in looked.stderr
