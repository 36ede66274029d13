"""Redshank's own files, which no tool may touch wherever they lie: keys, tokens, the database."""

import os
import pathlib
from collections.abc import Iterable

# For the whole process: whatever is named here is named once, when a node starts.
_own: set[pathlib.Path] = set()


def keep(files: Iterable[pathlib.Path]) -> None:
    """From now on these files, these folders with all below them, are no tool's. Resolved paths."""
    _own.update(files)


def forget() -> None:
    """Nothing is kept any more."""
    _own.clear()


def is_own(root: pathlib.Path, relative: str) -> bool:
    """Whether this path from the root (links resolved) is one of them, or lies in one."""
    if not _own:
        return False
    path = pathlib.Path(os.path.realpath(root), relative)
    return path in _own or any(above in _own for above in path.parents)


def below(root: pathlib.Path, relative: str) -> tuple[str, ...]:
    """Those that lie in this folder (its path from the root), by their paths from it."""
    folder = pathlib.Path(os.path.realpath(root), relative)
    return tuple(
        str(path.relative_to(folder)) for path in sorted(_own) if path.is_relative_to(folder)
    )
