"""Reads a workspace's file as bytes, up to a bound."""

import os

import msgspec

from redshank_node.tools.support.files import paths
from redshank_node.tools.support.files.writing import read_bytes
from redshank_shared.domain.roots import Ground


class FileBytes(msgspec.Struct, frozen=True):
    """A file's bytes, up to the bound; `size` counts all that it has."""

    body: bytes
    size: int


def bytes_of(ground: Ground, path: str, most_bytes: int) -> FileBytes:
    """The file at this path of a workspace. Raises PathRefused; blocks while it reads."""
    descriptor = paths.open_file(ground, path)
    try:
        body = read_bytes(descriptor, most_bytes)
        return FileBytes(body, max(os.fstat(descriptor).st_size, len(body)))
    finally:
        os.close(descriptor)


def about(argument: str, refused: paths.PathRefused) -> str:
    """What a refusal says, under the name of the argument that held the path."""
    return f"{argument}:{str(refused).removeprefix('path:')}"
