"""A machine on which `redshank` is a command, for tests that do what a document says."""

import re
import shlex
import subprocess
from collections.abc import Iterator

import pytest

from tests.e2e.redshank_up import ROOT, Home, Up

BLOCK = re.compile(r"(<!-- skip: [^>]+ -->\n)?```console\n(.*?)```", re.S)
COMMAND_SECONDS = 120


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Home:
    """A person's home with `redshank` on their path."""
    made = Home(tmp_path_factory.mktemp("document") / "home")
    binaries = made.folder / "bin"
    binaries.mkdir()
    program = f'#!/bin/sh\nexec {shlex.join(made.command())} "$@"\n'
    (binaries / "redshank").write_text(program)
    (binaries / "redshank").chmod(0o755)
    made.environ["PATH"] = f"{binaries}:{made.environ['PATH']}"
    return made


@pytest.fixture(scope="module")
def running(home: Home) -> Iterator[Up]:
    """A `redshank up` of that home."""
    with home.up() as up:
        yield up.ready()


def steps(document: str) -> list[tuple[str, list[str]]]:
    """The commands of a document in order, each with the lines that it must print."""
    found: list[tuple[str, list[str]]] = []
    for skipped, block in BLOCK.findall((ROOT / document).read_text()):
        for line in [] if skipped else block.splitlines():
            if line.startswith("$ "):
                found.append((line.removeprefix("$ "), []))
            else:
                found[-1][1].append(line)
    return found


def prints(lines: list[str], text: str) -> bool:
    """Whether a text holds these lines in this order."""
    pattern = ".*".join(".*".join(map(re.escape, line.split("…"))) for line in lines)
    return re.search(pattern, text, re.S) is not None


def shell(home: Home, command: str) -> subprocess.CompletedProcess[str]:
    """A command as a person types it in their workspace."""
    return subprocess.run(
        ["bash", "-c", command],
        cwd=ROOT if command.startswith("make ") else home.workspace,
        env=home.environ,
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        timeout=COMMAND_SECONDS,
    )


def does(home: Home, command: str, lines: list[str], up: Up | None = None) -> None:
    """Run a command; it must succeed, print these lines."""
    done = shell(home, command)
    said = f"{command}\n{done.stdout}\n{done.stderr}\n{up.text if up else ''}"
    assert done.returncode == 0, said
    assert prints(lines, done.stdout + done.stderr), said


def follow(home: Home, document: str) -> int:
    """Do what a document says, each command with what it must print; how many they were."""
    written = steps(document)
    for command, lines in written:
        does(home, command, lines)
    return len(written)
