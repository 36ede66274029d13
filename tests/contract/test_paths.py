"""Paths: whatever a call names, nothing outside the workspace is read or written."""

import contextlib
import ctypes
import itertools
import os
import pathlib
import socket
import stat
import threading
import time
from collections.abc import Callable, Iterator

import pytest

from redshank_node.tools.support.files.file_digests import digest_of
from redshank_node.tools.support.files.paths import (
    PathRefused,
    check_beneath,
    open_file,
    open_folder,
)
from redshank_node.tools.support.files.writing import append_file, replace_file

SECRET = b"outside"
DEADLINE_SECONDS = 40.0
AT_FDCWD = -100
RENAME_EXCHANGE = 2


@pytest.fixture
def root(tmp_path: pathlib.Path) -> pathlib.Path:
    """A workspace beside a folder with a secret, with links of all sorts."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.txt").write_bytes(SECRET)
    root = tmp_path / "workspace"
    (root / "src" / "deep").mkdir(parents=True)
    (root / "src" / "main.py").write_text("inside")
    links = {
        "out": "../outside",
        "out_absolute": str(outside),
        "secret": "../outside/secret.txt",
        "proc": "/proc/self/root",
        "chain": "src/up",
        "src/up": "../out",
        "loop": "loop",
        "gone": "nothing.txt",
        "gone_outside": "../outside/new.txt",
        "sources": "src",
        "main": "src/deep/../main.py",
        "main_absolute": str(root / "src" / "main.py"),
    }
    for name, target in links.items():
        (root / name).symlink_to(target)
    os.link(outside / "secret.txt", root / "hard.txt")
    os.mkfifo(root / "pipe")
    return root


ESCAPES = [
    "..",
    "../outside/secret.txt",
    "src/../../outside/secret.txt",
    "/etc/passwd",
    "/proc/self/root/etc/passwd",
    "out/secret.txt",
    "out_absolute/secret.txt",
    "secret",
    "proc/etc/passwd",
    "chain/secret.txt",
    "src/up/secret.txt",
    "gone_outside",
]


@pytest.mark.req("K-10")
@pytest.mark.fault("F17")
@pytest.mark.fault("F73")
@pytest.mark.parametrize("path", ESCAPES)
def test_a_path_that_leads_out_is_refused_for_looking_reading_and_writing(
    root: pathlib.Path, path: str
) -> None:
    attempts = (
        lambda: check_beneath(root, path),
        lambda: open_file(root, path),
        lambda: open_folder(root, path),
        lambda: replace_file(root, path, b"x"),
        lambda: append_file(root, path, lambda _: b"x"),
    )
    for attempt in attempts:
        with pytest.raises(PathRefused) as refused:
            attempt()
        assert refused.value.kind == "escape"
        assert str(refused.value).startswith("path: ")
    assert os.listdir(root.parent / "outside") == ["secret.txt"]
    assert (root.parent / "outside" / "secret.txt").read_bytes() == SECRET


@pytest.mark.parametrize(
    "path",
    [
        "src/main.py",
        "./src//main.py",
        "src/deep/../main.py",
        "sources/main.py",
        "main",
        "main_absolute",
    ],
)
def test_paths_and_links_that_stay_inside_are_followed(root: pathlib.Path, path: str) -> None:
    with open(open_file(root, path), "rb") as file:
        assert file.read() == b"inside"
    with open(open_file(root, str(root / path)), "rb") as file:
        assert file.read() == b"inside"


def test_an_absolute_path_is_understood_when_the_root_itself_is_a_link(
    root: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    alias = tmp_path / "alias"
    alias.symlink_to(root)
    for path in (str(root / "src/main.py"), str(alias / "src/main.py")):
        with open(open_file(alias, path), "rb") as file:
            assert file.read() == b"inside"


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("nothing.txt", "missing"),
        ("nothing/at/all.txt", "missing"),
        ("gone", "missing"),
        ("src", "folder"),
        ("src/main.py/x", "not_folder"),
        ("loop", "loop"),
        ("a\x00b", "malformed"),
        ("a\ud800b", "malformed"),
        ("x" * 300, "system"),
        pytest.param("a/" * 2100 + "x", "malformed", id="longer than the system takes"),
    ],
)
def test_a_path_that_cannot_be_read_says_why(root: pathlib.Path, path: str, kind: str) -> None:
    with pytest.raises(PathRefused) as refused:
        open_file(root, path)
    assert refused.value.kind == kind


@pytest.mark.fault("F21")
@pytest.mark.timeout(60)
def test_pipes_sockets_and_devices_are_refused_at_once(root: pathlib.Path) -> None:
    listener = socket.socket(socket.AF_UNIX)
    with contextlib.closing(listener), contextlib.chdir(root):
        listener.bind("socket")
        for name in ("pipe", "socket"):
            with pytest.raises(PathRefused) as refused:
                open_file(root, name)
            assert refused.value.kind == "not_regular"
            with pytest.raises(PathRefused) as refused:
                replace_file(root, name, b"x")
            assert refused.value.kind == "not_regular"
    with pytest.raises(PathRefused, match="a device"):
        open_file(pathlib.Path("/dev"), "zero")


@pytest.mark.fault("F73")
def test_a_hard_link_can_be_read_and_not_written(root: pathlib.Path) -> None:
    os.close(open_file(root, "hard.txt"))
    with pytest.raises(PathRefused) as refused:
        replace_file(root, "hard.txt", b"x")
    assert refused.value.kind == "hard_link"
    with pytest.raises(PathRefused) as refused:
        append_file(root, "hard.txt", lambda _: b"x")
    assert refused.value.kind == "hard_link"
    assert (root / "hard.txt").read_bytes() == SECRET


@pytest.mark.fault("F17")
@pytest.mark.parametrize("path", ["gone", "gone/x.txt"])
def test_nothing_is_made_through_a_dangling_link(root: pathlib.Path, path: str) -> None:
    with pytest.raises(PathRefused) as refused:
        replace_file(root, path, b"x")
    assert refused.value.kind in ("dangling", "missing")
    assert not (root / "nothing.txt").exists()


@pytest.mark.req("K-10")
def test_a_way_up_from_a_folder_that_does_not_exist_is_refused_and_makes_nothing(
    root: pathlib.Path,
) -> None:
    for attempt in (
        lambda: check_beneath(root, "new/../../outside/new.txt"),
        lambda: replace_file(root, "new/../../outside/new.txt", b"x"),
    ):
        with pytest.raises(PathRefused, match="goes up from what does not exist"):
            attempt()
    assert not (root / "new").exists()


@pytest.mark.req("T-24")
def test_folders_on_the_way_are_made_also_behind_a_link_to_a_folder(root: pathlib.Path) -> None:
    assert replace_file(root, "sources/a/b/new.txt", b"new")
    assert (root / "src/a/b/new.txt").read_bytes() == b"new"


def test_a_replaced_file_keeps_its_mode_and_its_link_and_leaves_nothing_beside(
    root: pathlib.Path,
) -> None:
    target = root / "src" / "main.py"
    target.chmod(0o754)
    before = sorted(os.listdir(root / "src"))
    assert not replace_file(root, "main", b"new")
    assert (root / "main").is_symlink()
    assert target.read_bytes() == b"new"
    assert stat.S_IMODE(target.stat().st_mode) == 0o754
    assert sorted(os.listdir(root / "src")) == before


@pytest.mark.fault("F33")
def test_a_file_that_is_not_the_expected_one_is_left_alone(root: pathlib.Path) -> None:
    for path in ("src/main.py", "src/other.py"):
        with pytest.raises(PathRefused) as refused:
            replace_file(root, path, b"x", digest_of(b"something else"))
        assert refused.value.kind == "changed"
    assert (root / "src/main.py").read_bytes() == b"inside"
    assert not replace_file(root, "src/main.py", b"new", digest_of(b"inside"))


def test_a_workspace_that_is_not_there_is_the_operators_to_mend(tmp_path: pathlib.Path) -> None:
    with pytest.raises(PathRefused, match="the operator must mend it"):
        check_beneath(tmp_path / "none", "a.txt")


def test_a_walk_leaves_no_descriptor_open(root: pathlib.Path) -> None:
    before = len(os.listdir("/proc/self/fd"))
    for path in [*ESCAPES, "src/main.py", "nothing", "loop", "sources/deep"]:
        with contextlib.suppress(PathRefused):
            check_beneath(root, path)
        with contextlib.suppress(PathRefused):
            os.close(open_file(root, path))
        with contextlib.suppress(PathRefused):
            replace_file(root, path, b"inside")
    assert len(os.listdir("/proc/self/fd")) == before


@contextlib.contextmanager
def _swapping(root: pathlib.Path, name: str, target: str) -> Iterator[None]:
    """Somebody who puts now the real thing, now a link that leads out, at the same name."""
    stop = threading.Event()
    exchange = ctypes.CDLL(None, use_errno=True).renameat2
    (root / "evil").symlink_to(target)
    one, other = os.fsencode(root / name), os.fsencode(root / "evil")

    def swap() -> None:
        while not stop.is_set():
            assert exchange(AT_FDCWD, one, AT_FDCWD, other, RENAME_EXCHANGE) == 0

    worker = threading.Thread(target=swap)
    worker.start()
    try:
        yield
    finally:
        stop.set()
        worker.join()


def attempts(enough: Callable[[], bool]) -> Iterator[int]:
    """1500, then more until it is enough: both threads may go in step for a while."""
    end = time.monotonic() + DEADLINE_SECONDS
    for attempt in itertools.count():
        if attempt >= 1500:
            if enough() or time.monotonic() > end:
                return
            time.sleep(0.0001 * (attempt % 7))
        yield attempt


@pytest.mark.fault("F17")
@pytest.mark.fault("F73")
@pytest.mark.parametrize(
    ("name", "target", "path"),
    [
        ("folder", "../outside", "folder/secret.txt"),
        ("file.txt", "../outside/secret.txt", "file.txt"),
    ],
)
def test_a_link_swapped_in_between_check_and_use_never_leads_out(
    root: pathlib.Path, name: str, target: str, path: str
) -> None:
    (root / "folder").mkdir()
    (root / "folder" / "secret.txt").write_bytes(b"inside")
    (root / "file.txt").write_bytes(b"inside")
    outcomes = set()
    with _swapping(root, name, target):
        for attempt in attempts(lambda: "done" in outcomes):
            try:
                with open(open_file(root, path), "rb") as file:
                    assert file.read() == b"inside"
                if attempt % 10 == 0:
                    replace_file(root, path, b"inside")
                outcomes.add("done")
            except PathRefused as refused:
                outcomes.add(refused.kind)
    assert "done" in outcomes
    assert (root.parent / "outside" / "secret.txt").read_bytes() == SECRET
    assert os.listdir(root.parent / "outside") == ["secret.txt"]
