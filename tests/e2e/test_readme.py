"""The commands of the README and of docs/ run as they stand there (F48).

A block marked `console` holds commands behind `$ `; the lines between are what each must print, in
this order, `…` standing for anything. A comment `<!-- skip: why -->` above a block leaves it out.
"""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.document_world import does, prints, steps
from tests.e2e.redshank_up import ROOT, Home, Up

pytestmark = pytest.mark.timeout(900)

INSTALL_SECONDS = 600
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
            does(home, command, lines, up)
            ran.append(command)
    assert len(ran) >= 15


def test_every_skipped_block_says_why() -> None:
    for path in (ROOT / "README.md", *(ROOT / "docs").glob("*.md")):
        for reason in re.findall(r"<!-- skip:(.*?)-->", path.read_text()):
            assert len(reason.split()) >= 3, f"{path.name}: {reason}"


def test_lines_are_looked_for_in_order_with_gaps() -> None:
    assert prints(["a…c", "d"], "x abc\ny\nd")
    assert not prints(["d", "a"], "a\nd\n")
