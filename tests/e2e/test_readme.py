"""The commands of the README and of docs/ run as they stand there (F48).

A block marked `console` holds commands behind `$ `; the lines between are what each must print, in
this order, `…` standing for anything. A comment `<!-- skip: why -->` above a block leaves it out.
"""

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.redshank_up import ROOT, Home, Up

pytestmark = pytest.mark.timeout(300)

BLOCK = re.compile(r"(<!-- skip: [^>]+ -->\n)?```console\n(.*?)```", re.S)
STARTS = "make up"
RUN_DOCUMENTS = (
    "README.md",
    "docs/install.md",
    "docs/command-line.md",
    "docs/schedules.md",
    "docs/ledger.md",
    "docs/access.md",
    "docs/permissions.md",
    "docs/limits.md",
    "docs/approvals.md",
    "docs/secrets.md",
)
INSTALL_SECONDS = 240


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


@pytest.fixture
def home(tmp_path: Path) -> Home:
    made = Home(tmp_path / "home")
    (made.workspace / "README.md").write_text((ROOT / "README.md").read_text())
    (made.workspace / ".venv").symlink_to(ROOT / ".venv")
    made.environ["PATH"] = f"{ROOT / '.venv' / 'bin'}:{made.environ['PATH']}"
    return made


@pytest.fixture
def up(home: Home) -> Iterator[Up]:
    """`make up`, as the README begins."""
    if not (ROOT / ".venv" / "installed").exists():
        pytest.skip("`make install` did not make this virtual environment")
    with Up(["make", "up"], home, ROOT) as up:
        up.wait_for("Ctrl-C stops all.", INSTALL_SECONDS)
        yield up


@pytest.mark.fault("F-48")
@pytest.mark.req("B-31")
def test_the_commands_of_the_documents_do_what_the_documents_say(home: Home, up: Up) -> None:
    ran = []
    for document in RUN_DOCUMENTS:
        for command, lines in steps(document):
            if command == STARTS:
                assert prints(lines, up.text), up.text
                continue
            folder = ROOT if command.startswith("make ") else home.workspace
            done = subprocess.run(
                ["bash", "-c", command],
                cwd=folder,
                env=home.environ,
                capture_output=True,
                text=True,
                stdin=subprocess.DEVNULL,
                timeout=60,
            )
            said = f"{command}\n{done.stdout}\n{done.stderr}\n{up.text}"
            assert done.returncode == 0, said
            assert prints(lines, done.stdout + done.stderr), said
            ran.append(command)
    assert len(ran) >= 15


def test_every_skipped_block_says_why() -> None:
    for path in (ROOT / "README.md", *(ROOT / "docs").glob("*.md")):
        for reason in re.findall(r"<!-- skip:(.*?)-->", path.read_text()):
            assert len(reason.split()) >= 3, f"{path.name}: {reason}"


def test_lines_are_looked_for_in_order_with_gaps() -> None:
    assert prints(["a…c", "d"], "x abc\ny\nd")
    assert not prints(["d", "a"], "a\nd\n")
