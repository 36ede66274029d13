"""Tells whether a file is still the one that a workstream saw (F33)."""

import hashlib
import os

import msgspec

from redshank_node.tools.tool import Result
from redshank_shared.domain.seen_files import SeenFile

# What is larger is told by size and time: reading a part of it must not cost reading all of it.
_HASHED_BYTES = 1 << 20
_BY_TIME = "stat:"


def seen_file(path: str, descriptor: int) -> SeenFile:
    """The open file as it is now. `path` is its key, all links resolved.

    Leaves the descriptor's offset alone. Call it before the file is read: a change between the two
    then counts as one.
    """
    info = os.fstat(descriptor)
    if info.st_size > _HASHED_BYTES:
        return SeenFile(path, _by_time(info))
    pieces = []
    at = 0
    while piece := os.pread(descriptor, _HASHED_BYTES, at):
        pieces.append(piece)
        at += len(piece)
        if at > _HASHED_BYTES:
            return SeenFile(path, _by_time(info))
    return SeenFile(path, digest_of(b"".join(pieces)))


def with_seen(result: Result, *files: SeenFile) -> Result:
    """The result with the files that it shows; one that failed shows nothing."""
    return result if result.is_error else msgspec.structs.replace(result, seen=files)


def digest_of(data: bytes) -> str:
    """The SHA-256 of the bytes, in hexadecimal."""
    return hashlib.sha256(data).hexdigest()


def still_is(digest: str, data_sha256: str, info: os.stat_result | None) -> bool:
    """Whether a file with this content and status is the one that `digest` was made of."""
    by_time = digest.startswith(_BY_TIME) and info is not None
    return digest == (_by_time(info) if by_time and info else data_sha256)


def _by_time(info: os.stat_result) -> str:
    return f"{_BY_TIME}{info.st_size}:{info.st_mtime_ns}"
