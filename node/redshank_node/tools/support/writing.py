"""Writes files beneath a workspace's root, whole or not at all."""

import contextlib
import fcntl
import hashlib
import os
import pathlib
from collections.abc import Callable, Iterator

from redshank_node.tools.support.paths import FOLDER, PathRefused, Place, located

_TEMPORARY = ".redshank-{}-{}.tmp"


def digest_of(data: bytes) -> str:
    """The SHA-256 of the bytes, in hexadecimal."""
    return hashlib.sha256(data).hexdigest()


def read_bytes(descriptor: int, max_bytes: int) -> bytes:
    """The first bytes of an open file, at most so many; closes nothing."""
    pieces = []
    while max_bytes > 0 and (piece := os.read(descriptor, min(max_bytes, 1 << 20))):
        pieces.append(piece)
        max_bytes -= len(piece)
    return b"".join(pieces)


def replace_file(
    root: pathlib.Path, path: str, data: bytes, expected_sha256: str | None = None
) -> bool:
    """Put these bytes at the path, atomically; True where the file is new.

    Folders on the way are made.

    A link stays, its target is replaced; mode and owner are kept. Raises PathRefused for what
    `located` refuses, for hard links and dangling links (F17, F73), for a file that another writer
    holds, and where the file is not the one with `expected_sha256` (F33).
    """
    with located(root, path, make_folders=True) as place:
        if place.info is None:
            _check_new(place, expected_sha256)
            _write_beside(place, data, None)
            return True
        with _held(place, os.O_RDWR) as descriptor:
            if expected_sha256 is not None:
                size = os.fstat(descriptor).st_size
                if digest_of(read_bytes(descriptor, size + 1)) != expected_sha256:
                    raise _changed(place)
            _write_beside(place, data, os.fstat(descriptor))
    return False


def append_file(
    root: pathlib.Path, path: str, addition: Callable[[bytes], bytes], head_bytes: int = 65536
) -> bool:
    """Put bytes at the end of the file; True where the file is new.

    Refuses what `replace_file` refuses.

    `addition` gets the first `head_bytes` that the file has now and answers with the bytes to add.
    """
    with located(root, path, make_folders=True) as place:
        if place.info is None:
            _check_new(place, None)
            _write_beside(place, addition(b""), None)
            return True
        with _held(place, os.O_RDWR | os.O_APPEND) as descriptor:
            _write_all(descriptor, addition(read_bytes(descriptor, head_bytes)))
            os.fsync(descriptor)
    return False


@contextlib.contextmanager
def _held(place: Place, flags: int) -> Iterator[int]:
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
            raise _changed(place)
        yield descriptor
    finally:
        os.close(descriptor)


def _check_new(place: Place, expected_sha256: str | None) -> None:
    if expected_sha256 is not None:
        raise _changed(place)
    if place.dangling:
        raise PathRefused(
            "dangling", f"{place.asked!r} goes through a link to nothing; name the file itself"
        )


def _changed(place: Place) -> PathRefused:
    return PathRefused(
        "changed",
        f"{place.asked!r} changed since it was looked at; read it again, then repeat the call",
    )


def _write_beside(place: Place, data: bytes, like: os.stat_result | None) -> None:
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
        os.rename(name, place.name, src_dir_fd=place.parent, dst_dir_fd=place.parent)
    except BaseException:
        os.unlink(name, dir_fd=place.parent)
        raise
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
