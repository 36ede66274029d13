"""Writes files beneath a workspace's root, whole or not at all."""

import contextlib
import fcntl
import os
from collections.abc import Callable, Iterator

from redshank_node.tools.support.files.file_digests import digest_of
from redshank_node.tools.support.files.new_folders import only_if_written
from redshank_node.tools.support.files.paths import FOLDER, PathRefused, Place, located
from redshank_shared.domain.roots import Ground

# What is expected where there must be no file.
NONE = "none"

_TEMPORARY = ".redshank-{}-{}.tmp"


def read_bytes(descriptor: int, max_bytes: int) -> bytes:
    """The first bytes of an open file, at most so many; closes nothing."""
    size = os.fstat(descriptor).st_size
    data = os.read(descriptor, min(max_bytes, size + 1))
    if len(data) == max_bytes or len(data) == size:
        return data
    pieces = [data]
    max_bytes -= len(data)
    while max_bytes > 0 and (piece := os.read(descriptor, min(max_bytes, 1 << 20))):
        pieces.append(piece)
        max_bytes -= len(piece)
    return b"".join(pieces)


def replace_file(
    ground: Ground, path: str, data: bytes, expected_sha256: str | None = None
) -> bool:
    """Put these bytes at the path, atomically; True where the file is new.

    Folders on the way are made.

    A link stays, its target is replaced; mode and owner are kept. Raises PathRefused for what
    `located` refuses, for hard links and dangling links (F17, F73), for a file that another writer
    holds, and where the file is not the one with `expected_sha256`, NONE for
    none (F33).
    """
    with only_if_written(ground, path), located(ground, path, make_folders=True) as place:
        if place.info is None:
            check_new(place, expected_sha256)
            commit_staged(place, stage(place, data, None))
            return True
        with held(place, os.O_RDWR) as descriptor:
            _check_expected(place, descriptor, expected_sha256)
            commit_staged(place, stage(place, data, os.fstat(descriptor)))
    return False


def rewrite_file(
    ground: Ground, path: str, max_bytes: int, rewritten: Callable[[str, bytes], bytes]
) -> None:
    """Put in place of a file, atomically, what `rewritten` makes of its bytes, of which it gets at
    most one more than `max_bytes`, with its key, all links resolved.

    No other call of ours writes the file meanwhile. Keeps and refuses what `replace_file` does,
    also where there is no file.
    """
    with located(ground, path) as place, held(place, os.O_RDWR) as descriptor:
        data = rewritten(place.key, read_bytes(descriptor, max_bytes + 1))
        commit_staged(place, stage(place, data, os.fstat(descriptor)))


def append_file(
    ground: Ground,
    path: str,
    addition: Callable[[bytes], bytes],
    expected_sha256: str | None = None,
    head_bytes: int = 65536,
) -> bool:
    """Put bytes at the end of the file; True where the file is new.

    Refuses what `replace_file` refuses. Where not all of them can be written, none are.

    `addition` gets the first `head_bytes` that the file has now and answers with the bytes to add.
    """
    with only_if_written(ground, path), located(ground, path, make_folders=True) as place:
        if place.info is None:
            check_new(place, expected_sha256)
            commit_staged(place, stage(place, addition(b""), None))
            return True
        with held(place, os.O_RDWR | os.O_APPEND) as descriptor:
            size = os.fstat(descriptor).st_size
            _check_expected(place, descriptor, expected_sha256)
            data = addition(os.pread(descriptor, head_bytes, 0))
            try:
                _write_all(descriptor, data)
                os.fsync(descriptor)
            except OSError:
                os.ftruncate(descriptor, size)
                raise
    return False


def _check_expected(place: Place, descriptor: int, expected_sha256: str | None) -> None:
    if expected_sha256 is None:
        return
    size = os.fstat(descriptor).st_size
    if digest_of(read_bytes(descriptor, size + 1)) != expected_sha256:
        raise changed(place)


@contextlib.contextmanager
def held(place: Place, flags: int) -> Iterator[int]:
    """The file, locked against other writers of ours and still the one at the place (K10)."""
    descriptor = place.open(flags)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise PathRefused(
                "busy", f"{place.asked!r} is being written by another call; try again"
            ) from None
        held = os.fstat(descriptor)
        if held.st_nlink > 1:
            raise PathRefused(
                "hard_link",
                f"{place.asked!r} has {held.st_nlink} hard links, maybe outside the workspace; "
                f"write to a copy of it",
            )
        there = os.stat(place.name, dir_fd=place.parent, follow_symlinks=False)
        if (there.st_dev, there.st_ino) != (held.st_dev, held.st_ino):
            raise changed(place)
        yield descriptor
    finally:
        os.close(descriptor)


def check_new(place: Place, expected_sha256: str | None) -> None:
    """Raises PathRefused where no file may be made, or where one was expected."""
    if expected_sha256 not in (None, NONE):
        raise changed(place)
    if place.dangling:
        raise PathRefused(
            "dangling", f"{place.asked!r} goes through a link to nothing; name the file itself"
        )


def changed(place: Place) -> PathRefused:
    """The refusal for a file that is not the one that a call was prepared for."""
    return PathRefused(
        "changed",
        f"{place.asked!r} changed since it was looked at; read it again, then repeat the call",
    )


def stage(place: Place, data: bytes, like: os.stat_result | None) -> str:
    """Write the bytes beside the place, with the mode and owner of `like`; their name there. Leaves
    nothing where it fails.
    """
    name, descriptor = _temporary(place.parent, 0o666 if like is None else 0o600)
    try:
        try:
            if like is not None:
                # Only root may give a file away; for anyone else the owner is already right.
                with contextlib.suppress(PermissionError):
                    os.fchown(descriptor, like.st_uid, like.st_gid)
                os.fchmod(descriptor, like.st_mode & 0o7777)
            _write_all(descriptor, data)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
    except BaseException:
        os.unlink(name, dir_fd=place.parent)
        raise
    return name


def commit_staged(place: Place, name: str) -> None:
    """Put what was staged in its place, for good; where that fails nothing is left of it."""
    try:
        os.rename(name, place.name, src_dir_fd=place.parent, dst_dir_fd=place.parent)
    except BaseException:
        os.unlink(name, dir_fd=place.parent)
        raise
    sync_folder(place)


def sync_folder(place: Place) -> None:
    """Make the names in the place's folder last."""
    folder = os.open(".", FOLDER, dir_fd=place.parent)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def _temporary(folder: int, mode: int) -> tuple[str, int]:
    number = 0
    while True:
        name = _TEMPORARY.format(os.getpid(), number)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        try:
            return name, os.open(name, flags, mode, dir_fd=folder)
        except FileExistsError:
            number += 1


def _write_all(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]
