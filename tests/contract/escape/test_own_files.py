"""Redshank's own files may lie in a workspace: no tool reads, lists, finds or writes them there."""

import pathlib
from collections.abc import Iterator

import pytest

from redshank_node.tools.support.files import own_files
from redshank_node.tools.tool import Result
from tests.contract.tools.file_calls import called

SECRET = "s3cr3t-admin-token"


async def call(root: pathlib.Path, tool: str, **arguments: object) -> Result:
    return await called(root, tool, arguments)


pytestmark = [pytest.mark.fault("F73"), pytest.mark.req("K-10")]


@pytest.fixture
def workspace(tmp_path: pathlib.Path) -> Iterator[pathlib.Path]:
    """A workspace with Redshank's data folder in it, a settings file, and links to both."""
    root = tmp_path / "work"
    data = root / ".data"
    data.mkdir(parents=True)
    (data / "admin.token").write_text(f"{SECRET}\n")
    (root / "redshank.toml").write_text(f'key = "{SECRET}"\n')
    (root / "notes.txt").write_text("nothing to hide\n")
    (root / "way").symlink_to(".data")
    (root / "token").symlink_to(".data/admin.token")
    own_files.keep([data, root / "redshank.toml"])
    yield root
    own_files.forget()


@pytest.mark.parametrize(
    "path",
    [".data/admin.token", "way/admin.token", "token", "redshank.toml", "x/../.data/admin.token"],
)
async def test_they_are_not_read(workspace: pathlib.Path, path: str) -> None:
    (workspace / "x").mkdir()
    result = await call(workspace, "read_file", path=path)
    assert result.is_error
    assert SECRET not in result.output
    assert "Redshank's own" in result.output


@pytest.mark.parametrize("path", [".data/admin.token", "way/new.txt", "token", "redshank.toml"])
async def test_they_are_not_written(workspace: pathlib.Path, path: str) -> None:
    result = await call(workspace, "write_file", path=path, content="mine\n")
    assert result.is_error
    assert (workspace / ".data/admin.token").read_text() == f"{SECRET}\n"
    assert (workspace / "redshank.toml").read_text() == f'key = "{SECRET}"\n'
    assert not (workspace / ".data/new.txt").exists()


@pytest.mark.parametrize(
    "more", [{}, {"glob": "*.token"}, {"glob": ".data/**"}, {"path": ".data"}, {"path": "way"}]
)
async def test_they_are_not_searched(workspace: pathlib.Path, more: dict[str, str]) -> None:
    result = await call(workspace, "grep_search", pattern="s3cr3t", hidden=True, **more)
    assert SECRET not in result.output


async def test_they_are_neither_found_nor_listed(workspace: pathlib.Path) -> None:
    found = await call(workspace, "glob_search", pattern="**/*", hidden=True)
    listed = await call(workspace, "list_files", path=".", hidden=True, depth=3)
    for result in (found, listed):
        assert "notes.txt" in result.output
        assert not [line for line in result.output.splitlines() if line.startswith(".data")]
        assert "redshank.toml" not in result.output
    inside = await call(workspace, "list_files", path=".data", hidden=True)
    assert inside.is_error
    assert "admin.token" not in inside.output


async def test_what_lies_beside_them_is_as_ever(workspace: pathlib.Path) -> None:
    result = await call(workspace, "read_file", path="notes.txt")
    assert "nothing to hide" in result.output
